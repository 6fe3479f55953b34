"""The façade: everything a command, a server or a program does with a user's indexes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, RLock
from typing import TYPE_CHECKING

from asterism.analysis.source.checkouts import check_inside, enclosing_checkout
from asterism.config.settings import Settings
from asterism.engine.metrics import QueryCounter, record_search, record_sync
from asterism.engine.snapshot import (
    Freshness,
    QuerySnapshot,
    SnapshotRequest,
    Unchanged,
    answered,
    query_snapshot,
)
from asterism.engine.stores import DataDirectories, Records
from asterism.indexing.report import SILENT, Listener, SyncReport, UpgradeReport
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Registered, Registry
from asterism.telemetry.operations import MeasuredOperation
from asterism.types.deadlines import limited_to
from asterism.types.errors import IndexMissing, PathMissing
from asterism.types.files import display_path
from asterism.types.index import SymbolQuery
from asterism.types.request_limits import check_text

if TYPE_CHECKING:
    # A method loads what it needs; these are only named in annotations.
    from asterism.engine.agents import Agents
    from asterism.engine.cleanup import Cleaning
    from asterism.engine.connector import Connector
    from asterism.engine.context_reply import ContextReply
    from asterism.engine.inspection import Inspection
    from asterism.engine.lookups import Lookup
    from asterism.engine.relations import RelationsReply, RelationsRequest
    from asterism.engine.search import SearchReply, SearchRequest
    from asterism.engine.status import Status
    from asterism.engine.warm import Warm
    from asterism.indexing.watcher import Watcher, WatchState


class Engine:
    """One user's indexes. Nothing heavy is loaded before a method needs it.

    Threads may share it as long as no two of them ask about the same project at a time; indexing
    goes on beside questions.
    """

    def __init__(self, places: DataDirectories, settings: Callable[[str], Settings]) -> None:
        self._places = places
        self._settings = settings
        self.registry = Registry(places.data)
        self.questions = QueryCounter()
        self._unchanged = Unchanged()
        self._warm: Warm | None = None
        self._connectors: dict[str, Connector] = {}
        self._records: Records | None = None
        self._agents: Agents | None = None
        self._lock = RLock()
        self._list_was_whole = True

    def register(
        self, root: Path, name: str | None = None, project: str | None = None
    ) -> Registered:
        """Make a directory known; the same one twice is one."""
        return self.registry.register(root, name, project)

    def locate(self, path: Path) -> Registered:
        """The registered repository a path belongs to; an error says how to register one."""
        found = self.registry.find(path)
        if found is None:
            shown = display_path(str(path))
            if not os.path.lexists(path):
                raise PathMissing(f"{shown} does not exist; check the path.")
            for folder in Path(os.path.normpath(path)).parents:
                if (around := self.registry.find(folder)) is not None:
                    check_inside(str(path), around.repository.root)
            root = display_path(str(path if path.is_dir() else path.parent))
            raise IndexMissing(f"{shown} is in no index yet; run `asterism index {root}`.")
        return found

    def root_for(self, directory: Path) -> Path:
        """The repository around a directory, else its checkout, else the directory."""
        found = self.registry.find(directory)
        if found is not None:
            return Path(found.repository.root)
        checkout = enclosing_checkout(str(directory))
        return Path(checkout.root) if checkout is not None else directory

    def remove(self, registered: Registered) -> None:
        """Forget a repository and everything the index holds of it."""
        from asterism.engine.builds import forget

        alone = len(self.registry.repositories(registered.project.id)) == 1
        forget(registered, self.settings_of(registered), self._places, alone)
        self.registry.remove(registered)
        if alone:
            shutil.rmtree(registered.project.directory, ignore_errors=True)

    def is_indexed(self, registered: Registered) -> bool:
        """Whether the index knows a repository, up to date or not."""
        try:
            with Catalogue.open(registered.project.directory) as catalogue:
                known = {repository.name for repository in catalogue.repositories()}
        except IndexMissing:
            return False
        return registered.repository.name in known

    def index(
        self,
        registered: Registered,
        listener: Listener = SILENT,
        force: bool = False,
        wait_seconds: float = -1,
    ) -> SyncReport:
        """Bring the index of a repository up to date; −1 waits for another writer for ever."""
        from asterism.engine.builds import BuildOptions, ProjectMember, build

        with MeasuredOperation("index") as done:
            others = (
                other
                for other in self.registry.repositories(registered.project.id)
                if other.repository.id != registered.repository.id
            )
            members = [ProjectMember(one, self.settings_of(one)) for one in (registered, *others)]
            report = build(members, self._places, BuildOptions(listener, force, wait_seconds))
            record_sync(report, done)
        return report

    def upgrade(
        self,
        registered: Registered,
        listener: Listener = SILENT,
        wait_seconds: float = -1,
        give_way: Callable[[], None] | None = None,
    ) -> UpgradeReport:
        """Make missing encoder vectors now; `give_way` is called so that queries go first."""
        from asterism.engine.upgrade import upgrade_index

        settings = self.settings_of(registered)
        return upgrade_index(registered, settings, self._places, listener, wait_seconds, give_way)

    def preview(self, registered: Registered, force: bool = False) -> SyncReport:
        """What `index` would do; nothing is written."""
        from asterism.engine.builds import dry_run

        return dry_run(registered, self.settings_of(registered), force)

    def cancel(self, registered: Registered) -> bool:
        """Ask the process that is indexing to stop; False if none is."""
        from asterism.engine.builds import cancel

        return cancel(registered)

    def watcher(
        self,
        registered: Registered,
        hear: Callable[[WatchState], None] | None = None,
        stop: Event | None = None,
    ) -> Watcher:
        """A watcher that keeps the index of a repository up to date until it is stopped."""
        from asterism.engine.builds import watcher_of

        settings = self.settings_of(registered)
        return watcher_of(registered, settings, lambda: self.index(registered), hear, stop)

    def watch(
        self, registered: Registered, stop: Event, waiting: Callable[[], None] | None = None
    ) -> Iterator[WatchState]:
        """Keep an index fresh until told to stop; one process does it, others wait for a turn."""
        from asterism.indexing.lock import sole_watcher

        directory, repo = registered.project.directory, registered.repository.name
        with sole_watcher(directory, repo, stop, waiting) as ours:
            if ours:
                yield from self.watcher(registered, stop=stop).run()

    def status(self, registered: Registered) -> Status:
        """What state the index of a repository is in."""
        from asterism.engine.status import status_of

        return status_of(registered, self.settings_of(registered))

    def refresh(self, registered: Registered) -> Freshness:
        """Bring an index up to date before a query, within the time that the settings allow."""
        with query_snapshot(self._opening(registered)) as snapshot:
            return snapshot.freshness

    def snapshot(self, registered: Registered) -> AbstractContextManager[QuerySnapshot]:
        """The state of a repository that one query reads, brought up to date first."""
        return query_snapshot(self._opening(registered))

    def search(self, registered: Registered, request: SearchRequest) -> SearchReply:
        """The code for a query."""
        from asterism.engine.search import prepared, search

        opening = self._opening(registered)
        with self._query(opening), MeasuredOperation("search", request.mode.value) as done:
            answer = partial(
                search, asked=prepared(request), places=self._places, warm=self._kept()
            )
            reply = answered(opening, answer)
            record_search(reply, done)
        return reply

    def similar(
        self,
        registered: Registered,
        request: SearchRequest,
        path: Path,
        lines: tuple[int | None, int | None] = (None, None),
    ) -> SearchReply:
        """Code like the code on some lines of a file, or like all of it."""
        from asterism.engine.lookups import place_in
        from asterism.types.search import Mode

        place = place_in(registered, path, *lines)
        return self.search(registered, replace(request, mode=Mode.similar, place=place))

    def context(
        self,
        registered: Registered,
        request: SearchRequest,
        budget: int | None = None,
        gate: float | None = None,
    ) -> ContextReply:
        """The same for an agent: how the hits connect, and their code, inside a token budget.

        Only hits that score `gate` or more are given, by default those that are worth their tokens
        beside the best one.
        """
        from asterism.engine.context_reply import (
            ContextOptions,
            budget_for,
            context,
            pooled,
        )
        from asterism.engine.lookups import repository_of
        from asterism.engine.search import prepared, search

        gate = request.min_score or None if gate is None else gate
        options = ContextOptions(limit=request.limit, gate=gate, budget=budget_for(budget))
        # The limits of the request are checked as they are given.
        prepared(replace(request, min_score=gate or 0.0))
        wanted = pooled(request)
        opening = self._opening(repository_of(self.registry, registered, request.where.repos))
        with self._query(opening), MeasuredOperation("context", request.mode.value):
            asked = prepared(wanted)
            connector = self.connector(opening.registered, opening.settings)

            def reply(snapshot: QuerySnapshot) -> ContextReply:
                with MeasuredOperation("search", request.mode.value) as done:
                    hits = search(snapshot, asked, self._places, self._kept())
                    record_search(hits, done)
                return context(hits, snapshot, connector, options)

            begin = partial(connector.warm_up, languages=request.where.languages)
            return answered(opening, reply, begin)

    def relations(self, registered: Registered, request: RelationsRequest) -> RelationsReply:
        """Who calls a symbol, what it calls, or which files refer to it."""
        from asterism.engine.relations import check, relations

        check(request)
        opening = self._opening(registered)
        with self._query(opening), MeasuredOperation("relations", request.relation.value):
            connector = self.connector(registered, opening.settings)
            answer = partial(relations, request, connector=connector)
            return answered(opening, answer, connector.warm_up)

    def connector(self, registered: Registered, settings: Settings | None = None) -> Connector:
        """What knows how the symbols of a repository connect; its processes stay until `close`."""
        from asterism.config.environment import active_environment
        from asterism.engine.connector import Connector

        settings = settings or self.settings_of(registered)
        root, id_ = registered.repository.root, registered.repository.id
        with self._lock:
            kept = self._connectors.get(id_)
            if kept is None or kept.made_for != (root, settings):
                if kept is not None:
                    kept.close()
                cache = self._places.cache / "structure" / id_
                kept = Connector(registered, settings, cache, active_environment())
                self._connectors[id_] = kept
            return kept

    def records(self) -> Records:
        """The user's conversations and sessions; their database is opened when it is needed."""

        with self._lock:
            if self._records is None:
                # Only the user's own voice counts there, whichever directory is asked about.
                settings = self._settings(str(self._places.data))
                self._records = Records(settings, self._places)
            return self._records

    def agents(self) -> Agents:
        """The user's agents; their servers start when they are needed, and stay until `close`."""
        from asterism.config.load import embed_options
        from asterism.engine.agents import Agents

        with self._lock:
            if self._agents is None:
                self._agents = Agents(
                    self._places,
                    self._settings,
                    self.records,
                    lambda settings: self._kept().embedder(embed_options(settings)),
                )
            return self._agents

    def _kept(self) -> Warm:
        """What is kept between questions."""
        from asterism.engine.warm import Warm

        with self._lock:
            if self._warm is None:
                self._warm = Warm()
            return self._warm

    def close(self) -> None:
        """End helper processes and close connections; the next call opens them again."""
        with self._lock:
            for connector in self._connectors.values():
                connector.close()
            self._connectors.clear()
            if self._warm is not None:
                self._warm.close()
                self._warm = None
            if self._agents is not None:
                self._agents.close()
                self._agents = None
            if self._records is not None:
                self._records.close()
                self._records = None

    def symbols(self, registered: Registered, query: SymbolQuery) -> Lookup:
        """Where a name is defined, exported, imported and used."""
        from asterism.engine.lookups import look_up

        check_text("name", query.name)
        opening = self._opening(registered)
        with limited_to(opening.settings.server.query_seconds), MeasuredOperation("symbols"):
            return answered(opening, lambda snapshot: look_up(snapshot, query))

    def inspect(self, path: Path) -> Inspection:
        """What is indexed of a file, and why not the rest."""
        from asterism.engine.inspection import inspect_file

        # By the directories it is in: a link counts as itself, wherever it leads.
        around = (path.parent, *Path(os.path.normpath(path)).parents)
        registered = next(filter(None, map(self.registry.find, around)), None)
        registered = registered or self.locate(path)
        return inspect_file(registered, path, self.settings_of(registered))

    def clean(self, dry_run: bool = False, cache: bool = False) -> Cleaning:
        """Remove indexes without a repository, leftovers of killed processes and old versions."""
        from asterism.engine.cleanup import clean
        from asterism.store.registry_file import is_whole

        # What a damaged list lacks after it was made again must not be taken for unneeded.
        self._list_was_whole = self._list_was_whole and is_whole(self._places.data)
        orphans = self._list_was_whole
        return clean(self.registry, self._places, self._settings, dry_run, cache, orphans)

    def _opening(self, registered: Registered) -> SnapshotRequest:
        """What a query opens; its settings are read once."""
        return SnapshotRequest(
            registered, self.settings_of(registered), self._places, self._unchanged
        )

    def _query(self, opening: SnapshotRequest) -> AbstractContextManager[None]:
        """A query is answered inside: background work yields, and the deadline ends it."""
        return self.questions.answering(opening.settings.server.query_seconds)

    @property
    def cache_place(self) -> Path:
        """Where the user's cached vectors are kept."""
        return self._places.cache

    def settings_of(self, registered: Registered) -> Settings:
        """The user's settings for a repository."""
        return self._settings(registered.repository.root)
