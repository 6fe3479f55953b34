"""Exact nearest rows of a matrix in memory, and a chunk table compared by encoder vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from asterism.store.chunk_table import (
    Boosts,
    ChunkKey,
    ChunkSnapshot,
    Match,
    Matrix,
    Rows,
    Source,
    Vector,
)
from asterism.types.index import Chunk, Entry
from asterism.types.search import NO_FILTER, Filter

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


class EncoderSnapshot:
    """Implements `ChunkSnapshot`: everything but vectors is the table's own."""

    def __init__(self, inner: ChunkSnapshot, vectors: Matrix) -> None:
        """`vectors` has a row for each row of the table, in the table's order.

        The caller makes sure that every row that is searched has a vector; others are zeros.
        """
        self._inner = inner
        self._vectors = vectors

    @property
    def version(self) -> int:
        """Which version this is."""
        return self._inner.version

    def count(self, where: Filter = NO_FILTER) -> int:
        """How many rows there are."""
        return self._inner.count(where)

    def nearest(self, vector: Vector, limit: int, where: Filter = NO_FILTER) -> list[Match]:
        """The rows closest to a vector, the filter applied first."""
        if limit < 1:
            return []
        return closest(self._candidates, vector, limit, self._inner.passing(where))

    def matching(
        self,
        terms: Sequence[str],
        limit: int,
        where: Filter = NO_FILTER,
        boosts: Boosts = Boosts(),  # noqa: B008 - immutable
    ) -> list[Match]:
        """The rows that contain any of the terms, by BM25 summed over the columns."""
        return self._inner.matching(terms, limit, where, boosts)

    def chunks(self, keys: Sequence[ChunkKey]) -> list[Chunk]:
        """The chunks of these keys that exist, in the keys' order, without vectors."""
        return self._inner.chunks(keys)

    def vectors(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, Vector]:
        """The vectors of those keys that exist."""
        return {key: self._vectors[self._places[key]] for key in keys if key in self._places}

    def scan(self, where: Filter = NO_FILTER) -> Iterator[Chunk]:
        """Every chunk that passes the filter, ordered by repository, path and place."""
        return self._inner.scan(where)

    def sources(self, where: Filter = NO_FILTER) -> Iterator[Source]:
        """The text of every chunk that passes the filter, in the order of `scan`."""
        return self._inner.sources(where)

    def entries(self, batch: int) -> Iterator[list[Entry]]:
        """Every row without its vector, in batches and in no particular order."""
        return self._inner.entries(batch)

    def rows(self) -> Rows:
        """What every row is called and made of; a row's place in it is what `texts` takes."""
        return self._inner.rows()

    def passing(self, where: Filter) -> NDArray[np.bool_] | None:
        """For every row whether it passes the filter; None where all do."""
        return self._inner.passing(where)

    def texts(self, places: Sequence[int]) -> list[str]:
        """The texts that were embedded, of the rows at these places and in their order."""
        return self._inner.texts(places)

    @cached_property
    def _candidates(self) -> Candidates:
        rows = self._inner.rows()
        return Candidates(rows.keys, rows.paths, self._vectors)

    @cached_property
    def _places(self) -> Mapping[ChunkKey, int]:
        return {key: at for at, key in enumerate(self._inner.rows().keys)}
