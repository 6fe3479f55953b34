"""Indexing through the façade: take the lock, rebuild if needed, sync, report the result."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from logging import WARNING
from pathlib import Path
from threading import Event
from typing import NamedTuple

from asterism.config.settings import Settings
from asterism.engine.status import watch_file
from asterism.engine.stores import DataDirectories, begin_index, open_index, sync_options, wipe
from asterism.indexing.index import OpenIndex
from asterism.indexing.jobs import add_to_record, run_sync
from asterism.indexing.lock import upgrader, writer
from asterism.indexing.plan import is_alive, options_hash, preview
from asterism.indexing.report import SILENT, Listener, Progress, SyncReport, SyncStage
from asterism.indexing.sync import masked_notes
from asterism.indexing.watcher import Outcome, Watched, Watcher, WatchState, save_watch
from asterism.indexing.write import spool_file
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.encoder_vectors import prune_encoder_vectors, remove_encoder_vectors
from asterism.store.registry import Registered, check_root
from asterism.store.replacement import BUILDING, remove_leftovers, take_place
from asterism.telemetry.events import log_event
from asterism.telemetry.meters import WATCH_EVENTS, WATCH_SYNCS
from asterism.types.errors import (
    IndexBusy,
    IndexCorrupt,
    IndexMissing,
    IndexOutdated,
    StorageFailed,
    StoreError,
)
from asterism.types.files import SkipReason
from asterism.types.index_states import without_advice

# How long removing a repository waits for a writer.
FORGET_SECONDS = 10.0

# Files left out for these reasons stay out whatever is written into them.
_BY_NAME = frozenset({SkipReason.gitignored, SkipReason.asterismignored, SkipReason.secret})


class ProjectMember(NamedTuple):
    """A repository of a project, with its settings."""

    registered: Registered
    settings: Settings


class BuildOptions(NamedTuple):
    """How an index is brought up to date."""

    listener: Listener = SILENT
    force: bool = False
    """Build everything anew, beside the old index and without reading it."""
    wait_seconds: float = -1
    """How long to wait for another writer; −1 waits without limit."""


def build(
    members: Sequence[ProjectMember], places: DataDirectories, options: BuildOptions
) -> SyncReport:
    """Bring the index of the first member up to date; the others share the index.

    A damaged index, or one too old to be migrated, is built anew for all members.
    """
    registered, settings = members[0]
    check_root(registered)
    directory, listener = registered.project.directory, options.listener
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def waiting(holder: str) -> None:
        listener.report(Progress(SyncStage.waiting, detail=holder))

    with writer(directory, options.wait_seconds, waiting):
        if options.force:
            return _rebuilt(members, places, listener)
        try:
            return _open_and_sync(registered, settings, places, listener)
        except IndexOutdated:
            return _rebuilt(members, places, listener)
        except IndexCorrupt as damage:
            log_event("damage", WARNING, index=registered.project.id, why=str(damage))
            report = _rebuilt(members, places, listener)
            return replace(report, warnings=(_rebuilt_after(damage), *report.warnings))


def cancel(registered: Registered) -> bool:
    """Ask the process that is indexing to stop; False if none is."""
    name, directory = registered.repository.name, registered.project.directory
    # An index that is built anew has its catalogue beside the old one's, which may be damaged.
    with suppress(StoreError), Catalogue.open(directory / BUILDING) as catalogue:
        job = catalogue.job(name)
        if job is not None and is_alive(job) and catalogue.request_cancel(name):
            return True
    with Catalogue.open(directory) as catalogue:
        job = catalogue.job(name)
        return job is not None and is_alive(job) and catalogue.request_cancel(name)


def watcher_of(
    registered: Registered,
    settings: Settings,
    sync: Callable[[], SyncReport],
    hear: Callable[[WatchState], None] | None = None,
    stop: Event | None = None,
) -> Watcher:
    """A watcher that syncs after changes, and records its state beside the index."""
    watched_so_far = WatchRecord()

    def record(state: WatchState) -> None:
        watched_so_far.add(state)
        save_watch(watch_file(registered), state)
        if hear is not None:
            hear(state)

    def left_out() -> list[str]:
        with Catalogue.open(registered.project.directory) as catalogue:
            entries = catalogue.skipped(registered.repository.name)
        return [
            entry.path for entry in entries if entry.path.endswith("/") or entry.reason in _BY_NAME
        ]

    watched = Watched(registered.repository.root, sync, left_out)
    return Watcher(watched, settings.watch.debounce_ms, record, stop or Event())


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


def forget(
    registered: Registered, settings: Settings, places: DataDirectories, alone: bool = False
) -> None:
    """Remove a repository's rows, or the whole index if the repository is `alone` in it."""
    directory = registered.project.directory
    if not directory.is_dir():
        return
    with writer(directory, FORGET_SECONDS):
        with suppress(OSError):
            spool_file(directory, registered.repository.name).unlink(missing_ok=True)
        if alone:
            wipe(directory)
            # A running upgrade ends because the index is gone.
            with suppress(IndexBusy), upgrader(directory, FORGET_SECONDS):
                remove_encoder_vectors(directory)
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
            # A running upgrade drops unneeded vectors by itself.
            with suppress(IndexBusy), upgrader(directory):
                prune_encoder_vectors(directory, set(index.catalogue.text_hashes()))
        finally:
            index.close()


def _drop_rows(index: OpenIndex, repo: str) -> None:
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
    registered: Registered, settings: Settings, places: DataDirectories, listener: Listener
) -> SyncReport:
    index = open_index(registered.project.directory, settings, places)
    try:
        report = _sync(index, registered, settings, listener)
        index.adopt()
        return report
    finally:
        index.close()


def _rebuilt(
    everything: Sequence[ProjectMember], places: DataDirectories, listener: Listener
) -> SyncReport:
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


def _rebuilt_after(damage: IndexCorrupt) -> str:
    """What was wrong, without the advice that was followed just now."""
    return f"{without_advice(str(damage))}. It was built again from the files of the repository."


def _sync(
    index: OpenIndex, registered: Registered, settings: Settings, listener: Listener
) -> SyncReport:
    repository = registered.repository
    options = sync_options(settings)
    stored = {known.name: known.root for known in index.catalogue.repositories()}
    if repository.name not in stored:
        index.catalogue.add_repository(repository, options_hash(options))
    masked: tuple[str, ...] = ()
    if index.catalogue.manifest().model != index.identity:
        from asterism.indexing.upgrade import reembed

        masked = masked_notes(reembed(index, listener), options)
    # Rows know where their files are, so those of a repository that moved are written again.
    moved = stored.get(repository.name, repository.root) != repository.root
    report = run_sync(index, repository, options, listener, moved)
    if moved and not report.cancelled:
        index.catalogue.set_root(repository.name, repository.root)
    if masked:
        add_to_record(index.catalogue, repository.name, masked)
    return replace(report, warnings=(*report.warnings, *masked), masked=(*report.masked, *masked))


class WatchRecord:
    """Counts what one watcher saw since it last told."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._events = 0

    def add(self, state: WatchState) -> None:
        """Count the events and the sync that a state tells of."""
        events, self._events = state.events - self._events, state.events
        WATCH_EVENTS.add(amount=events)
        WATCH_SYNCS.add(str(state.outcome))
        level = logging.WARNING if state.outcome == Outcome.failed else logging.DEBUG
        log_event("watch", level, events=events, outcome=state.outcome, sentence=state.sentence)
