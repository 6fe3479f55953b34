"""The sync: list the files, read those that may have changed, write what differs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

from asterism.analysis.parallel import BATCH, in_parallel
from asterism.indexing.index import OpenIndex
from asterism.indexing.links import Neighbours, SyncChange, dependents
from asterism.indexing.plan import (
    Look,
    SyncOptions,
    SyncPlan,
    list_files,
    options_hash,
    plan_sync,
    skipped_of,
)
from asterism.indexing.read import (
    Gone,
    Outcome,
    ParsedFile,
    Read,
    Same,
    Where,
    no_collection,
    read_batch,
    read_packed,
    still_holds,
    unpack,
)
from asterism.indexing.report import SILENT, Listener, Progress, SyncAccount, SyncReport, SyncStage
from asterism.indexing.write import Spool, Writer, spool_of
from asterism.store.lance.process import give_back_at_once
from asterism.types.errors import Cancelled, StorageFailed
from asterism.types.files import Discovery
from asterism.types.index import Batch, FileState, Pending, Repository, Skipped, Staleness

# From here on building indexes takes so much memory that free memory is returned first.
ROOM_FROM_CHUNKS = 20_000

# From here on memory counts for more than a tenth of the time.
LARGE_FROM_FILES = 20_000


def sync(
    index: OpenIndex,
    repository: Repository,
    options: SyncOptions,
    listener: Listener = SILENT,
    anew: bool = False,
    found: Discovery | None = None,
) -> SyncReport:
    """Bring the rows of a repository up to date; the caller holds the writer's lock.

    With `anew` every file is read and written again, whatever the index knows. `found` is a
    listing that was made just now; without it the tree is walked.
    """
    started = time.monotonic()
    listener.hear(Progress(SyncStage.listing))
    known = index.catalogue.files(repository.name)
    shape = options_hash(options)
    reshaped = index.catalogue.options_hash(repository.name) != shape
    found = found or list_files(repository, options, known)
    plan = plan_sync(found.files, known, anew or reshaped)
    pending = index.catalogue.pending(repository.name)
    work = _Work(index, repository, options, listener, known, found, anew, reshaped, pending)
    try:
        work.carry_out(plan)
    except Cancelled:
        return work.report(plan, started, cancelled=True)
    if reshaped:
        index.catalogue.set_options_hash(repository.name, shape)
    return work.report(plan, started)


@dataclass
class _Work:
    """One sync under way: what it has seen so far."""

    index: OpenIndex
    repository: Repository
    options: SyncOptions
    listener: Listener
    known: dict[str, FileState]
    found: Discovery
    anew: bool
    reshaped: bool
    pending: list[Pending] = field(default_factory=list)
    """What a sync before this one left unfinished."""
    reads: dict[str, Read] = field(default_factory=dict)
    same: list[Same] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    unread: list[Skipped] = field(default_factory=list)
    reread: int = 0
    files_done: int = 0
    files_total: int = 0
    written: SyncAccount = field(default_factory=SyncAccount)

    def carry_out(self, plan: SyncPlan) -> None:
        """Read, follow the cascade, write; what waits to be written is never all in memory."""
        spool = spool_of(self.index, self.repository, self.options)
        if plan.looks or plan.removed or self.pending:
            try:
                self._change(plan, spool)
            except (OSError, StorageFailed):
                # The disk may be full, and then what waits there is in the way.
                spool.remove()
                raise
            except BaseException:
                spool.close()
                raise
        spool.remove()
        self.index.catalogue.replace_skipped(self.repository.name, self._skipped())

    def _change(self, plan: SyncPlan, spool: Spool) -> None:
        catalogue, repo = self.index.catalogue, self.repository.name
        around = Neighbours(catalogue, repo, self.known, self.options.chunks)
        self._read(self._taken_over(plan.looks, spool, around), spool, around)
        again = self._dependents(plan, around)
        while again:
            self.reread += len(again)
            self._read([Look(path) for path in again], spool, around)
            # They were unchanged when they were listed; one that is not has dependents of its own.
            again = [] if all(map(self._is_as_known, again)) else self._dependents(plan, around)
        removed = self._removed(plan)
        if self.reads or removed:
            # The rows of one batch quote files of another. If not all of them get there, the next
            # sync has to know whom to look at, even where nothing on disk has changed since.
            catalogue.set_pending(repo, self._promised())
            self._write(spool, removed, around)
        elif self.same:
            catalogue.commit(Batch(repo, catalogue.chunks_version(), touched=self._touched()))
        if self.pending or self.reads or removed:
            catalogue.set_pending(repo, [])

    def _dependents(self, plan: SyncPlan, around: Neighbours) -> list[str]:
        removed = self._removed(plan)
        lost = {*self.gone, *(entry.path for entry in self.unread)}
        around.settle(file.path for file in self.found.files if file.path not in lost)
        change = SyncChange(
            list(self.reads.values()), removed, self.known, self._disturbed(removed)
        )
        found = dependents(self.index.catalogue, self.repository.name, change, around)
        return sorted({*found, *self._owed(removed)})

    def _is_as_known(self, path: str) -> bool:
        return path in self.reads and self.reads[path].content_hash == self.known[path].content_hash

    def _promised(self) -> list[Pending]:
        versions = {path: state.version for path, state in self.known.items()}
        return [
            Pending(read.path, read.content_hash, versions.get(read.path, 0))
            for read in self.reads.values()
        ]

    def _disturbed(self, removed: Collection[str]) -> list[str]:
        """Files of an unfinished sync that no longer hold what it saw in them."""
        hashes = {path: state.content_hash for path, state in self.known.items()}
        hashes |= {read.path: read.content_hash for read in self.reads.values()}
        gone = {*removed, *self.gone}
        return [
            entry.path
            for entry in self.pending
            if entry.path in gone or hashes.get(entry.path) != entry.content_hash
        ]

    def _owed(self, removed: Collection[str]) -> list[str]:
        """Files that an unfinished sync read and did not write, and this one has not read yet."""
        done = {*removed, *self.reads}
        return [
            path
            for path, _, version in self.pending
            if path not in done and path in self.known and self.known[path].version == version
        ]

    def _taken_over(
        self, looks: Sequence[Look], spool: Spool, around: Neighbours
    ) -> Sequence[Look]:
        """Take over what a sync that was stopped has read; the files that are left to read."""
        if self.anew or not looks:
            return looks
        left = {look.path: look for look in looks}
        found = {file.path: file for file in self.found.files}
        for outcomes, block in spool.earlier():
            reads = [outcome for outcome in outcomes if isinstance(outcome, Read)]
            if all(
                read.path in left
                and left[read.path].known_hash != read.content_hash
                and still_holds(self.repository.root, read, found[read.path])
                for read in reads
            ):
                self._take(reads, around)
                spool.take(block)
                for read in reads:
                    del left[read.path]
        self.files_done = self.files_total = len(looks) - len(left)
        return list(left.values())

    def _read(self, looks: Sequence[Look], spool: Spool, around: Neighbours) -> None:
        """Read files in parallel; what is to be written waits in the spool."""
        where = Where(self.found.root, self.repository.name, self.options.chunks)
        self.files_total += len(looks)
        if len(looks) >= LARGE_FROM_FILES:
            give_back_at_once()
        few = len(looks) < self.options.parallel_from
        workers = 1 if few else min(self.options.workers, -(-len(looks) // BATCH))
        # Packed rows go to a file, where they survive a kill.
        read_some = read_batch if few and self._is_small(looks) else read_packed
        for packet in in_parallel(partial(read_some, where), looks, workers):
            self._take(packet.outcomes, around)
            if packet.rows:
                spool.put(packet)
            self.files_done += len(packet.outcomes)
            self.listener.report(Progress(SyncStage.reading, self.files_done, self.files_total))

    def _is_small(self, looks: Sequence[Look]) -> bool:
        """Whether the rows of these files may wait in memory as they are."""
        sizes = {file.path: file.size for file in self.found.files}
        return sum(sizes.get(look.path, 0) for look in looks) <= self.options.held_bytes

    def _take(self, outcomes: Sequence[Outcome], around: Neighbours) -> None:
        for outcome in outcomes:
            if isinstance(outcome, Read):
                self.reads[outcome.path] = outcome
                around.add(outcome)
            elif isinstance(outcome, Same):
                self.same.append(outcome)
            elif isinstance(outcome, Gone):
                self.gone.append(outcome.path)
            else:
                self.unread.append(outcome)

    def _removed(self, plan: SyncPlan) -> list[str]:
        """Known files that are no longer there, or can no longer be read as text."""
        lost = {*self.gone, *(entry.path for entry in self.unread)}
        return sorted({*plan.removed, *(lost & self.known.keys())})

    def _touched(self) -> list[FileState]:
        return [
            self.known[same.path]._replace(
                size=same.size,
                mtime_ns=same.mtime_ns,
                ctime_ns=same.ctime_ns,
                scanned_ns=same.scanned_ns,
            )
            for same in self.same
        ]

    def _write(self, spool: Spool, removed: Sequence[str], around: Neighbours) -> None:
        anew = self.anew or self.reshaped
        writer = Writer(
            self.index, self.repository.name, self.known, around, self.options.chunks, anew
        )
        self.written = writer.account
        if not self.known:
            self.index.catalogue.begin_bulk()
        # What went and what was merely touched needs no reading: it is committed first.
        writer.write([], removed, self._touched())
        self._write_batches(writer, spool)
        if not self.known:
            self.index.catalogue.end_bulk()
        # The exported signatures are not needed any more; building indexes needs the memory.
        around.forget()
        self.reads = {path: read.bare for path, read in self.reads.items()}
        if writer.account.wrote:
            # Anew means the indexes too: one of them may be what is damaged.
            self.index.maintain(self.anew, writer.account.chunks >= ROOM_FROM_CHUNKS)

    def _write_batches(self, writer: Writer, spool: Spool) -> None:
        done, total = 0, len(self.reads)
        for blocks in spool.batches(self.options.batch_bytes):
            with no_collection():
                rows = [rows for block in blocks for rows in unpack(block)]
                writer.write([ParsedFile(self.reads[entry.path], entry) for entry in rows])
            done += len(rows)
            self.listener.report(Progress(SyncStage.writing, done, total, writer.account.chunks))
        self.listener.hear(Progress(SyncStage.finishing, done, total, writer.account.chunks))

    def _skipped(self) -> list[Skipped]:
        return sorted([*skipped_of(self.found), *self.unread])

    def report(self, plan: SyncPlan, started: float, cancelled: bool = False) -> SyncReport:
        """The account of what was done."""
        account = self.written
        states = self.index.catalogue.files(self.repository.name) if account.wrote else self.known
        written = [read for read in self.reads.values() if read.path in states]
        changed = [
            read.path
            for read in written
            if read.path in self.known and self.known[read.path].content_hash != read.content_hash
        ]
        masked = masked_notes(account, self.options)
        return SyncReport(
            before=self._before(plan),
            files=len(states),
            added=sum(read.path not in self.known for read in written),
            changed=len(changed),
            removed=len(self.known.keys() - states.keys()),
            touched=len(self.same),
            unchanged=plan.unchanged,
            parsed=len(self.reads),
            reread=self.reread,
            chunks_written=account.chunks,
            chunks_total=sum(state.chunks for state in states.values()),
            embedded=account.embedded,
            cached=account.cached,
            reused=account.reused,
            skipped=dict(Counter(entry.reason for entry in self._skipped())),
            unread=tuple(entry.path for entry in self.unread),
            warnings=(*self.index.warnings, *masked),
            masked=masked,
            cancelled=cancelled,
            seconds=time.monotonic() - started,
        )

    def _before(self, plan: SyncPlan) -> Staleness:
        if not self.known:
            return Staleness.missing
        if self.reshaped:
            return Staleness.options
        return Staleness.content if plan.looks or plan.removed else Staleness.equal


def masked_notes(account: SyncAccount, options: SyncOptions) -> tuple[str, ...]:
    """What was masked in texts for an embedding server, as the user wants to read it."""
    return tuple(account.masked.note("the embedding server", options.masking_report))
