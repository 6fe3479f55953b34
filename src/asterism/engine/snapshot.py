"""One query's state of a repository: settings, catalogue, listing and freshness, opened once."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

from asterism.analysis.source.discovery import DirectoryView, take_view
from asterism.config.settings import Settings
from asterism.engine.metrics import record_look_up, record_sync
from asterism.engine.stores import (
    DataDirectories,
    checked,
    model_identity,
    open_index,
    sync_options,
)
from asterism.indexing.plan import (
    RACY_NS,
    SyncOptions,
    as_found,
    index_verdict,
    is_in_step,
    list_files,
    shape_verdict,
)
from asterism.indexing.report import Listener, SyncReport
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import SCHEMA_VERSION, Mark, mark_of
from asterism.store.registry import Registered, check_root
from asterism.telemetry.operations import MeasuredOperation
from asterism.types.deadlines import check_deadline, without_deadline
from asterism.types.errors import (
    IndexBusy,
    IndexCorrupt,
    IndexMissing,
    ProviderError,
    StorageFailed,
    StoreError,
)
from asterism.types.files import Discovery, FoundFile
from asterism.types.index import ModelIdentity, Staleness
from asterism.types.index_states import not_indexed

REPOSITORIES_KEPT = 8
"""So many are remembered; each takes 400 bytes for every file."""
SYNCS_BEFORE = 2
"""The sync after which a view is taken: a command that asks once has no use for it."""


class IndexTarget(NamedTuple):
    """What an index is compared with, beside the files."""

    root: str
    options: SyncOptions
    model: ModelIdentity


class Compared(NamedTuple):
    """A comparison of an index with the files that left nothing to do."""

    began_ns: int
    """What changed later, or just before, may not have been seen by it."""
    catalogue: Mark
    """Of the catalogue that equals the files, taken before it was read or under the lock."""
    found: Discovery


class _Known(NamedTuple):
    syncs: int
    wanted: IndexTarget
    catalogue: Mark
    view: DirectoryView | None


class Unchanged:
    """Spares questions the sync before them where it would find nothing to do.

    Nothing is taken on trust: every directory and file is looked at for every question, and the
    index itself, which another process may have changed.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[tuple[Path, str], _Known] = {}

    def holds(self, registered: Registered, wanted: IndexTarget) -> bool:
        """Whether everything is as it was after the last sync."""
        known = self._known.get(_place(registered))
        return (
            known is not None
            and known.view is not None
            and known.wanted == wanted
            and known.catalogue == mark_of(registered.project.directory)
            and known.view.is_same()
        )

    def note(self, registered: Registered, wanted: IndexTarget, compared: Compared) -> None:
        """Hear of a comparison, or of a sync, that left nothing to do."""
        place = _place(registered)
        before = self._known.pop(place, None)
        syncs = before.syncs + 1 if before is not None else 1
        view = None
        if syncs >= SYNCS_BEFORE:
            closed = {entry.path for entry in compared.found.skipped if entry.is_directory}
            settled_ns = compared.began_ns - RACY_NS
            view = take_view(wanted.root, wanted.options.discovery, closed, settled_ns)
        with self._lock:
            self._known[place] = _Known(syncs, wanted, compared.catalogue, view)
            while len(self._known) > REPOSITORIES_KEPT:
                del self._known[next(iter(self._known))]


def _place(registered: Registered) -> tuple[Path, str]:
    return registered.project.directory, registered.repository.name


Reply = TypeVar("Reply")


class Freshness(NamedTuple):
    """How far the index is behind the files after the time a query may spend on a sync."""

    message: str = ""
    """What to tell the user; empty if the index is up to date."""
    behind: int = 0


class SnapshotRequest(NamedTuple):
    """What a snapshot is opened with."""

    registered: Registered
    settings: Settings
    places: DataDirectories
    unchanged: Unchanged
    """Shared by the queries of a process."""


