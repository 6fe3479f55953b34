"""Exact nearest rows of a matrix that is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from asterism.store.chunk_table import ChunkKey, Match, Matrix, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Candidates(NamedTuple):
    """Rows that may be found, each with its key, path and vector."""

    keys: Sequence[ChunkKey]
    paths: Sequence[str]
    vectors: Matrix


def distances(vectors: Matrix, vector: Vector) -> Vector:
    """The distance 2 − 2·cosine of each row to a vector; all of them are unit vectors."""
    import numpy as np

    # A product of matrices would wake the threads of BLAS, which then spin: 10 ms of CPU at any
    # size on a busy machine, where this takes 0.03 per thousand rows. Nor does a row's distance
    # depend here on where the row is.
    cosines: Vector = np.vecdot(vectors, np.asarray(vector, dtype=np.float32))
    clipped: Vector = np.clip(2.0 - 2.0 * cosines, 0.0, 4.0)
    return clipped


def closest(
    rows: Candidates, vector: Vector, limit: int, allowed: NDArray[np.bool_] | None = None
) -> list[Match]:
    """The nearest rows in order; rows equally far are in the order of their keys."""
    import numpy as np

    found = distances(rows.vectors, vector)
    numbers = np.arange(len(found)) if allowed is None else np.flatnonzero(allowed)
    if len(numbers) > limit > 0:
        # All rows as far as the last one that fits stay, so that the keys decide between them.
        last = np.partition(found[numbers], limit - 1)[limit - 1]
        numbers = numbers[found[numbers] <= last]
    matches = [Match(rows.keys[at], rows.paths[at], float(found[at])) for at in numbers.tolist()]
    return sorted(matches, key=lambda match: (match.score, match.key))[:limit]
