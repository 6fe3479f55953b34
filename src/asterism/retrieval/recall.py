"""Candidates for an answer: what each channel finds for a question, unweighted."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from asterism.analysis.terms import path_terms, terms_of
from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.chunk_table import (
    Boosts,
    ChunkKey,
    ChunkSnapshot,
    Match,
    Vector,
)
from asterism.backends.store.filtering import predicate
from asterism.domain.catalogue import SymbolQuery
from asterism.domain.filters import NO_FILTER, Filter
from asterism.domain.search import Question
from asterism.domain.symbol import Role
from asterism.domain.symbol_names import symbol_query
from asterism.retrieval.options import RecallOptions

_NAMES_ONLY = Boosts(terms=0.0, name_terms=1.0, path_terms=0.0)
_PATHS_ONLY = Boosts(terms=0.0, name_terms=0.0, path_terms=1.0)


class FileKey(NamedTuple):
    """What names a file inside a project."""

    repo: str
    path: str


class Definition(NamedTuple):
    """A chunk that defines a name of the question."""

    name: str
    """As the question has it."""
    kind: str
    is_exported: bool


class Pools(NamedTuple):
    """What the channels found, each best first; a channel that was not asked is empty."""

    text: tuple[Match, ...] = ()
    vector: tuple[Match, ...] = ()
    """By distance; of several sentences the nearest counts."""
    name: tuple[Match, ...] = ()
    """By the names in the question and their parts, over the names of symbols alone."""
    path: tuple[Match, ...] = ()
    """By the paths in the question, over paths alone."""
    definitions: Mapping[ChunkKey, Definition] = {}
    places: Mapping[ChunkKey, str] = {}
    """The paths of chunks that only a definition brought."""
    importers: Mapping[FileKey, int] = {}
    """How many files import each candidate's file, where any does."""


class Sources(NamedTuple):
    """What is searched: one state of an index, and the part of it that may be found."""

    chunks: ChunkSnapshot
    catalogue: Catalogue
    where: Filter = NO_FILTER


def pool_size(limit: int, options: RecallOptions) -> int:
    """How many candidates a channel brings: the same number for every usual limit."""
    return max(options.pool, options.per_limit * limit)


def recall(
    question: Question,
    vectors: Sequence[Vector],
    sources: Sources,
    limit: int,
    options: RecallOptions,
) -> Pools:
    """Ask every channel; without vectors the answer is by words alone."""
    size = pool_size(limit, options)
    chunks, where = sources.chunks, sources.where
    named = [term for name in question.identifiers for term in terms_of(name)]
    paths = [term for path in question.paths for term in path_terms(path).split()]
    symbols = _definitions(question.identifiers, sources, options.symbols)
    pools = Pools(
        text=tuple(chunks.matching(_once(question.terms), size, where, options.boosts)),
        vector=nearest(vectors, sources, size),
        name=tuple(chunks.matching(_once(named), size, where, _NAMES_ONLY)),
        path=tuple(chunks.matching(_once(paths), size, where, _PATHS_ONLY)),
        definitions={key: definition for key, _, definition in symbols},
        places={key: path for key, path, _ in symbols},
    )
    return _with_importers(pools, sources.catalogue)


def recall_by_meaning(
    vectors: Sequence[Vector], sources: Sources, limit: int, options: RecallOptions
) -> Pools:
    """Ask the vectors alone, as `semantic` search does."""
    pools = Pools(vector=nearest(vectors, sources, pool_size(limit, options)))
    return _with_importers(pools, sources.catalogue)


def nearest(vectors: Sequence[Vector], sources: Sources, size: int) -> tuple[Match, ...]:
    """The chunks nearest to any of the vectors, each with its smallest distance."""
    best: dict[ChunkKey, Match] = {}
    for vector in vectors:
        for match in sources.chunks.nearest(vector, size, sources.where):
            known = best.get(match.key)
            if known is None or match.score < known.score:
                best[match.key] = match
    return tuple(sorted(best.values(), key=lambda match: (match.score, match.key))[:size])


def _definitions(
    names: Iterable[str], sources: Sources, limit: int
) -> list[tuple[ChunkKey, str, Definition]]:
    """The chunks that define the names; of equal chunks the first name counts."""
    narrowed = SymbolQuery(
        "", roles=(Role.DEFINITION,), repos=tuple(sources.where.repos), limit=limit
    )
    found: dict[ChunkKey, tuple[ChunkKey, str, Definition]] = {}
    for name in names:
        for symbol in sources.catalogue.find_symbols(symbol_query(name, narrowed)).rows:
            row = symbol.row
            if row.chunk_id is not None:
                key = ChunkKey(symbol.repo, row.chunk_id)
                definition = Definition(name, row.kind, row.is_exported)
                found.setdefault(key, (key, row.filepath, definition))
    return _passing([*found.values()], sources)


def _passing(
    found: list[tuple[ChunkKey, str, Definition]], sources: Sources
) -> list[tuple[ChunkKey, str, Definition]]:
    """Those that the filter lets through; the catalogue knows only some of its conditions."""
    if not found or sources.where == NO_FILTER:
        return found
    passes = predicate(sources.where)
    chunks = sources.chunks.chunks([key for key, _, _ in found])
    kept = {ChunkKey(chunk.repo, chunk.id) for chunk in chunks if passes(chunk)}
    return [entry for entry in found if entry[0] in kept]


def _with_importers(pools: Pools, catalogue: Catalogue) -> Pools:
    """Add by how many files each candidate's file is imported."""
    paths: defaultdict[str, set[str]] = defaultdict(set)
    for match in chain(pools.text, pools.vector, pools.name, pools.path):
        paths[match.key.repo].add(match.path)
    for key, path in pools.places.items():
        paths[key.repo].add(path)
    importers = {
        FileKey(repo, path): len({importer for importer, _ in links})
        for repo, some in paths.items()
        for path, links in catalogue.importers(repo, some).items()
    }
    return pools._replace(importers=importers)


def _once(terms: Iterable[str]) -> list[str]:
    """A word that is said twice is meant once."""
    return [*dict.fromkeys(terms)]