@dataclass(frozen=True, kw_only=True)
class QuerySnapshot:
    """Everything that one query reads of a repository; `query_snapshot` opens it.

    The catalogue stays inside one read transaction, so a commit by another process changes nothing
    in the reply, and no writer waits for the query.
    """

    registered: Registered
    settings: Settings
    catalogue: Catalogue
    freshness: Freshness
    began: float
    """When the query began to open it, by the monotonic clock."""
    found: Discovery | None = None
    """The listing of an index that is behind, if the tree was walked."""

    @cached_property
    def is_known(self) -> bool:
        """Whether the catalogue knows the repository."""
        return _is_known(self.catalogue, self.registered)

    def check_known(self) -> None:
        """Refuse a repository that was never indexed."""
        if not self.is_known:
            raise IndexMissing(not_indexed(self.registered.repository.root))

    @cached_property
    def version(self) -> int:
        """The version of the chunk table that the catalogue names; 0 without a table."""
        return self.catalogue.chunks_version()

    @cached_property
    def listing(self) -> tuple[FoundFile, ...]:
        """The files of the repository: the indexed ones, unless the index is behind the disk."""
        repository = self.registered.repository
        known = self.catalogue.files(repository.name)
        if not self.freshness.message:
            return tuple(sorted(map(as_found, known.values())))
        found = self.found or list_files(repository, sync_options(self.settings), known)
        return found.files


def answered(
    opening: SnapshotRequest,
    answer: Callable[[QuerySnapshot], Reply],
    begin: Callable[[Catalogue], object] | None = None,
) -> Reply:
    """Answer from one snapshot; from a new one, once, if the index was replaced meanwhile."""
    directory = opening.registered.project.directory
    mark = mark_of(directory)
    try:
        with query_snapshot(opening, begin) as snapshot:
            return answer(snapshot)
    except IndexCorrupt:
        # Another process may have rebuilt the index, or removed the version that was read.
        if mark == mark_of(directory):
            raise
    with query_snapshot(opening, begin) as snapshot:
        return answer(snapshot)


@contextmanager
def query_snapshot(
    opening: SnapshotRequest, begin: Callable[[Catalogue], object] | None = None
) -> Iterator[QuerySnapshot]:
    """Bring an index up to date within the time that the settings allow, and hold its state.

    Where nothing changed, the state that was compared with the files is the one that is held, and
    nothing is written. Otherwise the index is synced and opened again. A writer that has just
    begun, as a watcher does after an edit, is waited for within that time. If the writing takes
    longer, or the index needs more than a sync, the freshness says so. `begin` is called with the
    catalogue before the tree is walked, to start what takes time.
    """
    check_root(opening.registered)
    query = _Query(opening)
    with _reading(opening.registered) as catalogue:
        if begin is not None and _is_known(catalogue, opening.registered):
            # The query itself reports what is wrong with the index.
            with suppress(StoreError):
                begin(catalogue)
        with without_deadline():
            freshness = query.compare(catalogue)
        check_deadline()
        if freshness is not None:
            yield query.snapshot(catalogue, freshness)
            return
    # A sync ends by its own limit, never in the middle of what it writes.
    with without_deadline():
        freshness = query.sync()
    check_deadline()
    with _reading(opening.registered) as catalogue:
        yield query.snapshot(catalogue, freshness or query.freshness(catalogue))


@contextmanager
def _reading(registered: Registered) -> Iterator[Catalogue]:
    try:
        opened = Catalogue.open(registered.project.directory)
    except IndexMissing as error:
        raise IndexMissing(not_indexed(registered.repository.root)) from error
    with opened as catalogue, catalogue.snapshot():
        yield catalogue


def _is_known(catalogue: Catalogue, registered: Registered) -> bool:
    return registered.repository.name in {known.name for known in catalogue.repositories()}


