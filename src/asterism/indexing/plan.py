"""What a sync has to look at: a pure comparison of the disk's listing with the catalogue."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from typing import NamedTuple

from asterism.analysis.chunks.units import RECIPE_VERSION, ChunkOptions
from asterism.analysis.contents import READING_VERSION
from asterism.analysis.source.discovery import DiscoveryOptions
from asterism.disclosure.places import MaskingReport
from asterism.types.files import FoundFile
from asterism.types.index import FileState


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

    What decides which files count is left out: discovery shows its effect file by file.
    """
    shape = (READING_VERSION, RECIPE_VERSION, *astuple(options.chunks))
    return hashlib.blake2b(repr(shape).encode(), digest_size=16).hexdigest()


# File systems keep times as coarse as this. A file that was read so soon after its last change may
# have changed once more within the same tick, so its time proves nothing.
RACY_NS = 2_000_000_000


class Look(NamedTuple):
    """A file to open: with a known hash it is read further only if its content differs."""

    path: str
    known_hash: bytes | None = None


class Plan(NamedTuple):
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
) -> Plan:
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
    return Plan(tuple(new), tuple(suspect), removed, unchanged)


def is_racy(mtime_ns: int, scanned_ns: int) -> bool:
    """Whether a file may have changed after its scan without another time to show it."""
    return mtime_ns > scanned_ns - RACY_NS
