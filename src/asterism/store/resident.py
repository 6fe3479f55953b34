"""What a process keeps of one version of the chunk table: names, vectors, then whole rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from asterism.store.chunk_table import ChunkKey, Matrix, MemoryLimits
from asterism.store.lance.schema import CHUNK_COLUMNS, Arrow, Dataset, chunks_of, matrix_of
from asterism.store.table_files import manifest_name
from asterism.types.index import Chunk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DataFile(NamedTuple):
    """One file of a fragment."""

    name: str
    size: int
    """Bytes that it has to have; 0 where the table does not say."""


def data_files(dataset: Dataset) -> dict[int, tuple[DataFile, ...]]:
    """The files of every fragment, by its number.

    Lance makes a class whenever a file's `path` is asked for: eight objects that only the collector
    of cycles can free, some hundred with every edit. The field behind it has no such cost.
    """
    return {
        fragment.fragment_id: tuple(
            DataFile(file._path, file.file_size_bytes or 0) for file in fragment.metadata.files
        )
        for fragment in dataset.get_fragments()
    }


def index_folders(dataset: Dataset) -> set[DataFile]:
    """The directory of every part of an index, with the bytes that are to be in it."""
    return {
        DataFile(f"_indices/{segment.uuid}", segment.size_bytes or 0)
        for index in dataset.describe_indices()
        for segment in index.segments
    }


def version_files(dataset: Dataset, path: Path) -> Sequence[str]:
    """Every file that the dataset's version needs: rows, deletions, indexes, its manifest."""
    return sorted({*_named(dataset, path)})


def _named(dataset: Dataset, path: Path) -> Iterator[str]:
    version = int(dataset.version)
    yield f"_versions/{manifest_name(version)}"
    yield from (
        f"_transactions/{file.name}" for file in (path / "_transactions").glob(f"{version - 1}-*")
    )
    for files in data_files(dataset).values():
        yield from (f"data/{file.name}" for file in files)
    for fragment in dataset.get_fragments():
        deletion = fragment.metadata.deletion_file
        if deletion is not None:
            yield str(deletion.path(fragment.fragment_id))
    for index in dataset.describe_indices():
        for segment in index.segments:
            folder = path / "_indices" / str(segment.uuid)
            yield from (f"_indices/{folder.name}/{file.name}" for file in folder.iterdir())


MOST_FRESH = 0.25
"""With a larger share of new rows everything is loaded anew, which is as quick."""
_MOST_PIECES = 16
"""Of how many tables the texts may be put together before they are loaded anew in one piece."""
_MOST_LEFT = 1.25
"""Rows that texts may have for each one that is still there."""
_FRAGMENT_BITS = 32

Numbers: TypeAlias = "NDArray[np.uint64]"
Places: TypeAlias = "NDArray[np.int64]"


class Texts(NamedTuple):
    """Whole rows without vectors, and in which of them each place's row is."""

    rows: Arrow
    at: Places

    def take(self, places: Places, columns: list[str]) -> Arrow:
        """The rows at these places."""
        return self.rows.select(columns).take(self.at[places])


def places_before(dataset: Dataset, numbers: Numbers, before: Dataset, known: Numbers) -> Places:
    """For each row its place in the version before, or −1.

    `numbers` and `known` are what Lance calls the rows of the two versions by. A number names a
    fragment and a row in it, and is only worth something where the fragment has the same files:
    files are never changed, and no name is used twice, not even by a table that is built anew.
    """
    import numpy as np

    shared = data_files(dataset).items() & data_files(before).items()
    fragments = np.fromiter((number for number, _ in shared), dtype=np.uint64)
    order = np.argsort(known, kind="stable")
    if not len(order):
        return np.full(len(numbers), -1, dtype=np.int64)
    nearest = np.minimum(np.searchsorted(known[order], numbers), len(order) - 1)
    same = (known[order][nearest] == numbers) & np.isin(numbers >> _FRAGMENT_BITS, fragments)
    return np.where(same, order[nearest], -1).astype(np.int64)


def texts_with(before: Texts, old: Places, fresh: Arrow, most_bytes: int) -> Texts | None:
    """The texts of the version before with those of new rows behind them; nothing is copied.

    None where too much would be kept that is needed no more.
    """
    import numpy as np
    import pyarrow as pa

    rows = pa.concat_tables([before.rows, fresh.select(list(CHUNK_COLUMNS))])
    if (
        rows.num_rows > _MOST_LEFT * len(old)
        or rows["id"].num_chunks > _MOST_PIECES
        or rows.nbytes > most_bytes
    ):
        return None
    at = before.at[np.maximum(old, 0)]
    at[old < 0] = np.arange(before.rows.num_rows, rows.num_rows)
    return Texts(rows, at)


_BATCH_ROWS = 4_096
_NAME_COLUMNS = ("repo", "id", "relative_path")


class RowNames(NamedTuple):
    """What the rows are called, in the order in which they are stored."""

    keys: Sequence[ChunkKey]
    paths: Sequence[str]


class Resident:
    """Loads what is asked for and keeps it, within the limits."""

    def __init__(
        self, dataset: Dataset, limits: MemoryLimits, before: Resident | None = None
    ) -> None:
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

    @property
    def has_vectors(self) -> bool:
        """Whether names and vectors are in memory."""
        return self.has_names and "vectors" in self.__dict__

    @cached_property
    def names(self) -> RowNames:
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

    def _take_over(self, before: Resident) -> RowNames | None:
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


def _names_of(rows: Arrow) -> RowNames:
    keys = [*map(ChunkKey, rows["repo"].to_pylist(), rows["id"].to_pylist())]
    return RowNames(keys, rows["relative_path"].to_pylist())


def _merged(before: RowNames, old: Places, fresh: RowNames) -> RowNames:
    """The names of rows that were there before, and in their places those that were not."""
    places, keys, paths = old.tolist(), iter(fresh.keys), iter(fresh.paths)
    return RowNames(
        [before.keys[at] if at >= 0 else next(keys) for at in places],
        [before.paths[at] if at >= 0 else next(paths) for at in places],
    )
