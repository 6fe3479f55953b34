"""A chunk table in memory, for tests of everything that uses one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asterism.store.chunk_table import (
    Boosts,
    ChunkKey,
    Match,
    Matrix,
    Rows,
    Source,
    Vector,
    check_vectors,
    storable,
    valid_text,
)
from asterism.store.exact_search import Candidates, closest
from asterism.store.filters import predicate
from asterism.types.errors import IndexCorrupt
from asterism.types.index import Chunk, Entry
from asterism.types.search import NO_FILTER, Filter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_K1, _B = 1.2, 0.75
_LONGEST_WORD = 128
# The tokeniser of Lance cuts at ASCII blanks only.
_BLANKS = re.compile(r"[ \t\n\f\r]+")


class Words(NamedTuple):
    """The words of every row of one column."""

    counts: Sequence[Counter[str]]
    lengths: Sequence[int]
    holders: Counter[str]
    """In how many rows a word occurs."""


def split(text: str) -> list[str]:
    """The words of a text; words too long for an index are left out."""
    return [
        word for word in _BLANKS.split(text) if word and len(word.encode("utf-8")) < _LONGEST_WORD
    ]


def read(texts: Sequence[str]) -> Words:
    """Count the words of a column."""
    counts = [Counter(split(text)) for text in texts]
    return Words(
        counts,
        [sum(count.values()) for count in counts],
        Counter(word for count in counts for word in count),
    )


def score(words: Words, row: int, query: Sequence[str]) -> float:
    """The BM25 score of a row; a word that occurs twice in the query counts twice."""
    average = sum(words.lengths) / len(words.lengths)
    total = 0.0
    for word in query:
        frequency = words.counts[row][word]
        if frequency:
            rarity = len(words.counts) - words.holders[word] + 0.5
            weight = math.log(1 + rarity / (words.holders[word] + 0.5))
            damping = _K1 * (1 - _B + _B * words.lengths[row] / average)
            total += weight * frequency * (_K1 + 1) / (frequency + damping)
    return total


class _Row(NamedTuple):
    entry: Entry
    vector: Vector

    @property
    def chunk(self) -> Chunk:
        return self.entry.chunk

    @property
    def key(self) -> ChunkKey:
        return ChunkKey(self.chunk.repo, self.chunk.id)


class MemorySnapshot:
    """One version of the table; implements `ChunkSnapshot`."""

    def __init__(self, version: int, rows: tuple[_Row, ...], dimensions: int) -> None:
        """Keep the rows of a version; they never change."""
        self._version = version
        self._rows = rows
        self._dimensions = dimensions

    @property
    def version(self) -> int:
        """Which version this is."""
        return self._version

    def count(self, where: Filter = NO_FILTER) -> int:
        """How many rows there are."""
        passes = predicate(where)
        return sum(passes(row.chunk) for row in self._rows)

    def nearest(self, vector: Vector, limit: int, where: Filter = NO_FILTER) -> list[Match]:
        """The rows closest to a vector, the filter applied first."""
        return closest(self._candidates, vector, limit, self.passing(where)) if limit > 0 else []

    def matching(
        self,
        terms: Sequence[str],
        limit: int,
        where: Filter = NO_FILTER,
        boosts: Boosts = Boosts(),  # noqa: B008 - immutable
    ) -> list[Match]:
        """The rows that contain any of the terms, by BM25 summed over the columns."""
        query = split(valid_text(" ".join(terms)))
        passes = predicate(where)
        matches: list[Match] = []
        for number, row in enumerate(self._rows):
            summed = sum(
                boost * score(words, number, query)
                for words, boost in zip(self._words, boosts, strict=True)
            )
            if summed > 0 and passes(row.chunk):
                matches.append(Match(row.key, row.chunk.relative_path, summed))
        matches.sort(key=lambda match: (-match.score, match.key))
        return matches[: max(limit, 0)]

    def chunks(self, keys: Sequence[ChunkKey]) -> list[Chunk]:
        """The chunks of these keys that exist, in the keys' order, without vectors."""
        return [self._by_key[key].chunk for key in map(_stored, keys) if key in self._by_key]

    def vectors(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, Vector]:
        """The vectors of those keys that exist."""
        return {
            key: self._by_key[_stored(key)].vector for key in keys if _stored(key) in self._by_key
        }

    def scan(self, where: Filter = NO_FILTER) -> Iterator[Chunk]:
        """Every chunk that passes the filter, ordered by repository, path and place."""
        return iter(sorted(filter(predicate(where), (row.chunk for row in self._rows)), key=_place))

    def sources(self, where: Filter = NO_FILTER) -> Iterator[Source]:
        """The text of every chunk that passes the filter, in the order of `scan`."""
        return (
            Source(
                ChunkKey(chunk.repo, chunk.id),
                chunk.relative_path,
                chunk.start_line,
                chunk.end_line,
                chunk.depth,
                chunk.full_source,
            )
            for chunk in self.scan(where)
        )

    def entries(self, batch: int) -> Iterator[list[Entry]]:
        """Every row without its vector, in batches and in no particular order."""
        for start in range(0, len(self._rows), batch):
            yield [row.entry for row in self._rows[start : start + batch]]

    def rows(self) -> Rows:
        """What every row is called and made of; a row's place in it is what `texts` takes."""
        return Rows(
            self._candidates.keys,
            self._candidates.paths,
            [row.entry.text_hash for row in self._rows],
        )

    def passing(self, where: Filter) -> NDArray[np.bool_] | None:
        """For every row whether it passes the filter; None where all do."""
        import numpy as np

        if where == NO_FILTER:
            return None
        passes = predicate(where)
        return np.array([passes(row.chunk) for row in self._rows], dtype=np.bool_)

    def texts(self, places: Sequence[int]) -> list[str]:
        """The texts that were embedded, of the rows at these places and in their order."""
        return [self._rows[at].chunk.embedding_text for at in places]

    @cached_property
    def _by_key(self) -> Mapping[ChunkKey, _Row]:
        return {row.key: row for row in self._rows}

    @cached_property
    def _candidates(self) -> Candidates:
        import numpy as np

        return Candidates(
            [row.key for row in self._rows],
            [row.chunk.relative_path for row in self._rows],
            np.array([row.vector for row in self._rows], dtype=np.float32).reshape(
                len(self._rows), self._dimensions
            ),
        )

    @cached_property
    def _words(self) -> tuple[Words, Words, Words]:
        entries = [row.entry for row in self._rows]
        return (
            read([entry.terms for entry in entries]),
            read([entry.name_terms for entry in entries]),
            read([entry.path_terms for entry in entries]),
        )


