"""Indexing through the façade: take the lock, mend what is stale, sync, say what happened."""

import time
from contextlib import suppress
from typing import NamedTuple

from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.registry import Registered, check_root
from asterism.backends.store.second_store import prune_second, remove_second
from asterism.config.settings import Settings
from asterism.domain.deadlines import check_deadline, without_deadline
from asterism.domain.errors import (
    IndexBusy,
    IndexCorrupt,
    IndexMissing,
    ProviderError,
    StorageFailed,
    StoreError,
)
from asterism.domain.index import Staleness
from asterism.engine.observing import record_look_up, record_sync
from asterism.engine.unchanged import Unchanged, Wanted
from asterism.engine.wiring import Places, model_identity, open_index, sync_options, wipe
from asterism.indexing.index import Index
from asterism.indexing.jobs import run_sync
from asterism.indexing.lock import held_seconds, upgrader, writer
from asterism.indexing.options import options_hash
from asterism.indexing.progress import SILENT, Listener, Progress, Stage
from asterism.indexing.report import SyncReport
from asterism.indexing.staleness import judge, judge_shape
from asterism.indexing.sync import preview
from asterism.telemetry.operations import Operation

# How long removing a repository waits for whoever is writing.
FORGET_SECONDS = 10.0


def build(
    registered: Registered,
    settings: Settings,
    places: Places,
    listener: Listener = SILENT,
    force: bool = False,
    wait_seconds: float = -1,
) -> SyncReport:
    """Bring the index of a repository up to date; `force` reads and writes everything anew."""
    check_root(registered)
    directory = registered.project.directory
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def waiting(holder: str) -> None:
        listener.report(Progress(Stage.waiting, detail=holder))

    with writer(directory, wait_seconds, waiting):
        try:
            return _open_and_sync(registered, settings, places, listener, force)
        except IndexCorrupt:
            if not force:
                raise
            # Some damage shows only when the damaged part is used.
            wipe(directory)
            return _open_and_sync(registered, settings, places, listener, force)


class Freshness(NamedTuple):
    """How far the index is behind the files after the time a question may spend on it."""

    message: str = ""
    """What to tell whoever asked; nothing if all is fresh."""
    behind: int = 0


def refresh(
    registered: Registered,
    settings: Settings,
    places: Places,
    unchanged: Unchanged | None = None,
) -> Freshness:
    """Bring an index up to date before a question, within the time that the settings allow.

    Somebody who has just begun to write, as a watcher does after an edit, is waited for within that
    time. If the writing takes longer, or the index needs more than a sync, the answer says how
    things stand. A process that asks often gives `unchanged`, which spares it
    the sync where nothing has changed.
    """
    check_root(registered)
    options, model = sync_options(settings), model_identity(settings)
    wanted = Wanted(registered.repository.root, options, model)
    if unchanged is not None:
        is_fresh = unchanged.holds(registered, wanted)
        record_look_up("freshness", is_fresh)
        if is_fresh:
            return Freshness()
    # A sync ends by its own time, and not in the middle of what it writes.
    with without_deadline():
        found = _refreshed(registered, settings, places, unchanged, wanted)
    check_deadline()
    return found


def _refreshed(
    registered: Registered,
    settings: Settings,
    places: Places,
    unchanged: Unchanged | None,
    wanted: Wanted,
) -> Freshness:
    directory, repository = registered.project.directory, registered.repository
    options, model = wanted.options, wanted.model
    began_ns = time.time_ns()
    deadline = time.monotonic() + settings.index.sync_seconds
    with Catalogue.open(directory) as catalogue:
        shape = judge_shape(catalogue, repository, options, model)
    if shape.staleness is not Staleness.equal:
        return Freshness(shape.message)
    patience = max(0.0, settings.index.sync_seconds - held_seconds(directory))
    with suppress(IndexBusy), writer(directory, patience):
        index = open_index(directory, settings, places)
        try:
            listener = Listener(stop=lambda: time.monotonic() > deadline)
            with Operation("sync") as done:
                report = run_sync(index, repository, options, listener)
                record_sync(report, done)
            cancelled = report.cancelled
        except (ProviderError, StorageFailed) as error:
            # The question can be answered all the same, from what the index has.
            return Freshness(str(error))
        finally:
            index.close()
        if not cancelled:
            if unchanged is not None:
                unchanged.note(registered, wanted, began_ns, lambda: _closed(registered))
            return Freshness()
    with Catalogue.open(directory) as catalogue:
        found = judge(catalogue, repository, options, model)
    return Freshness(found.message, found.behind)


