"""The plugin and the registry's description say what the package says."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from asterism import __version__
from asterism.install.clients import CLIENTS
from asterism.install.targets import guide, plain_skill, skill

ROOT = Path(__file__).resolve().parents[2]


def read(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def test_the_plugin() -> None:
    manifest = read("plugin/.claude-plugin/plugin.json")
    assert manifest["name"] == "asterism"
    assert manifest["version"] == __version__
    assert manifest["mcpServers"] == {"asterism": {"command": "asterism", "args": ["mcp"]}}
    # Skills are found in `skills` beside the manifest's directory; the manifest need not name it.
    text = (ROOT / "plugin/skills/asterism/SKILL.md").read_text(encoding="utf-8")
    assert text == plain_skill()


def test_the_marketplace_offers_the_plugin() -> None:
    offers = read(".claude-plugin/marketplace.json")
    (plugin,) = offers["plugins"]
    assert plugin["name"] == "asterism"
    assert (ROOT / plugin["source"] / ".claude-plugin/plugin.json").is_file()


def test_the_description_for_the_registry() -> None:
    """The rules of its schema of 2025-12-11 that concern us, by hand."""
    server = read("server.json")
    assert server["$schema"].endswith("/schemas/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 1 <= len(server["description"]) <= 100
    assert server["version"] == __version__
    (package,) = server["packages"]
    assert package["registryType"] == "pypi"
    assert (package["identifier"], package["version"]) == ("asterism", __version__)
    assert package["transport"] == {"type": "stdio"}
    assert package["packageArguments"] == [{"type": "positional", "value": "mcp"}]


@pytest.mark.parametrize("text", [skill(), plain_skill()])
def test_the_skill_has_what_clients_ask_of_it(text: str) -> None:
    found = re.match(r"---\nname: (?P<name>.+)\ndescription: (?P<what>.+)\n---\n\n", text)
    assert found is not None
    assert found["name"] == "asterism"
    assert len(found["what"]) <= 1024
    assert "{{" not in text


EXAMPLE = re.compile(r"`(\w+\(.*?\))`")
TOOLS = (ROOT / "docs/tools.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("example", EXAMPLE.findall(skill() + guide()))
def test_examples_are_calls_that_the_tools_take(example: str) -> None:
    call = ast.parse(example.replace("true", "True"), mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    section = re.search(rf"^## `{call.func.id}`$(.*?)(?=^## )", TOOLS, re.MULTILINE | re.DOTALL)
    assert section is not None
    given = {word.arg for word in call.keywords} | {
        word.id for word in call.args if isinstance(word, ast.Name)
    }
    known = set(re.findall(r"^\| `(\w+)`", section[1], re.MULTILINE))
    assert given <= known
    assert set(re.findall(r"^\| `(\w+)` \(required\)", section[1], re.MULTILINE)) <= given


def test_the_page_names_every_client() -> None:
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    tables = [
        re.findall(r"^\| `([a-z][\w-]+)` \|", part, re.MULTILINE) for part in page.split("## ")
    ]
    both = [client.name for client in CLIENTS]
    assert [name for part in tables for name in part] == [
        *both,
        *(client.name for client in CLIENTS if client.project is not None),
    ]
