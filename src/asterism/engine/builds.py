"""Indexing through the façade: take the lock, mend what is stale, sync, say what happened."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from logging import WARNING
from pathlib import Path
from typing import NamedTuple

from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.registry import Registered, check_root
from asterism.backends.store.replacement import remove_leftovers, take_place
from asterism.backends.store.second_store import prune_second, remove_second
from asterism.config.settings import Settings
from asterism.domain.deadlines import check_deadline, without_deadline
from asterism.domain.errors import (
    IndexBusy,
    IndexCorrupt,
    IndexMissing,
    IndexOutdated,
    ProviderError,
    StorageFailed,
    StoreError,
)
from asterism.domain.index import Staleness
from asterism.domain.index_states import not_indexed, without_advice
from asterism.engine.observing import record_look_up, record_sync
from asterism.engine.unchanged import Unchanged, Wanted
from asterism.engine.wiring import (
    Places,
    begin_index,
    model_identity,
    open_index,
    sync_options,
    wipe,
)
from asterism.indexing.index import Index
from asterism.indexing.jobs import add_to_record, run_sync
from asterism.indexing.lock import held_seconds, upgrader, writer
from asterism.indexing.options import options_hash
from asterism.indexing.progress import SILENT, Listener, Progress, Stage
from asterism.indexing.report import SyncReport
from asterism.indexing.spool import spool_file
from asterism.indexing.staleness import judge, judge_shape
from asterism.indexing.sync import masked_notes, preview
from asterism.telemetry.events import log_event
from asterism.telemetry.operations import Operation

# How long removing a repository waits for whoever is writing.
FORGET_SECONDS = 10.0


class Neighbour(NamedTuple):
    """Another repository of the project, which is indexed again where the index is built anew."""

    registered: Registered
    settings: Settings


def build(
    registered: Registered,
    settings: Settings,
    places: Places,
    listener: Listener = SILENT,
    force: bool = False,
    wait_seconds: float = -1,
    neighbours: Sequence[Neighbour] = (),
) -> SyncReport:
    """Bring the index of a repository up to date.

    With `force` everything is built anew, beside the old index and without reading it; so it is if
    the old one is damaged, or older than can be changed in place.
    """
    check_root(registered)
    directory = registered.project.directory
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def waiting(holder: str) -> None:
        listener.report(Progress(Stage.waiting, detail=holder))

    with writer(directory, wait_seconds, waiting):
        everything = (Neighbour(registered, settings), *neighbours)
        if force:
            return _rebuilt(everything, places, listener)
        try:
            return _open_and_sync(registered, settings, places, listener)
        except IndexOutdated:
            return _rebuilt(everything, places, listener)
        except IndexCorrupt as damage:
            log_event("damage", WARNING, index=registered.project.id, why=str(damage))
            report = _rebuilt(everything, places, listener)
            return replace(report, warnings=(_mended(damage), *report.warnings))


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
    try:
        with without_deadline():
            found = _refreshed(registered, settings, places, unchanged, wanted)
    except IndexMissing as error:
        raise IndexMissing(not_indexed(registered.repository.root)) from error
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
    refused = ""
    try:
        with suppress(IndexBusy), writer(directory, patience):
            listener = Listener(stop=lambda: time.monotonic() > deadline)
            if _is_synced(registered, settings, places, listener):
                if unchanged is not None:
                    unchanged.note(registered, wanted, began_ns, lambda: _closed(registered))
                return Freshness()
    except ProviderError as error:
        # The question can be answered all the same, from what the index has.
        return Freshness(str(error))
    except StorageFailed as error:
        # So it can on a full or read-only disk; only what is behind is worth telling.
        refused = f" {error}"
    with Catalogue.open(directory) as catalogue:
        found = judge(catalogue, repository, options, model)
    if found.staleness is Staleness.equal:
        return Freshness()
    return Freshness(f"{found.message}{refused}", found.behind)


def _is_synced(
    registered: Registered, settings: Settings, places: Places, listener: Listener
) -> bool:
    """Sync; False where it was stopped before its end."""
    index = open_index(registered.project.directory, settings, places)
    try:
        with Operation("sync") as done:
            report = run_sync(index, registered.repository, sync_options(settings), listener)
            record_sync(report, done)
        index.adopt()
        return not report.cancelled
    finally:
        index.close()


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
        with suppress(OSError):
            spool_file(directory, registered.repository.name).unlink(missing_ok=True)
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
    registered: Registered, settings: Settings, places: Places, listener: Listener
) -> SyncReport:
    index = open_index(registered.project.directory, settings, places)
    try:
        report = _sync(index, registered, settings, listener)
        index.adopt()
        return report
    finally:
        index.close()


def _rebuilt(everything: Sequence[Neighbour], places: Places, listener: Listener) -> SyncReport:
    """Build an index beside the old one, of which nothing is read, and put it in its place.

    The report is of the first repository; the others of the project are indexed with it.
    """
    (registered, settings), *others = everything
    directory = registered.project.directory
    index = begin_index(directory, settings, places)
    table, left = index.catalogue.table.name, []
    try:
        try:
            report = _sync(index, registered, settings, listener)
            for other in others:
                if report.cancelled:
                    break
                if Path(other.registered.repository.root).is_dir():
                    there = _sync(index, other.registered, other.settings, listener)
                    report = replace(report, cancelled=there.cancelled)
                else:
                    left.append(other.registered.repository.name)
        finally:
            index.close()
        if not report.cancelled:
            take_place(directory)
    finally:
        # What is left is the old index and what was not finished, or the new one and the old table.
        remove_leftovers(directory, _table_in_place(directory, table))
    if left:
        gone = f"Not indexed again, because their directories are gone: {', '.join(left)}."
        report = replace(report, warnings=(*report.warnings, gone))
    return replace(report, rebuilt=True)


def _table_in_place(directory: Path, built: str) -> str | None:
    """The table that the catalogue in its place names, as far as that can be told."""
    try:
        with Catalogue.open(directory) as catalogue:
            return catalogue.table.name
    except IndexMissing:
        return None
    except StoreError:
        # A damaged index keeps whatever table it has; only what was begun here goes.
        kept = sorted(path.name for path in directory.glob("chunks*.lance") if path.name != built)
        return kept[0] if kept else None


def _mended(damage: IndexCorrupt) -> str:
    """What was wrong, without the advice that was followed just now."""
    return f"{without_advice(str(damage))}. It was built again from the files of the repository."


def _sync(
    index: Index, registered: Registered, settings: Settings, listener: Listener
) -> SyncReport:
    repository = registered.repository
    options = sync_options(settings)
    stored = {known.name: known.root for known in index.catalogue.repositories()}
    if repository.name not in stored:
        index.catalogue.add_repository(repository, options_hash(options))
    masked: tuple[str, ...] = ()
    if index.catalogue.manifest().model != index.identity:
        from asterism.indexing.reembedding import reembed

        masked = masked_notes(reembed(index, listener), options)
    # Rows know where their files are, so those of a repository that moved are written again.
    moved = stored.get(repository.name, repository.root) != repository.root
    report = run_sync(index, repository, options, listener, moved)
    if moved and not report.cancelled:
        index.catalogue.set_root(repository.name, repository.root)
    if masked:
        add_to_record(index.catalogue, repository.name, masked)
    return replace(report, warnings=(*report.warnings, *masked), masked=(*report.masked, *masked))
