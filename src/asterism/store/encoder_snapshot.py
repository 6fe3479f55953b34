"""One version of the chunk table, compared by second vectors instead of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

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
from asterism.store.exact_search import Candidates, closest
from asterism.types.index import Chunk, Entry
from asterism.types.search import NO_FILTER, Filter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SecondSnapshot:
    """Implements `ChunkSnapshot`: everything but vectors is the table's own."""

    def __init__(self, inner: ChunkSnapshot, vectors: Matrix) -> None:
        """`vectors` has a row for each row of the table, in the table's order.

        Whoever asks sees to it that every row in question has a vector; the others are zeros.
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
