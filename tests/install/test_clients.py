"""Each client's files before and after, in the places and shapes that its documentation says."""

from datetime import date
from pathlib import Path

import pytest

from asterism.install.clients import CLIENTS, NAMES, ClientPlaces
from asterism.install.plan import plan_install, plan_uninstall
from asterism.install.targets import InstallScope
from asterism.install.write import Reader, write
from tests.install.conftest import put, setup, setups, tree

TODAY = date(2026, 5, 1)

PLAIN = """\
{
  "mcpServers": {
    "asterism": {
      "command": "/opt/bin/asterism",
      "args": ["mcp"]
    }
  }
}
"""
TYPED = PLAIN.replace('"command"', '"type": "stdio",\n      "command"')
TABLE = '[mcp_servers.asterism]\ncommand = "/opt/bin/asterism"\nargs = ["mcp"]\n'
OPENCODE = """\
{
  "mcp": {
    "asterism": {
      "type": "local",
      "command": ["/opt/bin/asterism", "mcp"]
    }
  }
}
"""
BLOCK = """\
# asterism install 5c1d79e0bba8
name: Asterism
version: 0.0.1
schema: v1
mcpServers:
  - name: asterism
    command: "/opt/bin/asterism"
    args:
      - "mcp"
"""
STORAGE = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings"

# Where each client's entry is, and what the file is when there was none.
USER = {
    "claude-code": (".claude.json", TYPED),
    "cursor": (".cursor/mcp.json", PLAIN),
    "vscode": (".config/Code/User/mcp.json", TYPED.replace("mcpServers", "servers")),
    "codex": (".codex/config.toml", TABLE),
    "gemini": (".gemini/settings.json", PLAIN),
    "opencode": (".config/opencode/opencode.json", OPENCODE),
    "zed": (".config/zed/settings.json", PLAIN.replace("mcpServers", "context_servers")),
    "windsurf": (".codeium/windsurf/mcp_config.json", PLAIN),
    "cline": (".cline/data/settings/cline_mcp_settings.json", PLAIN),
    "cline-vscode": (f"{STORAGE}/cline_mcp_settings.json", PLAIN),
    "continue": (".continue/mcpServers/asterism.yaml", BLOCK),
    "amp": (".config/amp/settings.json", PLAIN.replace("mcpServers", "amp.mcpServers")),
}
PROJECT = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
    "zed": ".zed/settings.json",
    "continue": ".continue/mcpServers/asterism.yaml",
    "amp": ".amp/settings.json",
}
# What else comes with a client: the model's lines, and a skill.
COMPANY = {
    "claude-code": {".claude/CLAUDE.md", ".claude/skills/asterism/SKILL.md"},
    "cursor": {".agents/skills/asterism/SKILL.md"},
    "vscode": {".agents/skills/asterism/SKILL.md"},
    "codex": {".codex/AGENTS.md", ".agents/skills/asterism/SKILL.md"},
    "gemini": {".gemini/GEMINI.md", ".agents/skills/asterism/SKILL.md"},
    "opencode": {".config/opencode/AGENTS.md", ".agents/skills/asterism/SKILL.md"},
    "windsurf": {".agents/skills/asterism/SKILL.md"},
    "amp": {".config/amp/AGENTS.md"},
}
PROJECT_COMPANY = {
    "claude-code": {"CLAUDE.md", ".claude/skills/asterism/SKILL.md"},
    "gemini": {"GEMINI.md", ".agents/skills/asterism/SKILL.md"},
    "zed": {"AGENTS.md"},
    "continue": set(),
}
USUAL = {"AGENTS.md", ".agents/skills/asterism/SKILL.md"}


def test_every_client_is_here() -> None:
    assert tuple(USER) == NAMES
    assert set(PROJECT) == {client.name for client in CLIENTS if client.project is not None}


