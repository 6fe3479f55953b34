"""Runs a sync and keeps its job in the catalogue, where other processes see and cancel it."""

import errno
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from asterism.indexing.index import OpenIndex
from asterism.indexing.plan import SyncOptions
from asterism.indexing.report import SILENT, Listener, Progress, SyncReport, SyncStage
from asterism.indexing.sync import sync
from asterism.store.catalogue.catalogue import Catalogue
from asterism.types.errors import AsterismError, StorageFailed, StoreError
from asterism.types.files import Discovery
from asterism.types.index import Job, JobKind, JobState, Repository

# How often the record is written and a request to stop is looked for.
RECORD_SECONDS = 0.5


def run_sync(
    index: OpenIndex,
    repository: Repository,
    options: SyncOptions,
    listener: Listener = SILENT,
    anew: bool = False,
    found: Discovery | None = None,
) -> SyncReport:
    """Sync and keep the record; a sync that finds nothing to do leaves the last one as it is."""
    record = _Record(index.catalogue, repository.name, listener)
    try:
        report = sync(index, repository, options, record.listener(), anew, found)
    except OSError as error:
        failure = _storage_failure(error, index)
        record.close("failed", str(failure))
        raise failure from error
    except AsterismError as error:
        record.close("failed", str(error))
        raise
    except KeyboardInterrupt:
        record.close("cancelled", "Interrupted; what was written is kept. Run it again to go on.")
        raise
    said = (report.sentence, *report.masked)
    record.close("cancelled" if report.cancelled else "done", " ".join(said))
    return report


def add_to_record(catalogue: Catalogue, repo: str, sentences: Sequence[str]) -> None:
    """Add sentences to the record of the last sync."""
    job = catalogue.job(repo)
    if job is not None:
        said = " ".join((job.sentence, *sentences))
        catalogue.save_job(repo, job._replace(sentence=said))


def _storage_failure(error: OSError, index: OpenIndex) -> StorageFailed:
    why = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        why = "the disk is full"
    return StorageFailed(
        f"The index in {index.directory} could not be written: {why}. What was committed is "
        "kept; free disk space or fix the permissions, then run the command again."
    )


@dataclass
class _Record:
    """The job of one repository in its catalogue, written now and then."""

    catalogue: Catalogue
    repo: str
    outer: Listener
    started: float = 0.0
    job: Job | None = None
    _written: float = 0.0
    _stop: bool = False

    def listener(self) -> Listener:
        """One that keeps the record and hands everything on."""
        return Listener(self._hear, self._stopped)

    def close(self, state: JobState, sentence: str) -> None:
        """Say how it ended, if it ever began."""
        if self.job is None:
            return
        # What ended the job may be the disk, and then the record cannot be written either.
        with suppress(StoreError):
            self._save(self.job._replace(state=state, sentence=sentence))

    def _hear(self, progress: Progress) -> None:
        self.outer.hear(progress)
        if progress.stage in (SyncStage.waiting, SyncStage.listing):
            return
        now = time.time()
        if self.job is None:
            last = self.catalogue.job(self.repo)
            # What goes on with a first build is still the first build.
            is_first = last is None or (last.kind == "build" and last.state != "done")
            kind: JobKind = "build" if is_first else "sync"
            self.job = Job(kind, "running", os.getpid(), now, now)
        self.job = self.job._replace(
            files_done=progress.files_done,
            files_total=progress.files_total,
            chunks_done=max(progress.chunks_done, self.job.chunks_done),
        )
        if abs(now - self._written) >= RECORD_SECONDS:
            # Saved first, which takes away a request that a killed job left behind.
            self._save(self.job)
            self._stop = self.catalogue.cancel_requested(self.repo)

    def _save(self, job: Job) -> None:
        self._written = time.time()
        self.catalogue.save_job(self.repo, job._replace(updated=self._written))

    def _stopped(self) -> bool:
        return self._stop or self.outer.stop()