class MemoryTable:
    """Implements `ChunkTable`; every version that ever was stays."""

    def __init__(self, dimensions: int) -> None:
        """Make an empty table for vectors of this size."""
        self._dimensions = dimensions
        self._versions: dict[int, MemorySnapshot] = {}
        self._commit(())

    @property
    def version(self) -> int:
        """The newest version."""
        return len(self._versions)

    def append(self, entries: Sequence[Entry], vectors: Matrix) -> None:
        """Add rows; they can be found at once."""
        import numpy as np

        check_vectors(len(entries), vectors, self._dimensions)
        if entries:
            own = np.array(vectors, dtype=np.float32)
            self._commit((*self._rows, *map(_Row, map(storable, entries), own)))

    @property
    def place(self) -> Path | None:
        """It has no files."""
        return None

    def files(self) -> Sequence[str]:
        """None."""
        return ()

    def delete(self, file_versions: Sequence[int]) -> None:
        """Remove every row that comes from these readings."""
        gone = frozenset(file_versions)
        self._commit(tuple(row for row in self._rows if row.entry.file_version not in gone))

    def restore(self, version: int) -> None:
        """Make the table what it was at that version; nothing happens if that is the newest."""
        if version != self.version:
            before = self.snapshot(version)
            self._dimensions = before._dimensions
            self._commit(before._rows)

    def reset(self, dimensions: int) -> None:
        """Go on with an empty table for other vectors; older versions stay readable."""
        self._dimensions = dimensions
        self._commit(())

    def maintain(self, thorough: bool = False) -> None:
        """Nothing needs to be done."""

    def snapshot(self, version: int | None = None) -> MemorySnapshot:
        """The table as it was at a version, or as it is now."""
        wanted = self.version if version is None else version
        if wanted not in self._versions:
            message = f"The index has no version {wanted}; run `asterism index --force`."
            raise IndexCorrupt(message)
        return self._versions[wanted]

    def size(self) -> int:
        """Bytes of text and vectors."""
        return sum(
            row.vector.nbytes + len(row.chunk.full_source) + len(row.chunk.embedding_text)
            for row in self._rows
        )

    @property
    def _rows(self) -> tuple[_Row, ...]:
        return self._versions[self.version]._rows

    def _commit(self, rows: tuple[_Row, ...]) -> None:
        version = len(self._versions) + 1
        self._versions[version] = MemorySnapshot(version, rows, self._dimensions)


def _stored(key: ChunkKey) -> ChunkKey:
    return ChunkKey(valid_text(key.repo), valid_text(key.id))


def _place(chunk: Chunk) -> tuple[str, str, int, int, int, str]:
    return (
        chunk.repo,
        chunk.relative_path,
        chunk.start_line,
        chunk.depth,
        chunk.part,
        chunk.id,
    )
