"""The protocol of a chunk table, and the limits of what a process keeps of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from asterism.types.errors import IndexMismatch
from asterism.types.files import display_path
from asterism.types.index import Chunk, Entry
from asterism.types.search import NO_FILTER, Filter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_FLOAT_BYTES = 4


class MemoryLimits(NamedTuple):
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
    """Chunks that are kept as records, 4 KB each; a query reads some hundred."""

    def exact_rows(self, dimensions: int) -> int:
        """Up to how many rows every vector is compared."""
        return self.matrix_bytes // (_FLOAT_BYTES * max(dimensions, 1))


LIMITS = MemoryLimits()


Vector: TypeAlias = "NDArray[np.float32]"
"""One unit vector."""
Matrix: TypeAlias = "NDArray[np.float32]"
"""A unit vector per row."""


class ChunkKey(NamedTuple):
    """What names a chunk inside a project: ids are unique within a repository."""

    repo: str
    id: str


class Match(NamedTuple):
    """A row that a query found, best first."""

    key: ChunkKey
    path: str
    score: float
    """Of a vector query the distance 2 − 2·cosine, lower is better; of terms BM25, higher is."""


class Source(NamedTuple):
    """A chunk's text and position, without its other fields."""

    key: ChunkKey
    path: str
    start_line: int
    end_line: int
    depth: int
    text: str


class Rows(NamedTuple):
    """What every row is called and made of, in the order in which they are stored."""

    keys: Sequence[ChunkKey]
    paths: Sequence[str]
    text_hashes: Sequence[bytes]
    """Of the texts that were embedded; equal texts have equal vectors."""


class Boosts(NamedTuple):
    """The weight of a term in each column."""

    terms: float = 1.0
    name_terms: float = 1.0
    path_terms: float = 1.0


class ChunkSnapshot(Protocol):
    """One version of the table, for reading; what is written later does not show."""

    @property
    def version(self) -> int:
        """Which version this is."""
        ...

    def count(self, where: Filter = NO_FILTER) -> int:
        """How many rows there are."""
        ...

    def nearest(self, vector: Vector, limit: int, where: Filter = NO_FILTER) -> list[Match]:
        """The rows closest to a vector, the filter applied first."""
        ...

    def matching(
        self,
        terms: Sequence[str],
        limit: int,
        where: Filter = NO_FILTER,
        boosts: Boosts = Boosts(),  # noqa: B008 - immutable
    ) -> list[Match]:
        """The rows that contain any of the terms, by BM25 summed over the columns."""
        ...

    def chunks(self, keys: Sequence[ChunkKey]) -> list[Chunk]:
        """The chunks of these keys that exist, in the keys' order, without vectors."""
        ...

    def vectors(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, Vector]:
        """The vectors of those keys that exist."""
        ...

    def scan(self, where: Filter = NO_FILTER) -> Iterator[Chunk]:
        """Every chunk that passes the filter, ordered by repository, path and place."""
        ...

    def sources(self, where: Filter = NO_FILTER) -> Iterator[Source]:
        """The text of every chunk that passes the filter, in the order of `scan`."""
        ...

    def entries(self, batch: int) -> Iterator[list[Entry]]:
        """Every row without its vector, in batches and in no particular order."""
        ...

    def rows(self) -> Rows:
        """What every row is called and made of; a row's place in it is what `texts` takes."""
        ...

    def passing(self, where: Filter) -> NDArray[np.bool_] | None:
        """For every row whether it passes the filter; None where all do."""
        ...

    def texts(self, places: Sequence[int]) -> list[str]:
        """The texts that were embedded, of the rows at these places and in their order."""
        ...


