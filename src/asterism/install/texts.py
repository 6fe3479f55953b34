"""What is written for the models: the guide, the skill, and a server as a file of its own."""

import json
from pathlib import Path

from asterism.install.own_files import PLACE, marked
from asterism.install.places import Launch


def guide() -> str:
    """The lines of the marked block."""
    return _read("guide.md")


def skill() -> str:
    """The skill as it is installed, with its mark."""
    return marked(_read("skill.md"))


def plain_skill() -> str:
    """The skill as a plugin ships it: nobody takes it back file by file."""
    return _read("skill.md").replace(f"<!-- {PLACE} -->\n\n", "")


def server_block(launch: Launch) -> str:
    """A server as Continue wants it, in YAML; strings are quoted as in JSON, which is YAML too."""
    lines = [
        f"# {PLACE}",
        "name: Asterism",
        "version: 0.0.1",
        "schema: v1",
        "mcpServers:",
        "  - name: asterism",
        f"    command: {_quoted(launch.command)}",
        "    args:",
        *(f"      - {_quoted(argument)}" for argument in launch.arguments),
    ]
    return marked("\n".join(lines) + "\n")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
