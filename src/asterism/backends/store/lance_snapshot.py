"""One version of the Lance table, and the queries it answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from asterism.backends.store.chunk_table import Boosts, ChunkKey, Match, Source, Vector
from asterism.backends.store.exact_search import Candidates, closest
from asterism.backends.store.lance_errors import lance_errors
from asterism.backends.store.lance_filters import among, condition
from asterism.backends.store.lance_schema import (
    CHUNK_COLUMNS,
    ENTRY_COLUMNS,
    TERM_COLUMNS,
    Arrow,
    Dataset,
    chunks_of,
    entries_of,
    matrix_of,
)
from asterism.backends.store.rows import valid_text
from asterism.domain.chunk import Chunk
from asterism.domain.filters import NO_FILTER, Filter
from asterism.domain.index import Entry

EXACT_ROWS = 10_000
"""Up to here every row is compared: at 10,000 rows loading the matrix and asking takes 28 ms of CPU
in a new process, Lance's own pass over the vectors 65; later questions take 0.3 ms instead of 4."""
PROBES = 16
"""Partitions of the vector index to look into. At 100,000 rows (24 partitions, 40 wanted) 4 have
recall 0.980, 8 have 0.990, 12 have 0.996 and 16 have 1.000, for 6.1, 6.3, 6.3 and 6.9 ms."""
FILTERED_PROBES = 4_096
"""With a filter all partitions, because the few rows in scope may lie in the least likely ones."""
REFINE = 3
"""How many times the wanted rows are fetched and compared by their real vectors."""
_KEYS_AT_ONCE = 500
_ROWS_AT_ONCE = 1_000
_SOURCES_AT_ONCE = 5_000
"""Of 100,000 rows the texts take 0.5 s, while `scan` takes 1.5."""
_KEY = ["repo", "id", "relative_path"]
_SOURCE = ["repo", "id", "relative_path", "start_line", "end_line", "depth", "full_source"]
_ORDER = ["repo", "relative_path", "start_line", "depth", "part", "id"]
_Item = TypeVar("_Item")


