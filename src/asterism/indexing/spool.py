"""What was read and waits to be written: in memory while it is small, then in a temporary file."""

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile

from asterism.indexing.reading import Rows

# Up to here everything stays in memory.
MEMORY_BYTES = 64_000_000


class Spool:
    """Blocks of rows, given back in the order they came; gone with the process.

    Packed ones are written to the file, the others stay as they are.
    """

    def __init__(self, directory: str | None = None) -> None:
        # The file has no name, so there is nothing to clean up after a crash.
        self._file = SpooledTemporaryFile(MEMORY_BYTES, dir=directory)  # noqa: SIM115
        self._blocks: list[tuple[list[Rows] | int, int]] = []

    def put(self, block: list[Rows] | bytes, weight: int) -> None:
        """Keep a block; its weight is what batches are measured by."""
        if isinstance(block, bytes):
            self._file.write(block)
            self._blocks.append((len(block), weight))
        else:
            self._blocks.append((block, weight))

    def batches(self, weight: int) -> Iterator[list[list[Rows] | bytes]]:
        """Every block, first come first served, in batches of about that weight."""
        self._file.seek(0)
        batch: list[list[Rows] | bytes] = []
        held = 0
        # Taken off as they are given away: rows that are written need no room.
        self._blocks.reverse()
        while self._blocks:
            kept, heavy = self._blocks.pop()
            batch.append(self._file.read(kept) if isinstance(kept, int) else kept)
            held += heavy
            if held >= weight:
                yield batch
                batch, held = [], 0
        if batch:
            yield batch

    def close(self) -> None:
        """Let go of the memory or the file."""
        self._file.close()