class ChunkTable(Protocol):
    """The chunks of one project; one process writes, any number read."""

    @property
    def version(self) -> int:
        """The newest version."""
        ...

    @property
    def place(self) -> Path | None:
        """The directory of its files; None where it has none."""
        ...

    def files(self) -> Sequence[str]:
        """Every file that the newest version needs, relative to that directory, with `/`."""
        ...

    def append(self, entries: Sequence[Entry], vectors: Matrix) -> None:
        """Add rows; they can be found at once."""
        ...

    def delete(self, file_versions: Sequence[int]) -> None:
        """Remove every row that comes from these readings."""
        ...

    def restore(self, version: int) -> None:
        """Make the table what it was at that version; nothing happens if that is the newest."""
        ...

    def reset(self, dimensions: int) -> None:
        """Go on with an empty table for other vectors; older versions stay readable."""
        ...

    def maintain(self, thorough: bool = False) -> None:
        """Build or extend indexes, merge small pieces, drop old versions; no-op if not needed."""
        ...

    def snapshot(self, version: int | None = None) -> ChunkSnapshot:
        """The table as it was at a version, or as it is now."""
        ...

    def size(self) -> int:
        """Bytes on disk, or in memory."""
        ...


HASH_BYTES = 16
"""How long `Entry.text_hash` is."""


def with_shown_paths(entry: Entry) -> Entry:
    """The entry with its paths as they are shown; all other text must be valid already."""
    _check_hash(entry)
    chunk = entry.chunk
    if chunk.file_path.isascii() and chunk.file_path.isprintable():
        return entry
    return entry._replace(
        chunk=chunk._replace(
            file_path=display_path(chunk.file_path),
            relative_path=display_path(chunk.relative_path),
            filename=display_path(chunk.filename),
        )
    )


def storable(entry: Entry) -> Entry:
    """The entry with text that is valid Unicode: paths as they are shown, stray halves as `?`."""
    _check_hash(entry)
    chunk = entry.chunk
    shown = Chunk(*[_clean(value) for value in chunk])._replace(
        file_path=display_path(chunk.file_path),
        relative_path=display_path(chunk.relative_path),
        filename=display_path(chunk.filename),
        vector=None,
        mentions=(),
    )
    terms = [valid_text(text) for text in (entry.terms, entry.name_terms, entry.path_terms)]
    return Entry(shown, entry.file_version, entry.text_hash, *terms)


def _check_hash(entry: Entry) -> None:
    if len(entry.text_hash) != HASH_BYTES:
        message = f"a text hash has {HASH_BYTES} bytes, this one has {len(entry.text_hash)}"
        raise ValueError(message)


def check_vectors(entries: int, vectors: Matrix, dimensions: int) -> None:
    """Refuse vectors that are not one for each entry, or not of the table's size."""
    if vectors.shape[0] != entries:
        message = f"{entries} entries need as many vectors, not {vectors.shape[0]}"
        raise ValueError(message)
    if entries and vectors.shape[1] != dimensions:
        raise IndexMismatch(
            f"The index holds vectors of {dimensions} dimensions, and the model makes vectors of "
            f"{vectors.shape[1]}; run `asterism index --force` to build it again."
        )


def comparable(where: Filter) -> Filter:
    """The filter with its texts in the form that rows have."""
    clean: dict[str, Any] = {
        name: _shown(value) if name.startswith("path") else _clean(value)
        for name, value in asdict(where).items()
    }
    return Filter(**clean)


def valid_text(text: str) -> str:
    """The text with `?` for every half of a surrogate pair, which no UTF-8 can hold."""
    # Most text is ASCII, and Python knows that without looking at it.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _clean(value: Any) -> Any:
    """A field's value with its text made valid; what is no text comes back as it is."""
    if isinstance(value, str):
        return valid_text(value)
    return tuple([_clean(part) for part in value]) if isinstance(value, tuple) else value


def _shown(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([display_path(path) for path in paths])


_Answer = TypeVar("_Answer")


class Recent(Generic[_Answer]):
    """A cache that drops the least recently used answers."""

    def __init__(self, kept: int) -> None:
        """`kept` is the number of answers."""
        self._kept = kept
        self._lock = Lock()
        self._answers: dict[Hashable, _Answer] = {}

    def get(self, asked: Hashable, find: Callable[[], _Answer]) -> _Answer:
        """The answer, found now if it is not kept."""
        with self._lock:
            if asked in self._answers:
                # What comes last in a dictionary was put there last.
                answer = self._answers[asked] = self._answers.pop(asked)
                return answer
        # Outside the lock: two threads may compute the same answer, but no other query waits.
        answer = find()
        with self._lock:
            self._answers[asked] = answer
            while len(self._answers) > self._kept:
                del self._answers[next(iter(self._answers))]
        return answer

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._answers)