@pytest.mark.parametrize("name", NAMES)
def test_from_nothing_and_back(places: ClientPlaces, name: str) -> None:
    path, content = USER[name]
    places.at(next(c.signs[0] for c in CLIENTS if c.name == name)).mkdir(
        parents=True, exist_ok=True
    )
    kept = set(places.home.rglob("*"))
    one = setup(name, places)
    write(plan_install([one], Reader()).changes, TODAY)
    found = tree(places.home)
    assert found[path].decode() == content
    assert set(found) == {path, *COMPANY.get(name, set())}
    assert plan_install([one], Reader()).changes == ()
    write(plan_uninstall([one], [], Reader()).changes, TODAY)
    assert tree(places.home) == {}
    # Directories that clients look for stay; those of our skill do not.
    assert kept <= set(places.home.rglob("*"))
    assert not (places.home / ".agents").exists()
    assert not (places.claude / "skills").exists()


@pytest.mark.parametrize("name", list(PROJECT))
def test_in_a_project_and_back(places: ClientPlaces, name: str) -> None:
    one = setup(name, places, InstallScope.project)
    write(plan_install([one], Reader(places.project)).changes, TODAY)
    company = PROJECT_COMPANY.get(name, USUAL)
    assert set(tree(places.project)) == {PROJECT[name], *company}
    write(plan_uninstall([one], [], Reader(places.project)).changes, TODAY)
    assert list(places.project.iterdir()) == []


FILLED_JSON = """\
{
    // kept
    "theme" : "dark",   /* odd */
    "KEY": {
        "other": {"command": "x", "env": {"TOKEN": "secret"}}, // last
    },
}
"""


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("codex", "continue")])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_file_that_others_use(places: ClientPlaces, name: str, newline: str) -> None:
    key = next(client.path[0] for client in CLIENTS if client.name == name and client.path)
    before = FILLED_JSON.replace("KEY", key).replace("\n", newline).encode()
    file = put(places.home / USER[name][0], before)
    one = setup(name, places)
    (written, *_) = write(plan_install([one], Reader()).changes, TODAY)
    now = file.read_bytes()
    head, _, tail = now.partition(b'        "asterism": {')
    assert head + tail.split(b"        }" + newline.encode(), 1)[1] == before
    assert written.backup is not None
    assert written.backup.read_bytes() == before
    write(plan_uninstall([one], [], Reader()).changes, TODAY)
    assert tree(places.home) == {USER[name][0]: before}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "continue"])
def test_an_entry_of_another_version_is_replaced_in_place(places: ClientPlaces, name: str) -> None:
    path, content = USER[name]
    older = content.replace("/opt/bin/asterism", "/old/venv/bin/asterism")
    file = put(places.home / path, older)
    write(plan_install([setup(name, places)], Reader()).changes, TODAY)
    assert file.read_text() == content


def test_alternatives(places: ClientPlaces) -> None:
    """A client reads one of two files: the one that is there, or has our entry."""
    folder = places.home / ".config/opencode"
    jsonc = put(folder / "opencode.jsonc", "{ /* mine */ }")
    one = setup("opencode", places)
    write(plan_install([one], Reader()).changes, TODAY)
    assert b"asterism" in jsonc.read_bytes()
    plain = put(folder / "opencode.json", "{}")
    assert plan_install([one], Reader()).changes == ()
    write(plan_uninstall([one], [], Reader()).changes, TODAY)
    assert (jsonc.read_text(), plain.read_text()) == ("{ /* mine */ }", "{}")


def test_all_at_once(places: ClientPlaces) -> None:
    plan = plan_install(setups(places), Reader())
    assert plan.problems == plan.left == ()
    skill: Path = places.home / ".agents/skills/asterism/SKILL.md"
    (shared,) = (change for change in plan.changes if change.path == skill)
    assert shared.clients == ("cursor", "vscode", "codex", "gemini", "opencode", "windsurf")
    write(plan.changes, TODAY)
    write(plan_uninstall(setups(places), [], Reader()).changes, TODAY)
    assert tree(places.home) == {}