def _closed(registered: Registered) -> set[str]:
    """The directories that the listing does not enter."""
    with Catalogue.open(registered.project.directory) as catalogue:
        skipped = catalogue.skipped(registered.repository.name)
    return {entry.path for entry in skipped if entry.path.endswith("/")}


def dry_run(registered: Registered, settings: Settings, force: bool = False) -> SyncReport:
    """What `build` would do; nothing is written."""
    options = sync_options(settings)
    repository = registered.repository
    try:
        with Catalogue.open(registered.project.directory) as catalogue:
            known = catalogue.files(repository.name)
            if known and catalogue.options_hash(repository.name) != options_hash(options):
                force = True
    except (IndexMissing, IndexCorrupt):
        known = {}
    return preview(known, repository, options, force)


def forget(registered: Registered, settings: Settings, places: Places, alone: bool = False) -> None:
    """Remove a repository's rows; an index that holds nothing else goes whole, damaged or not."""
    directory = registered.project.directory
    if not directory.is_dir():
        return
    with writer(directory, FORGET_SECONDS):
        if alone:
            wipe(directory)
            # Who makes second vectors ends now that there is nothing to make them for.
            with suppress(IndexBusy), upgrader(directory, FORGET_SECONDS):
                remove_second(directory)
            return
        try:
            Catalogue.open(directory, writable=True).close()
            index = open_index(directory, settings, places)
        except (IndexBusy, StorageFailed):
            raise
        except StoreError:
            # It has to be built again in any case, and then without this repository.
            return
        try:
            _drop_rows(index, registered.repository.name)
            # Who makes second vectors just now drops those that nobody needs by itself.
            with suppress(IndexBusy), upgrader(directory):
                prune_second(directory, set(index.catalogue.text_hashes()))
        finally:
            index.close()


def _drop_rows(index: Index, repo: str) -> None:
    catalogue = index.catalogue
    if repo not in {known.name for known in catalogue.repositories()}:
        return
    versions = [state.version for state in catalogue.files(repo).values()]
    version = catalogue.chunks_version()
    if versions:
        table = index.table()
        table.delete(versions)
        version = table.version
    catalogue.remove_repository(repo, version)
    index.maintain()


def _open_and_sync(
    registered: Registered, settings: Settings, places: Places, listener: Listener, force: bool
) -> SyncReport:
    index = open_index(registered.project.directory, settings, places, force)
    try:
        return _sync(index, registered, settings, listener, force)
    finally:
        index.close()


def _sync(
    index: Index, registered: Registered, settings: Settings, listener: Listener, force: bool
) -> SyncReport:
    repository = registered.repository
    options = sync_options(settings)
    stored = {known.name: known.root for known in index.catalogue.repositories()}
    if repository.name not in stored:
        index.catalogue.add_repository(repository, options_hash(options))
    if index.catalogue.manifest().model != index.identity:
        from asterism.indexing.reembedding import reembed

        reembed(index, listener)
    # Rows know where their files are, so those of a repository that moved are written again.
    moved = stored.get(repository.name, repository.root) != repository.root
    report = run_sync(index, repository, options, listener, force or moved)
    if moved and not report.cancelled:
        index.catalogue.set_root(repository.name, repository.root)
    return report
