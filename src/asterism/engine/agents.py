"""Agents as requests need them: their files, their servers' tools, and what is chosen of both."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from asterism import __version__
from asterism.config.environment import agent_variable, handed_on
from asterism.config.load import embed_options
from asterism.config.sections_context import AS_INDEXED
from asterism.config.settings import Settings
from asterism.config.trust import is_trusted
from asterism.context.kept import KeptInFiles
from asterism.context.messages import Contents
from asterism.context.sessions import items_of, new_session
from asterism.engine.agents_places import AgentPlaces
from asterism.engine.context_models import built_in, choosing_settings, told_of_cosines
from asterism.engine.records import Records
from asterism.engine.wiring import Places, cache
from asterism.indexing.cache import Cache
from asterism.models.embed.provider import Embedder
from asterism.store.registry import Registered
from asterism.telemetry.events import log_event
from asterism.toolservers.options import Surroundings
from asterism.toolservers.results import NOTHING_LISTED, CallResult, Listing
from asterism.toolservers.servers import ToolServers
from asterism.types.context import Agent, RequestContext, Tool, ToolKey
from asterism.types.errors import AsterismError, ToolServerMissing
from asterism.types.sessions import Session

if TYPE_CHECKING:
    # They bring what chooses items, which managing agents does not need.
    from asterism.context.request import Asked, Built, Chooser
    from asterism.context.vectors import ItemIndex


@dataclass(frozen=True, slots=True)
class Ready:
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
        places: Places,
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

    def ready(self, agent: Agent, *, connect: bool = True) -> Ready:
        """The agent with its servers' tools; a server that does not answer is among the absent."""
        return Ready(agent, self.servers().tools(agent.servers) if connect else NOTHING_LISTED)

    def servers(self) -> ToolServers:
        """The connections to all agents' servers."""
        with self._lock:
            if self._servers is None:
                # Package runners prefer what the working directory has, so it is never a
                # repository.
                self._places.data.mkdir(mode=0o700, parents=True, exist_ok=True)
                directory = str(self._places.data)
                around = Surroundings(agent_variable, handed_on(), directory, __version__)
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
        ready: Ready,
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
        ready: Ready,
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
        """End the servers' processes; whatever is asked next starts anew."""
        with self._lock:
            if self._servers is not None:
                self._servers.close()
                self._servers = None
            self._indexes.clear()
            for opened in self._caches:
                opened.close()
            self._caches.clear()


def asked_of(ready: Ready, message: str, session: Session | None) -> Asked:
    """What a request's context depends on; without a session, that of a new one."""
    from asterism.context.request import Asked

    held = session or new_session(ready.agent, ready.tools, "", 0.0)
    return Asked(
        agent=ready.agent,
        message=message,
        session=held.items,
        inherited=held.inherited,
        overrides=held.settings,
        tools=ready.tools,
        absent=ready.absent,
    )


def contents_of(ready: Ready) -> Contents:
    """What the names in a request's context stand for now."""
    items = items_of(ready.agent, ready.tools)
    return Contents(prompt=ready.agent.system_prompt, items=items)
