"""What shapes an index, and the hash by which a change of it is noticed."""

import hashlib
from dataclasses import astuple, dataclass, field

from asterism.analysis.chunks.options import RECIPE_VERSION, ChunkOptions
from asterism.analysis.reading import READING_VERSION
from asterism.analysis.source.discovery import DiscoveryOptions
from asterism.disclosure.places import MaskingReport


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