class _Query:
    """A query that compares an index with the files, and syncs it if they differ."""

    def __init__(self, opening: SnapshotRequest) -> None:
        self._opening = opening
        self._repository = opening.registered.repository
        self._directory = opening.registered.project.directory
        settings = opening.settings
        root = self._repository.root
        self._wanted = IndexTarget(root, sync_options(settings), model_identity(settings))
        self._began = time.monotonic()
        self._began_ns = time.time_ns()
        self._mark: Mark = mark_of(self._directory)
        """Of the catalogue that the listing is compared with."""
        self._found: Discovery | None = None
        self._refused = ""

    def snapshot(self, catalogue: Catalogue, freshness: Freshness) -> QuerySnapshot:
        """The state that the query holds."""
        return QuerySnapshot(
            registered=self._opening.registered,
            settings=self._opening.settings,
            catalogue=catalogue,
            freshness=freshness,
            began=self._began,
            found=self._listed(),
        )

    def compare(self, catalogue: Catalogue) -> Freshness | None:
        """How fresh the index is if a sync cannot help or has nothing to do; None asks for one."""
        options, model = self._wanted.options, self._wanted.model
        is_fresh = self._opening.unchanged.holds(self._opening.registered, self._wanted)
        record_look_up("freshness", is_fresh)
        if is_fresh:
            return Freshness()
        shape = shape_verdict(catalogue, self._repository, options, model)
        if shape.staleness is not Staleness.equal:
            return Freshness(shape.message)
        self._found = list_files(self._repository, options, catalogue.files(self._repository.name))
        if not self._is_settled(catalogue, self._found):
            return None
        self._note(self._mark)
        return Freshness()

    def _is_settled(self, catalogue: Catalogue, found: Discovery) -> bool:
        """Whether opening the index for a sync, and the sync, would write nothing."""
        if not is_in_step(catalogue, self._repository.name, found):
            return False
        if catalogue.manifest().schema_version != SCHEMA_VERSION:
            return False
        if catalogue.chunks_version() and not catalogue.table.files():
            return False
        return not checked(self._directory, catalogue).restamped

    def sync(self) -> Freshness | None:
        """Sync within the time that the settings allow; None if the index may still be behind."""
        from asterism.indexing.lock import held_seconds, writer

        limit = self._opening.settings.index.sync_seconds
        patience = max(0.0, limit - held_seconds(self._directory))
        try:
            with suppress(IndexBusy), writer(self._directory, patience):
                listener = Listener(stop=lambda: time.monotonic() > self._began + limit)
                if not self._synced(listener).cancelled:
                    self._note(mark_of(self._directory))
                    return Freshness()
        except ProviderError as error:
            # The query can be answered all the same, from what the index has.
            return Freshness(str(error))
        except StorageFailed as error:
            # The same on a full or read-only disk; only files that are behind are reported.
            self._refused = f" {error}"
        return None

    def _synced(self, listener: Listener) -> SyncReport:
        from asterism.indexing.jobs import run_sync

        options = self._wanted.options
        found = self._listed()
        index = open_index(self._directory, self._opening.settings, self._opening.places)
        try:
            if found is None:
                # Another process has written since the tree was walked.
                self._began_ns = time.time_ns()
                known = index.catalogue.files(self._repository.name)
                found = list_files(self._repository, options, known)
            self._found = found
            with MeasuredOperation("sync") as done:
                report = run_sync(index, self._repository, options, listener, found=found)
                record_sync(report, done)
            index.adopt()
            return report
        finally:
            index.close()

    def freshness(self, catalogue: Catalogue) -> Freshness:
        """How far the index is behind after a sync that failed or was stopped."""
        options, model = self._wanted.options, self._wanted.model
        with without_deadline():
            verdict = index_verdict(catalogue, self._repository, options, model, self._listed())
        if verdict.staleness is Staleness.equal:
            return Freshness()
        return Freshness(f"{verdict.message}{self._refused}", verdict.behind)

    def _listed(self) -> Discovery | None:
        """The listing, unless the catalogue that it was compared with has changed since."""
        return self._found if self._mark == mark_of(self._directory) else None

    def _note(self, mark: Mark) -> None:
        """Remember that the index of this mark equals the files."""
        if self._found is not None:
            compared = Compared(self._began_ns, mark, self._found)
            self._opening.unchanged.note(self._opening.registered, self._wanted, compared)
