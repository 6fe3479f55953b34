"""Candidates for an answer: what each channel finds for a question, unweighted."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from asterism.analysis.terms import path_terms, terms_of
from asterism.search.naming import Definition, Index, by_name
from asterism.search.ranking.options import RecallOptions
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import (
    Boosts,
    ChunkKey,
    ChunkSnapshot,
    Match,
    Vector,
)
from asterism.types.filters import NO_FILTER, Filter
from asterism.types.search import FileLine, Question

_NAMES_ONLY = Boosts(terms=0.0, name_terms=1.0, path_terms=0.0)
_PATHS_ONLY = Boosts(terms=0.0, name_terms=0.0, path_terms=1.0)


class FileKey(NamedTuple):
    """What names a file inside a project."""

    repo: str
    path: str


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
    """The paths of the chunks that the question names."""
    lines: Mapping[ChunkKey, FileLine] = {}
    """The chunks around the lines that the question names."""
    sentences: tuple[tuple[ChunkKey, ...], ...] = ()
    """Of several sentences, for each that is near to anything, the chunks nearest to it."""
    importers: Mapping[FileKey, Collection[str]] = {}
    """The paths of the files that import each candidate's file, where any does."""


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
    """Ask every channel for what it finds; without vectors the answer is by words alone."""
    size = pool_size(limit, options)
    chunks, where = sources.chunks, sources.where
    named = [term for name in question.identifiers for term in terms_of(name)]
    paths = [term for path in question.paths for term in path_terms(path).split()]
    near = [chunks.nearest(vector, size, where) for vector in vectors]
    pools = Pools(
        text=tuple(chunks.matching(_once(question.terms), size, where, options.boosts)),
        vector=_nearest(near, size),
        name=tuple(chunks.matching(_once(named), size, where, _NAMES_ONLY)) if named else (),
        path=tuple(chunks.matching(_once(paths), size, where, _PATHS_ONLY)) if paths else (),
        sentences=_sentences(near, options),
    )
    found = by_name(question, pools.path, Index(*sources), options)
    pools = pools._replace(definitions=found.definitions, lines=found.lines, places=found.places)
    return _with_importers(pools, sources.catalogue)


def recall_by_meaning(
    vectors: Sequence[Vector], sources: Sources, limit: int, options: RecallOptions
) -> Pools:
    """Ask the vectors alone, as `semantic` search does."""
    size = pool_size(limit, options)
    near = [sources.chunks.nearest(vector, size, sources.where) for vector in vectors]
    pools = Pools(vector=_nearest(near, size), sentences=_sentences(near, options))
    return _with_importers(pools, sources.catalogue)


def nearest(vectors: Sequence[Vector], sources: Sources, size: int) -> tuple[Match, ...]:
    """The chunks nearest to any of the vectors, each with its smallest distance."""
    near = [sources.chunks.nearest(vector, size, sources.where) for vector in vectors]
    return _nearest(near, size)


def _nearest(near: Sequence[Sequence[Match]], size: int) -> tuple[Match, ...]:
    if len(near) == 1:
        return tuple(near[0])
    best: dict[ChunkKey, Match] = {}
    for matches in near:
        for match in matches:
            known = best.get(match.key)
            if known is None or match.score < known.score:
                best[match.key] = match
    return tuple(sorted(best.values(), key=lambda match: (match.score, match.key))[:size])


def _sentences(
    near: Sequence[Sequence[Match]], options: RecallOptions
) -> tuple[tuple[ChunkKey, ...], ...]:
    """What each of several sentences is nearest to; one that is near to nothing asks nothing."""
    if len(near) == 1:
        return ()
    cosines = [1.0 - matches[0].score / 2.0 if matches else 0.0 for matches in near]
    enough = options.sentence_nearness * max(cosines, default=0.0)
    return tuple(
        tuple(match.key for match in matches[: options.of_sentence])
        for matches, cosine in zip(near, cosines, strict=True)
        if matches and cosine >= enough
    )


def _with_importers(pools: Pools, catalogue: Catalogue) -> Pools:
    """Add which files import each candidate's file."""
    paths: defaultdict[str, set[str]] = defaultdict(set)
    for matches in (pools.text, pools.vector, pools.name, pools.path):
        for key, path, _ in matches:
            paths[key[0]].add(path)
    for key, path in pools.places.items():
        paths[key.repo].add(path)
    importers: dict[FileKey, Collection[str]] = {
        FileKey(repo, path): importing
        for repo, some in paths.items()
        for path, importing in catalogue.importing_paths(repo, some).items()
    }
    return pools._replace(importers=importers)


def _once(terms: Iterable[str]) -> list[str]:
    """A word that is said twice is meant once."""
    return [*dict.fromkeys(terms)]
