"""The job of a sync as other processes see it, and whether an index is stale, and why."""

import errno
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from asterism.indexing.index import OpenIndex
from asterism.indexing.plan import SyncOptions, options_hash
from asterism.indexing.report import SILENT, Listener, Progress, SyncReport, SyncStage
from asterism.indexing.sync import preview, sync
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import SCHEMA_VERSION, changes_in_place
from asterism.types import index_states
from asterism.types.errors import AsterismError, StorageFailed, StoreError
from asterism.types.files import Discovery
from asterism.types.index import Job, JobKind, JobState, ModelIdentity, Repository, Staleness
from asterism.types.processes import process_exists

# How often the record is written and the wish to stop is looked for.
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
        "kept; make room or fix the permissions, then run the command again."
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


def is_alive(job: Job, exists: Callable[[int], bool] | None = None) -> bool:
    """Whether the process of a running job is still there."""
    return job.state == "running" and (exists or process_exists)(job.pid)


class IndexVerdict(NamedTuple):
    """A verdict and its message; files behind are counted where that is the reason."""

    staleness: Staleness
    message: str
    behind: int = 0


def judge(
    catalogue: Catalogue,
    repository: Repository,
    options: SyncOptions,
    model: ModelIdentity,
    found: Discovery | None = None,
) -> IndexVerdict:
    """Compare an index that can be opened with what is wanted now; the gravest reason counts.

    `found` is a listing that was made just now; without it the tree is walked.
    """
    verdict = judge_shape(catalogue, repository, options, model)
    if verdict.staleness is not Staleness.equal:
        return verdict
    content = _content(catalogue, repository, options, found)
    message = first_build(catalogue, repository)
    if not message and catalogue.pending(repository.name):
        message = index_states.run_stopped(content.behind)
    return IndexVerdict(Staleness.content, message, content.behind) if message else content


def first_build(catalogue: Catalogue, repository: Repository) -> str:
    """What to say of a first build that has not come to its end; nothing where it has."""
    job = catalogue.job(repository.name)
    if job is None or job.kind != "build" or job.state == "done":
        return ""
    said = index_states.being_built if is_alive(job) else index_states.build_stopped
    return said(repository.root, job)


def is_unfinished(catalogue: Catalogue, repository: Repository) -> bool:
    """Whether a run ended before everything was written, and none works on it."""
    job = catalogue.job(repository.name)
    if job is not None and is_alive(job):
        return False
    return bool(first_build(catalogue, repository) or catalogue.pending(repository.name))


def judge_shape(
    catalogue: Catalogue,
    repository: Repository,
    options: SyncOptions,
    model: ModelIdentity,
) -> IndexVerdict:
    """The same without a look at the files."""
    manifest = catalogue.manifest()
    if repository.name not in {known.name for known in catalogue.repositories()}:
        return IndexVerdict(Staleness.missing, index_states.not_indexed(repository.root))
    if not changes_in_place(manifest.schema_version):
        return IndexVerdict(
            Staleness.schema,
            f"The index has schema {manifest.schema_version}, this version writes "
            f"{SCHEMA_VERSION}: reindex needed. Search still works; run `asterism index`.",
        )
    if catalogue.options_hash(repository.name) != options_hash(options):
        return IndexVerdict(
            Staleness.options,
            "The index was made with other settings; run `asterism index` to read the files anew.",
        )
    if manifest.model != model:
        return IndexVerdict(
            Staleness.model,
            f"The vectors are of {manifest.model}; the settings ask for {model}. Run `asterism "
            "index` to embed everything anew, or set the model back.",
        )
    return IndexVerdict(Staleness.equal, index_states.UP_TO_DATE)


def _content(
    catalogue: Catalogue, repository: Repository, options: SyncOptions, found: Discovery | None
) -> IndexVerdict:
    ahead = preview(catalogue.files(repository.name), repository, options, found=found)
    behind = ahead.added + ahead.changed + ahead.removed
    if behind:
        message = index_states.files_behind(ahead.added, ahead.changed, ahead.removed)
        return IndexVerdict(Staleness.content, message, behind)
    return IndexVerdict(Staleness.equal, index_states.UP_TO_DATE)
