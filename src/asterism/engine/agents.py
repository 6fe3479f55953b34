"""Agents as requests need them: their files, their servers' tools, and what is chosen of both."""

from __future__ import annotations

import importlib.resources
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from asterism import __version__
from asterism.config.environment import agent_variable, handed_on
from asterism.config.load import embed_options
from asterism.config.model_sections import AS_INDEXED, EmbeddingSettings
from asterism.config.settings import Settings
from asterism.config.trust import is_trusted
from asterism.context.agents.files import AgentFile, AgentFolder
from asterism.context.messages import Contents
from asterism.context.replay import KeptInFiles
from asterism.context.sessions import items_of, new_session
from asterism.engine.stores import DataDirectories, Records, cache
from asterism.indexing.index import Cache
from asterism.models.embed.options import EmbedOptions, Provider, encoder_folder, static_folder
from asterism.models.embed.provider import Embedder
from asterism.models.weights.folder import read_folder
from asterism.store.registry import Registered
from asterism.telemetry.events import log_event
from asterism.toolservers.options import NOTHING_LISTED, CallResult, Listing, ServerSurroundings
from asterism.toolservers.servers import ToolServers
from asterism.types.context import Agent, RequestContext, Tool, ToolKey
from asterism.types.errors import (
    AsterismError,
    InputError,
    PathMissing,
    SettingError,
    ToolServerMissing,
)
from asterism.types.sessions import Session

if TYPE_CHECKING:
    from asterism.context.request import Built, Chooser, ContextInput
    from asterism.context.vectors import ItemIndex


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
        """`repository` is the root of the repository that a request is about."""
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


_NAMED: Mapping[str, Provider] = {"local": "local", "encoder": "encoder", "minilm": "minilm"}


def choosing_settings(settings: Settings) -> Settings:
    """The settings with the embedding model that chooses; the same where that is the index's."""
    wanted = settings.context.model
    if wanted == AS_INDEXED:
        return settings
    if wanted in _NAMED:
        chosen = EmbeddingSettings(provider=_NAMED[wanted])
    elif Path(wanted).expanduser().is_absolute():
        chosen = EmbeddingSettings(provider="encoder", model=wanted)
    else:
        raise SettingError(
            f"context.model is {wanted!r}; it can be {AS_INDEXED}, {', '.join(_NAMED)}, or the "
            "path of a folder with an encoder."
        )
    options = embed_options(replace(settings, embedding=chosen))
    if options.provider == "encoder" and not encoder_folder(options).is_dir():
        raise SettingError(
            f"context.model is {wanted!r}, but this installation has no such encoder. Give the "
            f"path of a folder with a model.json, or set context.model to {AS_INDEXED}."
        )
    return replace(settings, embedding=chosen)


def built_in(settings: Settings) -> Settings:
    """The settings with the model that is always there."""
    return replace(settings, embedding=EmbeddingSettings())


def told_of_cosines(options: EmbedOptions) -> Mapping[str, float]:
    """What a model's folder says of its cosines where items are chosen, if anything."""
    match options.provider:
        case "encoder":
            return read_folder(encoder_folder(options), "encoder").context
        case "local":
            return read_folder(static_folder(options), "static").context
    return {}


