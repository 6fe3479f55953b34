"""Which pieces belong into which files, for a client in a scope."""

import enum
import json
from pathlib import Path
from typing import NamedTuple

from asterism.install.clients import Client, ClientLaunch, ClientPlaces, Setup
from asterism.install.pieces import PLACE, Piece, ServerEntry, TextBlock, WholeFile, marked


def guide() -> str:
    """The lines of the marked block."""
    return _read("guide.md")


def skill() -> str:
    """The skill as it is installed, with its mark."""
    return marked(_read("skill.md"))


def plain_skill() -> str:
    """The skill as a plugin ships it, without the mark by which `uninstall` knows it."""
    return _read("skill.md").replace(f"<!-- {PLACE} -->\n\n", "")


def server_block(launch: ClientLaunch) -> str:
    """A server as Continue wants it, in YAML; strings are quoted as in JSON, which is YAML too."""
    lines = [
        f"# {PLACE}",
        *("name: Asterism", "version: 0.0.1", "schema: v1", "mcpServers:", "  - name: asterism"),
        f"    command: {_quoted(launch.command)}",
        "    args:",
        *(f"      - {_quoted(argument)}" for argument in launch.arguments),
    ]
    return marked("\n".join(lines) + "\n")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


class InstallScope(enum.Enum):
    """For everything a user does, or for one project."""

    user = "user"
    project = "project"


class PieceTarget(NamedTuple):
    """A piece and the file it belongs into; several paths are alternatives."""

    what: str
    paths: tuple[Path, ...]
    piece: Piece
    # How many directories above the file go with it, where nothing else is left in them.
    directories: int


class ClientSetup(NamedTuple):
    """A client in a scope: its entry, without which the rest makes no sense, and the rest."""

    client: str
    title: str
    entry: PieceTarget
    rest: tuple[PieceTarget, ...]


def setup_of(client: Client, scope: InstallScope) -> Setup | None:
    """What the client reads in the scope, if it knows it."""
    return client.user if scope is InstallScope.user else client.project


def wanted(
    client: Client, scope: InstallScope, places: ClientPlaces, launch: ClientLaunch
) -> ClientSetup | None:
    """All that is to be set up for a client; nothing where it does not know the scope."""
    setup = setup_of(client, scope)
    if setup is None:
        return None
    piece: Piece = WholeFile(server_block(launch))
    if client.path is not None:
        piece = ServerEntry(client.format, client.path, client.fields(launch))
    # A user's configuration directory is how a client is found; it stays.
    above = 1 if scope is InstallScope.project else 0
    paths = tuple(places.at(written) for written in setup.config)
    entry = PieceTarget("the MCP server", paths, piece, above + (client.path is None))
    rest = []
    if setup.guide is not None:
        file = (places.at(setup.guide),)
        rest.append(PieceTarget("lines for the model", file, TextBlock(guide()), 0))
    if setup.skill is not None:
        # The directory of the skill, the one of all skills, and `.agents` itself.
        depth = 3 if ".agents/" in setup.skill or scope is InstallScope.project else 2
        file = (places.at(setup.skill),)
        rest.append(PieceTarget("a skill", file, WholeFile(skill()), depth))
    return ClientSetup(client.name, client.title, entry, tuple(rest))
