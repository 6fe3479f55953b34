"""`asterism install` and `uninstall`: the plan, the question, and what they say."""

import json
from pathlib import Path
from typing import Any

import pytest

from asterism.install.clients import NAMES
from tests.cli.conftest import Run, spawn, terminal
from tests.install.conftest import put, tree

PROGRAM = ("--program", "/opt/asterism")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with Cursor and Codex, in a repository."""
    for variable in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    where = tmp_path / "home"
    put(where / ".cursor/mcp.json", '{\n  "mcpServers": {}\n}\n')
    (where / ".codex").mkdir()
    monkeypatch.setenv("HOME", str(where))
    return where


def said(run: Run, *arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert (done.code, done.err) == (0, "")
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_the_plan_is_shown_and_nothing_is_done(run: Run, home: Path) -> None:
    before = tree(home)
    done = run("install", "--client", "cursor", "--dry-run", *PROGRAM)
    assert (done.code, done.err) == (0, "")
    assert tree(home) == before
    assert done.out.startswith(
        f"Change {home}/.cursor/mcp.json: the MCP server (cursor)\n"
        "  @@ -1,3 +1,8 @@\n"
        "   {\n"
        '  -  "mcpServers": {}\n'
        '  +  "mcpServers": {\n'
        '  +    "asterism": {\n'
        '  +      "command": "/opt/asterism",\n'
        '  +      "args": ["mcp"]\n'
        "  +    }\n"
        "  +  }\n"
        "   }\n"
        f"Create {home}/.agents/skills/asterism/SKILL.md: a skill (cursor)\n"
    )
    assert "more lines\n" in done.out


def test_there_and_back(run: Run, home: Path) -> None:
    before = tree(home)
    done = run("install", "--yes", *PROGRAM)
    assert done.code == 0
    assert f"Changed {home}/.cursor/mcp.json (before: {home}/.cursor/mcp.json.asterism-" in done.out
    assert f"Created {home}/.codex/config.toml\n" in done.out
    again = run("install", "--yes", *PROGRAM)
    assert (again.code, again.out.splitlines()[-1]) == (0, "Nothing to do.")
    assert run("uninstall", "--yes").code == 0
    assert tree(home) == before
    assert run("uninstall", "--yes").out == "Nothing to do.\n"


def test_the_question(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(home)
    with terminal(monkeypatch, "n\n"):
        done = run("install", "--client", "codex")
    assert (done.code, done.err) == (
        1,
        "Write these 3 files? [y/N] Nothing was written.\n",
    )
    assert tree(home) == before
    with terminal(monkeypatch, "y\n"):
        done = run("install", "--client", "codex")
    assert done.code == 0
    assert (home / ".codex/config.toml").is_file()


def test_without_a_terminal(home: Path, repository: Path) -> None:
    before = tree(home)
    done = spawn(["install"], repository)
    assert done.code == 2
    assert done.err == "asterism: There is no terminal to ask at; give --yes to go ahead.\n"
    assert tree(home) == before


def test_this_program_is_what_is_started(home: Path, repository: Path) -> None:
    assert spawn(["install", "--yes", "--client", "cursor"], repository).code == 0
    entry = json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"]["asterism"]
    assert Path(entry["command"]).is_file()
    assert entry["args"] in (["mcp"], ["-m", "asterism.cli", "mcp"])


def test_a_project(run: Run, repository: Path, home: Path) -> None:
    (repository / ".git").mkdir()
    put(repository / ".git/HEAD", "ref: refs/heads/main\n")
    put(repository / "AGENTS.md", "# Notes")
    before, user = tree(repository), tree(home)
    found = said(run, "install", str(repository), "--scope", "project", "--yes", *PROGRAM)
    assert (found["scope"], found["written"]) == ("project", True)
    assert {change["action"] for change in found["changes"]} == {"create", "change"}
    assert (repository / "AGENTS.md").read_text().startswith("# Notes\n\n<!-- asterism:begin")
    assert tree(home) == user
    said(run, "uninstall", "--scope", "project", "--yes")
    assert tree(repository) == before


def test_json_of_a_change(run: Run, home: Path) -> None:
    found = said(run, "install", "--client", "cursor", "--yes", *PROGRAM)
    config, skill = found["changes"]
    assert config["path"] == f"{home}/.cursor/mcp.json"
    assert (config["action"], config["clients"]) == ("change", ["cursor"])
    assert Path(config["backup"]).read_text() == '{\n  "mcpServers": {}\n}\n'
    assert '+      "command": "/opt/asterism",' in config["diff"]
    assert (skill["action"], skill["what"], skill["backup"]) == ("create", "a skill", None)
    again = said(run, "install", "--client", "cursor", "--yes", *PROGRAM)
    assert (again["changes"], again["written"]) == ([], False)
    assert again["already"] == [config["path"], skill["path"]]


def test_the_list(run: Run, home: Path) -> None:
    run("install", "--client", "cursor", "--yes", *PROGRAM)
    put(home / ".gemini/settings.json", "{")
    rows = {row["name"]: row for row in said(run, "install", "--list", *PROGRAM)["clients"]}
    assert tuple(rows) == NAMES
    assert rows["cursor"]["user"] == "set up"
    assert rows["codex"]["user"] == "not set up"
    assert rows["gemini"]["user"] == "cannot be read"
    assert rows["windsurf"]["project"] == "not possible"
    assert [name for name in NAMES if rows[name]["found"]] == ["cursor", "codex", "gemini"]
    shown = run("install", "--list").out.splitlines()
    assert shown[0].split() == ["NAME", "AGENT", "FOUND", "USER", "PROJECT"]
    assert shown[2].startswith("cursor ")
    assert "set up differently" in shown[2]


def test_a_file_that_does_not_parse(run: Run, home: Path) -> None:
    put(home / ".cursor/mcp.json", "{ broken")
    done = run("install", "--yes", *PROGRAM)
    assert done.code == 1
    assert done.err == (
        f"asterism: cursor: {home}/.cursor/mcp.json was not touched, because it cannot be edited "
        "safely: line 1: 'b' is not expected there.\n"
    )
    assert (home / ".cursor/mcp.json").read_text() == "{ broken"
    assert (home / ".codex/config.toml").is_file()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["install", "--client", "emacs"], "invalid choice: 'emacs'"),
        (
            ["install", "--client", "windsurf", "--scope", "project"],
            "Windsurf has no configuration",
        ),
        (["install", "somewhere"], "PATH names a project; give --scope project with it."),
        (["install", "--scope", "project", "nowhere"], "There is no directory nowhere."),
        (["install", "--json"], "With --json there is no question"),
        (["uninstall", "--program", "x"], "unrecognized arguments"),
        (["install", "--program", "\udce9"], "not UTF-8"),
    ],
)
def test_refused(run: Run, arguments: list[str], complaint: str) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert complaint in done.err


def test_no_agent_found(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    done = run("install", "--yes")
    assert done.code == 2
    assert "No coding agent was found" in done.err