@dataclass(frozen=True, slots=True)
class ListedAgent:
    """An agent with what its servers list right now."""

    agent: Agent
    listing: Listing = NOTHING_LISTED

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the servers that answered."""
        return self.listing.tools

    @property
    def absent(self) -> Mapping[str, str]:
        """Servers that did not, and why."""
        return {problem.server: str(problem.error) for problem in self.listing.problems}


class Agents:
    """One user's agents; threads may share them. Servers start with the first need of a tool."""

    def __init__(
        self,
        places: DataDirectories,
        settings: Callable[[str], Settings],
        records: Callable[[], Records],
        embedder: Callable[[Settings], Embedder],
    ) -> None:
        """`embedder` is the model that the settings mean, which its owner keeps."""
        self._places = places
        self._settings = settings
        self.records = records
        self._embedder = embedder
        self._lock = RLock()
        self._servers: ToolServers | None = None
        self._indexes: dict[Embedder, ItemIndex] = {}
        self._caches: list[Cache] = []
        self.kept = KeptInFiles(places.data / "contents")
        """What items said in earlier requests."""

    def places(self, registered: Registered | None = None) -> AgentPlaces:
        """Where agents are looked for, from a repository or from nowhere."""
        if registered is None:
            return AgentPlaces(self._places.data)
        root = Path(registered.repository.root)
        trusted = is_trusted(root, self.settings(registered))
        return AgentPlaces(self._places.data, root, trusted)

    def settings(self, registered: Registered | None) -> Settings:
        """The user's settings for a repository, or for none."""
        root = str(self._places.data) if registered is None else registered.repository.root
        return self._settings(root)

    def ready(self, agent: Agent, *, connect: bool = True) -> ListedAgent:
        """The agent with its servers' tools; a server that does not answer is among the absent."""
        return ListedAgent(
            agent, self.servers().tools(agent.servers) if connect else NOTHING_LISTED
        )

    def servers(self) -> ToolServers:
        """The connections to all agents' servers."""
        with self._lock:
            if self._servers is None:
                # Package runners prefer what the working directory has, so it is never a
                # repository.
                self._places.data.mkdir(mode=0o700, parents=True, exist_ok=True)
                directory = str(self._places.data)
                around = ServerSurroundings(agent_variable, handed_on(), directory, __version__)
                self._servers = ToolServers(around)
            return self._servers

    def call(
        self,
        agent: Agent,
        tool: ToolKey,
        arguments: Mapping[str, object],
        seconds: float | None = None,
    ) -> CallResult:
        """What a tool returns; whether it may be called is for the caller to ask."""
        server = agent.server(tool.server)
        if server is None or not server.enabled:
            raise ToolServerMissing(f"The agent {agent.name} has no server {tool.server}.")
        return self.servers().call(server, tool.name, arguments, seconds)

    def build(
        self,
        ready: ListedAgent,
        message: str,
        session: Session,
        registered: Registered | None = None,
    ) -> Built:
        """The context of a request in a session; it does not fail for want of a model."""
        from asterism.context.request import build_request, not_chosen

        chooser, failure = self._chooser_or_failure(registered)
        # The index of items is one for all threads.
        with self._lock:
            built = build_request(asked_of(ready, message, session), chooser)
        if failure is None or not built.context.considered:
            return built
        notes = (*built.context.notes, not_chosen(failure))
        return replace(built, context=replace(built.context, notes=notes))

    def extend(
        self,
        ready: ListedAgent,
        context: RequestContext,
        message: str,
        session: Session | None,
        result: tuple[ToolKey, str],
        registered: Registered | None = None,
    ) -> RequestContext:
        """The context with what goes with a tool's result."""
        from asterism.context.request import extend_by_result

        chooser, _failure = self._chooser_or_failure(registered)
        with self._lock:
            return extend_by_result(context, asked_of(ready, message, session), *result, chooser)

    def _chooser_or_failure(
        self, registered: Registered | None
    ) -> tuple[Chooser | None, AsterismError | None]:
        """What chooses, or why nothing does: a key, a file or a setting is missing."""
        try:
            return self.chooser(registered), None
        except AsterismError as error:
            log_event("choosing_failed", logging.WARNING, error=type(error).__name__)
            return None, error

    def chooser(self, registered: Registered | None = None) -> Chooser:
        """What chooses by meaning, with the model of the settings."""
        from asterism.context.request import Chooser, chosen_instead

        settings = self.settings(registered)
        relations = self._places.cache / "relations"

        def instead(*notes: str) -> Chooser:
            index = self._index(built_in(settings))
            return Chooser(index=index, relations=relations, notes=notes)

        if settings.context.model == AS_INDEXED:
            return Chooser(index=self._index(settings), relations=relations)
        try:
            index = self._index(choosing_settings(settings))
        except AsterismError as error:
            log_event("choosing_model_missing", logging.WARNING, error=type(error).__name__)
            return instead(chosen_instead(error))
        return Chooser(index=index, relations=relations, instead=instead)

    def _index(self, settings: Settings) -> ItemIndex:
        """Items as the settings' embedding model sees them."""
        from asterism.context.vectors import ItemIndex

        embedder = self._embedder(settings)
        with self._lock:
            if embedder not in self._indexes:
                told = told_of_cosines(embed_options(settings))
                self._caches.append(cache(settings, self._places))
                self._indexes[embedder] = ItemIndex(embedder, self._caches[-1], told)
            return self._indexes[embedder]

    def close(self) -> None:
        """End the servers' processes; the next request starts them again."""
        with self._lock:
            if self._servers is not None:
                self._servers.close()
                self._servers = None
            self._indexes.clear()
            for opened in self._caches:
                opened.close()
            self._caches.clear()


def asked_of(ready: ListedAgent, message: str, session: Session | None) -> ContextInput:
    """What a request's context depends on; without a session, that of a new one."""
    from asterism.context.request import ContextInput

    held = session or new_session(ready.agent, ready.tools, "", 0.0)
    return ContextInput(
        agent=ready.agent,
        message=message,
        session=held.items,
        inherited=held.inherited,
        overrides=held.settings,
        tools=ready.tools,
        absent=ready.absent,
    )


def contents_of(ready: ListedAgent) -> Contents:
    """The current items behind the names in a request's context."""
    items = items_of(ready.agent, ready.tools)
    return Contents(prompt=ready.agent.system_prompt, items=items)
