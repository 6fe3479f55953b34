"""What a process keeps of one version of the chunk table: names, vectors, then whole rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from asterism.store.chunk_table import ChunkKey, Matrix
from asterism.store.lance.schema import (
    CHUNK_COLUMNS,
    Arrow,
    Dataset,
    chunks_of,
    matrix_of,
)
from asterism.store.limits import Limits
from asterism.store.resident_rows import (
    MOST_FRESH,
    Places,
    Texts,
    places_before,
    texts_with,
)
from asterism.types.chunk import Chunk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH_ROWS = 4_096
_NAME_COLUMNS = ("repo", "id", "relative_path")


class Names(NamedTuple):
    """What the rows are called, in the order in which they are stored."""

    keys: Sequence[ChunkKey]
    paths: Sequence[str]


class Resident:
    """Loads what is asked for and keeps it, within the limits."""

    def __init__(self, dataset: Dataset, limits: Limits, before: Resident | None = None) -> None:
        """Keep rows of this dataset, which stays at its version.

        `before` has what was kept of another version; rows that are in both are taken from it.
        """
        self._dataset = dataset
        self._limits = limits
        # One that never came to load anything hands on what it was to take over.
        self._before: Resident | None
        self._before = before if before is None or before.has_names else before._before
        self._readings = 0
        self._texts: Texts | None = None
        self._chunks: dict[int, Chunk] = {}
        self._lock = Lock()

    @property
    def has_names(self) -> bool:
        """Whether the names are here already."""
        return "names" in self.__dict__

    @cached_property
    def names(self) -> Names:
        """Every row's key and path."""
        before, self._before = self._before, None
        if before is not None and (names := self._take_over(before)) is not None:
            return names
        return _names_of(self._dataset.to_table(columns=list(_NAME_COLUMNS)))

    @cached_property
    def vectors(self) -> Matrix:
        """Every row's vector, in the order of the names."""
        return matrix_of(self._dataset.to_table(columns=["vector"])["vector"])

    @cached_property
    def numbers(self) -> NDArray[np.uint64]:
        """What Lance calls each row by, in the order of the names."""
        numbers: NDArray[np.uint64]
        numbers = self._dataset.to_table(columns=[], with_row_id=True)["_rowid"].to_numpy()
        return numbers

    @cached_property
    def places(self) -> dict[ChunkKey, int]:
        """Where a key's row is among the names."""
        return {key: at for at, key in enumerate(self.names.keys)}

    def places_of(self, numbers: NDArray[np.uint64]) -> list[int]:
        """Where rows are that Lance calls by their numbers."""
        import numpy as np

        order, ordered = self._by_number
        places: list[int] = order[np.searchsorted(ordered, numbers)].tolist()
        return places

    def rows(self, places: Sequence[int], columns: Sequence[str] = CHUNK_COLUMNS) -> Arrow:
        """Rows in the order of the places, from memory where they are, else from disk."""
        import numpy as np

        if self._texts is not None:
            return self._texts.take(np.asarray(places, dtype=np.int64), list(columns))
        return self._dataset.take(list(places), columns=list(columns))

    def chunks(self, places: Sequence[int]) -> list[Chunk]:
        """The chunks at these places, in their order."""
        found = {at: chunk for at in places if (chunk := self._chunks.get(at)) is not None}
        missing = [at for at in dict.fromkeys(places) if at not in found]
        if missing:
            read = dict(zip(missing, chunks_of(self._read_again(missing)), strict=True))
            found |= read
            with self._lock:
                self._chunks |= read
                while len(self._chunks) > self._limits.chunks:
                    del self._chunks[next(iter(self._chunks))]
        return [found[at] for at in places]

    def _read_again(self, places: Sequence[int]) -> Arrow:
        """Whole rows; after a few readings all of them are loaded at once."""
        self._readings += 1
        if self._texts is None and self._readings == self._limits.texts_from:
            self._texts = self._load_texts()
        return self.rows(places)

    @cached_property
    def _by_number(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        import numpy as np

        order = np.argsort(self.numbers, kind="stable")
        return order, self.numbers[order]

    def _take_over(self, before: Resident) -> Names | None:
        """Have what another version has of the same rows, and read the others."""
        import numpy as np

        old = places_before(self._dataset, self.numbers, before._dataset, before.numbers)
        fresh = np.flatnonzero(old < 0)
        if not len(old) or len(fresh) > MOST_FRESH * len(old):
            return None
        columns = [*CHUNK_COLUMNS, "vector"]
        if len(fresh):
            rows = self._dataset.take(fresh.tolist(), columns=columns)
        else:
            rows = self._dataset.schema.empty_table().select(columns)
        if "vectors" in before.__dict__:
            vectors = before.vectors[np.maximum(old, 0)]
            vectors[fresh] = matrix_of(rows["vector"])
            self.vectors = vectors
        if before._texts is not None:
            self._texts = texts_with(before._texts, old, rows, self._limits.text_bytes)
        new = np.full(len(before.names.keys), -1, dtype=np.int64)
        new[old[old >= 0]] = np.flatnonzero(old >= 0)
        moved = new.tolist()
        kept = [*before._chunks.items()]
        self._chunks = {moved[at]: chunk for at, chunk in kept if moved[at] >= 0}
        return _merged(before.names, old, _names_of(rows))

    def _load_texts(self) -> Texts | None:
        """Load every row; nothing is kept if they turn out to be too much."""
        import numpy as np
        import pyarrow as pa

        batches, size = [], 0
        scanner = self._dataset.scanner(columns=list(CHUNK_COLUMNS), batch_size=_BATCH_ROWS)
        for batch in scanner.to_batches():
            size += batch.nbytes
            if size > self._limits.text_bytes:
                return None
            batches.append(batch)
        if not batches:
            return None
        rows = pa.Table.from_batches(batches).combine_chunks()
        return Texts(rows, np.arange(rows.num_rows))


def _names_of(rows: Arrow) -> Names:
    keys = [*map(ChunkKey, rows["repo"].to_pylist(), rows["id"].to_pylist())]
    return Names(keys, rows["relative_path"].to_pylist())


def _merged(before: Names, old: Places, fresh: Names) -> Names:
    """The names of rows that were there before, and in their places those that were not."""
    places, keys, paths = old.tolist(), iter(fresh.keys), iter(fresh.paths)
    return Names(
        [before.keys[at] if at >= 0 else next(keys) for at in places],
        [before.paths[at] if at >= 0 else next(paths) for at in places],
    )
