"""One version of the Lance table, and the queries it answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from asterism.store.chunk_table import (
    LIMITS,
    Boosts,
    ChunkKey,
    Match,
    MemoryLimits,
    Recent,
    Rows,
    Source,
    Vector,
    valid_text,
)
from asterism.store.exact_search import Candidates, closest
from asterism.store.filters import among, condition
from asterism.store.lance.process import lance_errors
from asterism.store.lance.schema import (
    CHUNK_COLUMNS,
    ENTRY_COLUMNS,
    TERM_COLUMNS,
    Arrow,
    Dataset,
    chunks_of,
    dimensions_of,
    entries_of,
    matrix_of,
)
from asterism.store.resident import Resident
from asterism.types.deadlines import check_deadline
from asterism.types.index import Chunk, Entry
from asterism.types.search import NO_FILTER, Filter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILTERS_KEPT = 32
"""Filters whose rows are remembered while a version is the newest; each takes a byte per row."""
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
_KEY = ["repo", "id", "relative_path"]
_SOURCE = ["repo", "id", "relative_path", "start_line", "end_line", "depth", "full_source"]
_ORDER = ["repo", "relative_path", "start_line", "depth", "part", "id"]
_Item = TypeVar("_Item")


class LanceSnapshot:
    """Reads a dataset that stays at its version; implements `ChunkSnapshot`."""

    def __init__(
        self,
        dataset: Dataset,
        path: str,
        limits: MemoryLimits = LIMITS,
        before: LanceSnapshot | None = None,
    ) -> None:
        """Read this dataset; the path is for messages.

        What `before`, of any version, holds in memory of the same rows is not read again.
        """
        self._dataset = dataset
        self._path = path
        self._limits = limits
        self._resident: Resident = Resident(
            dataset, limits, None if before is None else before._resident
        )
        self._passing: Recent[NDArray[np.bool_]] = Recent(FILTERS_KEPT)
        self._counts: Recent[int] = Recent(FILTERS_KEPT)

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
        import numpy as np

        if limit < 1:
            return []
        where = self._narrowing(where)
        if self._rows <= self._limits.exact_rows(dimensions_of(self._dataset.schema) or 1):
            return closest(self._candidates, vector, limit, self.passing(where))
        query = {
            "column": "vector",
            "q": np.asarray(vector, dtype=np.float32),
            "k": limit,
            "metric": "cosine",
            "nprobes": PROBES if where == NO_FILTER else FILTERED_PROBES,
            "refine_factor": REFINE,
        }
        found = self._read([*_KEY, "_distance"], where, nearest=query, prefilter=True)
        # Refined distances are exact; Lance's are 1 − cosine, and a match has 2 − 2·cosine.
        doubled = (2.0 * found["_distance"].to_numpy()).clip(0.0, 4.0).tolist()
        matches = map(Match, _keys(found), _paths(found), doubled)
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
        where, known = self._narrowing(where), self._resident.has_names
        found = self._read(
            ["_score"] if known else [*_KEY, "_score"],
            where,
            full_text_query=_any_column(text, boosts),
            limit=limit,
            prefilter=True,
            with_row_id=known,
        )
        keys, paths = self._named(found) if known else (_keys(found), _paths(found))
        matches = map(Match, keys, paths, _scores(found))
        return sorted(matches, key=lambda match: (-match.score, match.key))

    def chunks(self, keys: Sequence[ChunkKey]) -> list[Chunk]:
        """The chunks of these keys that exist, in the keys' order, without vectors."""
        stored = [_stored(key) for key in keys]
        if self._resident.has_names:
            known = self._resident.places
            with lance_errors(self._path):
                return self._resident.chunks([known[key] for key in stored if key in known])
        found: dict[ChunkKey, Chunk] = {}
        for rows in self._by_key(keys, CHUNK_COLUMNS):
            found.update(zip(_keys(rows), chunks_of(rows), strict=True))
        return [found[key] for key in stored if key in found]

    def vectors(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, Vector]:
        """The vectors of those keys that exist."""
        if self._resident.has_vectors:
            known, matrix = self._resident.places, self._resident.vectors
            return {key: matrix[known[at]] for key in keys if (at := _stored(key)) in known}
        found: dict[ChunkKey, Vector] = {}
        for rows in self._by_key(keys, ("repo", "id", "vector")):
            found.update(zip(_keys(rows), matrix_of(rows["vector"]), strict=True))
        return {key: found[stored] for key in keys if (stored := _stored(key)) in found}

    def scan(self, where: Filter = NO_FILTER) -> Iterator[Chunk]:
        """Every chunk that passes the filter, ordered by repository, path and place."""
        for rows in self._in_order(CHUNK_COLUMNS, where, _ROWS_AT_ONCE):
            yield from chunks_of(rows)

    def sources(self, where: Filter = NO_FILTER) -> Iterator[Source]:
        """The text of every chunk that passes the filter, in the order of `scan`."""
        for rows in self._in_order(_SOURCE, where, _SOURCES_AT_ONCE):
            columns = [rows[name].to_pylist() for name in _SOURCE[2:]]
            yield from map(Source, _keys(rows), *columns)

    def entries(self, batch: int) -> Iterator[list[Entry]]:
        """Every row without its vector, in batches and in no particular order."""
        with lance_errors(self._path):
            scanner = self._dataset.scanner(columns=list(ENTRY_COLUMNS), batch_size=batch)
            for rows in scanner.to_batches():
                yield list(entries_of(rows))

    def rows(self) -> Rows:
        """What every row is called and made of; a row's place in it is what `texts` takes."""
        return self._all_rows

    def passing(self, where: Filter) -> NDArray[np.bool_] | None:
        """For every row whether it passes the filter; None where all do."""
        where = self._narrowing(where)
        return None if where == NO_FILTER else self._passing.get(where, lambda: self._pass(where))

    def texts(self, places: Sequence[int]) -> list[str]:
        """The texts that were embedded, of the rows at these places and in their order."""
        with lance_errors(self._path):
            texts: list[str] = self._resident.rows(places, ["embedding_text"])[
                "embedding_text"
            ].to_pylist()
        return texts

    @cached_property
    def _all_rows(self) -> Rows:
        with lance_errors(self._path):
            names = self._resident.names
            hashes = self._dataset.to_table(columns=["text_hash"])["text_hash"].to_pylist()
        return Rows(names.keys, names.paths, hashes)

    @cached_property
    def _rows(self) -> int:
        return self.count()

    @cached_property
    def _candidates(self) -> Candidates:
        with lance_errors(self._path):
            names = self._resident.names
            return Candidates(names.keys, names.paths, self._resident.vectors)

    def _narrowing(self, where: Filter) -> Filter:
        """The filter, or none where it names all repositories there are, as it usually does."""
        if where == NO_FILTER or where != Filter(repos=where.repos):
            return where
        passing = self._counts.get(where, lambda: self.count(where))
        return NO_FILTER if passing == self._rows else where

    def _pass(self, where: Filter) -> NDArray[np.bool_]:
        import numpy as np

        passing = self._read([], where, with_row_id=True)["_rowid"].to_numpy()
        return np.isin(self._resident.numbers, passing)

    def _named(self, found: Arrow) -> tuple[list[ChunkKey], list[str]]:
        """Keys and paths of rows that have only their numbers."""
        names = self._resident.names
        places = self._resident.places_of(found["_rowid"].to_numpy())
        return [names.keys[at] for at in places], [names.paths[at] for at in places]

    def _by_key(self, keys: Sequence[ChunkKey], columns: Sequence[str]) -> Iterator[Arrow]:
        for some in _batches((_stored(key).id for key in keys), _KEYS_AT_ONCE):
            check_deadline()
            with lance_errors(self._path):
                yield self._dataset.to_table(columns=list(columns), filter=among("id", some))

    def _in_order(self, columns: Sequence[str], where: Filter, size: int) -> Iterator[Arrow]:
        """Rows in batches, by repository, path and place."""
        found = self._read(_ORDER, where, with_row_id=True)
        found = found.sort_by([(name, "ascending") for name in _ORDER])
        with lance_errors(self._path):
            places = self._resident.places_of(found["_rowid"].to_numpy())
        for some in _batches(places, size):
            check_deadline()
            with lance_errors(self._path):
                yield self._resident.rows(some, columns)

    def _read(self, columns: Sequence[str], where: Filter, **query: Any) -> Arrow:
        check_deadline()
        with lance_errors(self._path):
            return self._dataset.to_table(columns=list(columns), filter=condition(where), **query)


def _any_column(text: str, boosts: Boosts) -> Any:
    """A query for words in any column; its scores are the sum of what the columns score."""
    from lance.query import BooleanQuery, MatchQuery, Occur

    columns = [
        MatchQuery(text, column, boost=boost)
        for column, boost in zip(TERM_COLUMNS, boosts, strict=True)
        if boost
    ]
    # A single column by itself stops early: 0.6 ms instead of 5 among 28,000 rows.
    return columns[0] if len(columns) == 1 else BooleanQuery([(Occur.SHOULD, c) for c in columns])


def _keys(rows: Arrow) -> list[ChunkKey]:
    return [*map(ChunkKey, rows["repo"].to_pylist(), rows["id"].to_pylist())]


def _paths(rows: Arrow) -> list[str]:
    paths: list[str] = rows["relative_path"].to_pylist()
    return paths


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
