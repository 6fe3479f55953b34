"""What was read and waits to be written: in memory while it is small, then in a temporary file."""

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile

# Up to here everything stays in memory.
MEMORY_BYTES = 64_000_000


class Spool:
    """Blocks of bytes, given back in the order they came; gone with the process."""

    def __init__(self, directory: str | None = None) -> None:
        # The file has no name, so there is nothing to clean up after a crash.
        self._file = SpooledTemporaryFile(MEMORY_BYTES, dir=directory)  # noqa: SIM115
        self._blocks: list[tuple[int, int]] = []

    def put(self, block: bytes, weight: int) -> None:
        """Keep a block; its weight is what batches are measured by."""
        self._file.write(block)
        self._blocks.append((len(block), weight))

    def batches(self, weight: int) -> Iterator[list[bytes]]:
        """Every block, first come first served, in batches of about that weight."""
        self._file.seek(0)
        batch: list[bytes] = []
        held = 0
        for size, heavy in self._blocks:
            batch.append(self._file.read(size))
            held += heavy
            if held >= weight:
                yield batch
                batch, held = [], 0
        if batch:
            yield batch

    def close(self) -> None:
        """Let go of the memory or the file."""
        self._file.close()
