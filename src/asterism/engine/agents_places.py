"""Where agents live: the user's own, a trusted repository's, and the one that comes with us."""

import importlib.resources
from pathlib import Path
from typing import NamedTuple

from asterism.context.agents.files import AgentFile, AgentFolder
from asterism.types.context import Agent
from asterism.types.errors import InputError, PathMissing

USERS = "user"
REPOSITORYS = "repository"
BUILT_IN = "built-in"

_IN_REPOSITORY = Path(".asterism", "agents")
"""Where a repository keeps its agents."""


class PlacedAgent(NamedTuple):
    """An agent's file, and whose it is."""

    origin: str
    """`user`, `repository` or `built-in`."""
    file: AgentFile


class _Place(NamedTuple):
    origin: str
    folder: AgentFolder


class AgentPlaces:
    """The folders that agents are looked for in; of two with one name the first counts.

    An agent's servers are programs that run on the user's machine, so a repository's agents are
    only used where the user trusts it.
    """

    def __init__(self, data: Path, repository: Path | None = None, trusted: bool = False) -> None:
        """`repository` is the root of the one that is asked about."""
        self.own = AgentFolder(data / "agents")
        """The user's, which new agents go to."""
        built_in = Path(str(importlib.resources.files("asterism.context"))) / "builtin"
        self._places = [_Place(USERS, self.own)]
        self._untrusted: AgentFolder | None = None
        if repository is not None:
            theirs = AgentFolder(repository / _IN_REPOSITORY)
            if trusted:
                self._places.append(_Place(REPOSITORYS, theirs))
            else:
                self._untrusted = theirs
        self._places.append(_Place(BUILT_IN, AgentFolder(built_in)))

    def list(self) -> tuple[PlacedAgent, ...]:
        """Every agent by name, those with problems included."""
        found: dict[str, PlacedAgent] = {}
        for origin, folder in self._places:
            for file in folder.list():
                found.setdefault(file.name, PlacedAgent(origin, file))
        return tuple(found[name] for name in sorted(found))

    def look(self, name: str) -> PlacedAgent:
        """An agent's file, whatever is in it."""
        place = self._find(name)
        return PlacedAgent(place.origin, place.folder.look(name))

    def load(self, name: str) -> Agent:
        """An agent that can be used."""
        agent = self._find(name).folder.load(name)
        if not agent.enabled:
            raise InputError(
                f"The agent {name} is switched off; switch it on with `asterism agent edit {name} "
                "--enable`."
            )
        return agent

    def text(self, name: str) -> str:
        """An agent's file, checked, to be given away."""
        return self._find(name).folder.export(name)

    def changeable(self, name: str) -> AgentFolder:
        """The folder of an agent that may be edited."""
        place = self._find(name)
        if place.origin == BUILT_IN:
            raise InputError(
                f"The agent {name} comes with Asterism and is not changed. Copy it first: "
                f"`asterism agent export {name} | asterism agent import - --name NAME`."
            )
        return place.folder

    def notes(self) -> tuple[str, ...]:
        """What is not used, and why."""
        names = () if self._untrusted is None else self._untrusted.names()
        if not names:
            return ()
        return (
            f"This repository has agents of its own ({', '.join(names)}), which are not used: "
            "agents start programs. To use them, trust the repository: `asterism trust PATH`.",
        )

    def _find(self, name: str) -> _Place:
        for place in self._places:
            if name in place.folder.names():
                return place
        known = ", ".join(sorted({one for place in self._places for one in place.folder.names()}))
        hidden = "" if name not in self._untrusted_names() else f" {self.notes()[0]}"
        raise PathMissing(
            f"There is no agent {name!r}; there are: {known}. Make one with `asterism agent new "
            f"NAME`.{hidden}"
        )

    def _untrusted_names(self) -> tuple[str, ...]:
        return () if self._untrusted is None else self._untrusted.names()