class LanceSnapshot:
    """Reads a dataset that stays at its version; implements `ChunkSnapshot`."""

    def __init__(self, dataset: Dataset, path: str) -> None:
        """Read this dataset; the path is for messages."""
        self._dataset = dataset
        self._path = path
        self._last_allowed: tuple[Filter, NDArray[np.bool_]] | None = None

    @property
    def version(self) -> int:
        """Which version this is."""
        return int(self._dataset.version)

    def count(self, where: Filter = NO_FILTER) -> int:
        """How many rows there are."""
        with lance_errors(self._path):
            return int(self._dataset.count_rows(condition(where)))

    def nearest(self, vector: Vector, limit: int, where: Filter = NO_FILTER) -> list[Match]:
        """The rows closest to a vector, the filter applied first."""
        if limit < 1:
            return []
        if self._rows <= EXACT_ROWS:
            return closest(self._candidates, vector, limit, self._allowed(where))
        query = {
            "column": "vector",
            "q": np.asarray(vector, dtype=np.float32),
            "k": limit,
            "metric": "cosine",
            "nprobes": PROBES if where == NO_FILTER else FILTERED_PROBES,
            "refine_factor": REFINE,
        }
        found = self._read([*_KEY, "_distance"], where, nearest=query, prefilter=True)
        # Refined distances are exact, and Lance's are half of ours: 1 − cosine.
        doubled = (2.0 * found["_distance"].to_numpy()).clip(0.0, 4.0).tolist()
        matches = map(Match, _keys(found), found["relative_path"].to_pylist(), doubled)
        return sorted(matches, key=lambda match: (match.score, match.key))

    def matching(
        self,
        terms: Sequence[str],
        limit: int,
        where: Filter = NO_FILTER,
        boosts: Boosts = Boosts(),  # noqa: B008 - immutable
    ) -> list[Match]:
        """The rows that contain any of the terms, by BM25 summed over the columns."""
        text = valid_text(" ".join(terms))
        if limit < 1 or not text.strip(" \t\n\f\r") or not any(boosts):
            return []
        found = self._read(
            [*_KEY, "_score"],
            where,
            full_text_query=_any_column(text, boosts),
            limit=limit,
            prefilter=True,
        )
        matches = map(Match, _keys(found), found["relative_path"].to_pylist(), _scores(found))
        return sorted(matches, key=lambda match: (-match.score, match.key))

    def chunks(self, keys: Sequence[ChunkKey]) -> list[Chunk]:
        """The chunks of these keys that exist, in the keys' order, without vectors."""
        found: dict[ChunkKey, Chunk] = {}
        for rows in self._by_key(keys, CHUNK_COLUMNS):
            found.update(zip(_keys(rows), chunks_of(rows), strict=True))
        return [found[stored] for key in keys if (stored := _stored(key)) in found]

    def vectors(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, Vector]:
        """The vectors of those keys that exist."""
        found: dict[ChunkKey, Vector] = {}
        for rows in self._by_key(keys, ("repo", "id", "vector")):
            found.update(zip(_keys(rows), matrix_of(rows["vector"]), strict=True))
        return {key: found[stored] for key in keys if (stored := _stored(key)) in found}

    def scan(self, where: Filter = NO_FILTER) -> Iterator[Chunk]:
        """Every chunk that passes the filter, ordered by repository, path and place."""
        for rows, order in self._in_order(CHUNK_COLUMNS, where, _ROWS_AT_ONCE):
            found = list(chunks_of(rows))
            yield from (found[at] for at in order)

    def sources(self, where: Filter = NO_FILTER) -> Iterator[Source]:
        """The text of every chunk that passes the filter, in the order of `scan`."""
        for rows, order in self._in_order(_SOURCE, where, _SOURCES_AT_ONCE):
            names = _SOURCE[2:]
            columns = [_keys(rows), *(rows[name].to_pylist() for name in names)]
            found = [*map(Source, *columns)]
            yield from (found[at] for at in order)

    def entries(self, batch: int) -> Iterator[list[Entry]]:
        """Every row without its vector, in batches and in no particular order."""
        with lance_errors(self._path):
            scanner = self._dataset.scanner(columns=list(ENTRY_COLUMNS), batch_size=batch)
            for rows in scanner.to_batches():
                yield list(entries_of(rows))

    @cached_property
    def _rows(self) -> int:
        return self.count()

    @cached_property
    def _candidates(self) -> Candidates:
        rows = self._with_row_ids
        return Candidates(_keys(rows), rows["relative_path"].to_pylist(), matrix_of(rows["vector"]))

    @cached_property
    def _with_row_ids(self) -> Arrow:
        return self._read([*_KEY, "vector"], NO_FILTER, with_row_id=True)

    def _allowed(self, where: Filter) -> NDArray[np.bool_] | None:
        """Which of the candidates pass a filter; the parts of one question share it."""
        if where == NO_FILTER:
            return None
        last = self._last_allowed
        if last is None or last[0] != where:
            passing = self._read([], where, with_row_id=True)["_rowid"].to_numpy()
            numbers = self._with_row_ids["_rowid"].to_numpy()
            last = self._last_allowed = (where, np.isin(numbers, passing))
        return last[1]

    def _by_key(self, keys: Sequence[ChunkKey], columns: Sequence[str]) -> Iterator[Arrow]:
        for some in _batches((_stored(key).id for key in keys), _KEYS_AT_ONCE):
            with lance_errors(self._path):
                yield self._dataset.to_table(columns=list(columns), filter=among("id", some))

    def _in_order(
        self, columns: Sequence[str], where: Filter, size: int
    ) -> Iterator[tuple[Arrow, list[int]]]:
        """Rows in batches, each with the positions of its rows in the order of their places."""
        places = self._read(_ORDER, where, with_row_id=True)
        places = places.sort_by([(name, "ascending") for name in _ORDER])
        for numbers in _batches(places["_rowid"].to_pylist(), size):
            wanted = f"_rowid IN ({', '.join(map(str, numbers))})"
            with lance_errors(self._path):
                rows = self._dataset.to_table(
                    columns=list(columns), filter=wanted, with_row_id=True
                )
            positions = {number: at for at, number in enumerate(rows["_rowid"].to_pylist())}
            yield rows, [positions[number] for number in numbers]

    def _read(self, columns: Sequence[str], where: Filter, **query: Any) -> Arrow:
        with lance_errors(self._path):
            return self._dataset.to_table(columns=list(columns), filter=condition(where), **query)


def _any_column(text: str, boosts: Boosts) -> Any:
    """A query for words in any column; its scores are the sum of what the columns score."""
    from lance.query import BooleanQuery, MatchQuery, Occur

    return BooleanQuery(
        [
            (Occur.SHOULD, MatchQuery(text, column, boost=boost))
            for column, boost in zip(TERM_COLUMNS, boosts, strict=True)
            if boost
        ]
    )


def _keys(rows: Arrow) -> list[ChunkKey]:
    return [*map(ChunkKey, rows["repo"].to_pylist(), rows["id"].to_pylist())]


def _scores(rows: Arrow) -> list[float]:
    scores: list[float] = rows["_score"].to_pylist()
    return scores


def _stored(key: ChunkKey) -> ChunkKey:
    """The key as its row has it."""
    return ChunkKey(valid_text(key.repo), valid_text(key.id))


def _batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
