"""How much of a chunk table a process keeps; whoever only asks for it loads no vectors."""

from typing import NamedTuple

_FLOAT_BYTES = 4


class Limits(NamedTuple):
    """How much of a table may stay in memory."""

    matrix_bytes: int = 128 * 2**20
    """Vectors up to this size, 131,072 of 256 numbers, are loaded and compared one by one. That
    takes 0.9 ms for 28,000 rows and 3.4 for 112,000; Lance's index takes 5 and 11, and seconds to
    build. Loading takes a millisecond per thousand rows, for which a single question waits."""
    text_bytes: int = 128 * 2**20
    """Whole rows are kept up to this size; a row of 1.6 KB is usual, so 80,000 of them fit."""
    texts_from: int = 3
    """The reading from which whole rows are kept: loading them takes as long as ten readings from
    disk, for which a command that asks once would wait in vain."""
    chunks: int = 10_000
    """Chunks that are kept as they are given out, 4 KB each; a question reads some hundred."""

    def exact_rows(self, dimensions: int) -> int:
        """Up to how many rows every vector is compared."""
        return self.matrix_bytes // (_FLOAT_BYTES * max(dimensions, 1))


LIMITS = Limits()
