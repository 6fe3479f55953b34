"""Which pieces belong into which files, for a client in a scope."""

import enum
from pathlib import Path
from typing import NamedTuple

from asterism.install import texts
from asterism.install.clients import Client, Setup
from asterism.install.pieces import Block, Entry, Piece, Whole
from asterism.install.places import Launch, Places


class Scope(enum.Enum):
    """For everything a user does, or for one project."""

    user = "user"
    project = "project"


class Target(NamedTuple):
    """A piece and the file it belongs into; several paths are alternatives."""

    what: str
    paths: tuple[Path, ...]
    piece: Piece
    # How many directories above the file go with it, where nothing else is left in them.
    directories: int


class Wanted(NamedTuple):
    """A client in a scope: its entry, without which the rest makes no sense, and the rest."""

    client: str
    title: str
    entry: Target
    rest: tuple[Target, ...]


def setup_of(client: Client, scope: Scope) -> Setup | None:
    """What the client reads in the scope, if it knows it."""
    return client.user if scope is Scope.user else client.project


def wanted(client: Client, scope: Scope, places: Places, launch: Launch) -> Wanted | None:
    """All that is to be set up for a client; nothing where it does not know the scope."""
    setup = setup_of(client, scope)
    if setup is None:
        return None
    piece: Piece = Whole(texts.server_block(launch))
    if client.path is not None:
        piece = Entry(client.format, client.path, client.fields(launch))
    # A user's configuration directory is how a client is found; it stays.
    above = 1 if scope is Scope.project else 0
    paths = tuple(places.at(written) for written in setup.config)
    entry = Target("the MCP server", paths, piece, above + (client.path is None))
    rest = []
    if setup.guide is not None:
        guide = (places.at(setup.guide),)
        rest.append(Target("lines for the model", guide, Block(texts.guide()), 0))
    if setup.skill is not None:
        # The directory of the skill, the one of all skills, and `.agents` itself.
        depth = 3 if ".agents/" in setup.skill or scope is Scope.project else 2
        skill = (places.at(setup.skill),)
        rest.append(Target("a skill", skill, Whole(texts.skill()), depth))
    return Wanted(client.name, client.title, entry, tuple(rest))
