"""What a sync has to do: the listing compared with the catalogue, and why an index is stale."""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field
from typing import NamedTuple

from asterism.analysis.chunks.units import READING_VERSION, RECIPE_VERSION, ChunkOptions
from asterism.analysis.source.discovery import DiscoveryOptions, discover
from asterism.analysis.source.text import read
from asterism.analysis.syntax.language import missing_grammars
from asterism.disclosure.places import MaskingReport
from asterism.indexing.report import SyncReport
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import SCHEMA_VERSION, changes_in_place
from asterism.types import index_states
from asterism.types.errors import InputError
from asterism.types.files import Discovery, FoundFile
from asterism.types.index import FileState, Job, ModelIdentity, Repository, Skipped, Staleness
from asterism.types.processes import process_exists


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions:
    """How a repository is read, and how much is held at once."""

    discovery: DiscoveryOptions = field(default_factory=DiscoveryOptions)
    chunks: ChunkOptions = field(default_factory=ChunkOptions)
    workers: int = 1
    batch_bytes: int = 1_000_000
    """Source in one committed batch: what a crash may cost, and what memory holds at once."""
    held_bytes: int = 8_000_000
    """Source whose rows may wait in memory unpacked: some seventy times as much there."""
    parallel_from: int = 96
    """Fewer files are read in this process: starting others costs as much as reading these."""
    masking_report: MaskingReport = MaskingReport.counts
    """What the report says of tokens that were masked in texts for an embedding server."""


def options_hash(options: SyncOptions) -> str:
    """Equal for options that make equal rows of equal files.

    What decides which files count is left out: discovery shows its effect file by file. A grammar
    that is installed later changes the rows of its files.
    """
    missing = tuple(entry.key for entry in missing_grammars())
    shape = (READING_VERSION, RECIPE_VERSION, *astuple(options.chunks), *missing)
    return hashlib.blake2b(repr(shape).encode(), digest_size=16).hexdigest()


# File systems keep times as coarse as this. A file that was read so soon after its last change may
# have changed once more within the same tick, so its time proves nothing.
RACY_NS = 2_000_000_000


class Look(NamedTuple):
    """A file to open: with a known hash it is read further only if its content differs."""

    path: str
    known_hash: bytes | None = None


class SyncPlan(NamedTuple):
    """Which files to open, which are gone, and how many need nothing."""

    new: tuple[Look, ...]
    suspect: tuple[Look, ...]
    """Known files whose size or one of whose times differs, or whose times prove nothing."""
    removed: tuple[str, ...]
    unchanged: int

    @property
    def looks(self) -> tuple[Look, ...]:
        """Every file to open."""
        return self.new + self.suspect


def plan_sync(
    found: Iterable[FoundFile], known: Mapping[str, FileState], anew: bool = False
) -> SyncPlan:
    """Compare; with `anew` every file is read again whatever is known of it."""
    new: list[Look] = []
    suspect: list[Look] = []
    unchanged = 0
    there: set[str] = set()
    for path, size, mtime_ns, ctime_ns in found:
        there.add(path)
        state = known.get(path)
        if state is None:
            new.append(Look(path))
        elif anew:
            suspect.append(Look(path))
        elif (state.size, state.mtime_ns, state.ctime_ns) != (size, mtime_ns, ctime_ns) or is_racy(
            state.mtime_ns, state.scanned_ns
        ):
            suspect.append(Look(path, state.content_hash))
        else:
            unchanged += 1
    removed = tuple(sorted(known.keys() - there))
    return SyncPlan(tuple(new), tuple(suspect), removed, unchanged)


def is_racy(mtime_ns: int, scanned_ns: int) -> bool:
    """Whether a file may have changed after its scan without another time to show it."""
    return mtime_ns > scanned_ns - RACY_NS


def content_hash(data: bytes) -> bytes:
    """What tells two contents of a file apart."""
    return hashlib.sha256(data).digest()


def differs(root: str, look: Look) -> bool:
    """Whether a file holds something else than what is known of it."""
    if look.known_hash is None:
        return True
    try:
        return content_hash(read(f"{root}/{look.path}")) != look.known_hash
    except InputError:
        return True


def preview(
    known: dict[str, FileState],
    repository: Repository,
    options: SyncOptions,
    anew: bool = False,
    found: Discovery | None = None,
) -> SyncReport:
    """What a sync would do; nothing is written. `found` is a listing that was made just now."""
    started = time.monotonic()
    found = found or list_files(repository, options, known)
    plan = plan_sync(found.files, known, anew)
    changed = sum(differs(repository.root, look) for look in plan.suspect)
    return SyncReport(
        before=Staleness.content if known else Staleness.missing,
        files=len(found.files),
        added=len(plan.new),
        changed=changed,
        touched=len(plan.suspect) - changed,
        removed=len(plan.removed),
        unchanged=plan.unchanged,
        skipped={reason.value: count for reason, count in found.counts.items()},
        dry_run=True,
        seconds=time.monotonic() - started,
    )


def is_in_step(catalogue: Catalogue, repo: str, found: Discovery) -> bool:
    """Whether a sync of this listing would read no file and write nothing."""
    plan = plan_sync(found.files, catalogue.files(repo))
    if plan.looks or plan.removed or catalogue.pending(repo):
        return False
    return catalogue.has_skipped(repo, sorted(skipped_of(found)))


def skipped_of(found: Discovery) -> list[Skipped]:
    """The skipped paths of a listing as the catalogue keeps them."""
    return [Skipped(entry.path, entry.reason.value, entry.detail) for entry in found.skipped]


def list_files(
    repository: Repository, options: SyncOptions, known: dict[str, FileState]
) -> Discovery:
    """Walk the tree once; files that are known with the same size and times are not opened."""
    return discover(repository.root, options.discovery, {*map(as_found, known.values())})


def as_found(state: FileState) -> FoundFile:
    """A file as the listing found it when it was indexed."""
    return FoundFile(state.path, state.size, state.mtime_ns, state.ctime_ns)


def is_alive(job: Job, exists: Callable[[int], bool] | None = None) -> bool:
    """Whether the process of a running job is still there."""
    return job.state == "running" and (exists or process_exists)(job.pid)


class IndexVerdict(NamedTuple):
    """A verdict and its message; files behind are counted where that is the reason."""

    staleness: Staleness
    message: str
    behind: int = 0


def index_verdict(
    catalogue: Catalogue,
    repository: Repository,
    options: SyncOptions,
    model: ModelIdentity,
    found: Discovery | None = None,
) -> IndexVerdict:
    """Compare an index that can be opened with what is wanted now; the gravest reason counts.

    `found` is a listing that was made just now; without it the tree is walked.
    """
    verdict = shape_verdict(catalogue, repository, options, model)
    if verdict.staleness is not Staleness.equal:
        return verdict
    content = _content(catalogue, repository, options, found)
    message = first_build(catalogue, repository)
    if not message and catalogue.pending(repository.name):
        message = index_states.run_stopped(content.behind)
    return IndexVerdict(Staleness.content, message, content.behind) if message else content


def first_build(catalogue: Catalogue, repository: Repository) -> str:
    """The message about a first build that has not finished; empty if it has."""
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


def shape_verdict(
    catalogue: Catalogue, repository: Repository, options: SyncOptions, model: ModelIdentity
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
            "The index was made with other settings or by an earlier version: reindex needed. "
            "Search still works; run `asterism index`.",
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
