"""Candidates for an answer: what each channel finds for a question, unweighted."""

import difflib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from asterism.analysis.terms import path_terms, terms_of
from asterism.search.filters import literal
from asterism.search.ranking.options import RecallOptions
from asterism.search.ranking.words import names_file
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import Boosts, ChunkKey, ChunkSnapshot, Match, Vector
from asterism.store.filters import predicate
from asterism.types.deadlines import check_deadline
from asterism.types.index import Chunk, FoundSymbol, Role, SymbolQuery, symbol_query
from asterism.types.search import NO_FILTER, FileLine, Filter, Question


class Definition(NamedTuple):
    """A chunk that defines a name of the question."""

    name: str
    """As the question has it."""
    kind: str
    is_exported: bool
    is_exact: bool = True
    """Whether it has that name; else it is spelt like it, and nothing has it."""
    likeness: float = 1.0
    """How alike the two are spelt."""


class Index(NamedTuple):
    """Where names are looked up."""

    chunks: ChunkSnapshot
    catalogue: Catalogue
    where: Filter = NO_FILTER


class Named(NamedTuple):
    """The chunks that a question names, and the paths of their files."""

    definitions: Mapping[ChunkKey, Definition]
    lines: Mapping[ChunkKey, FileLine]
    places: Mapping[ChunkKey, str]


def by_name(
    question: Question, paths: Sequence[Match], index: Index, options: RecallOptions
) -> Named:
    """Look up the question's names and lines; `paths` is what its paths were found to be."""
    found = _definitions(question.identifiers, index, options)
    kept = _naming_nearest(_passing(found, index) if index.where != NO_FILTER else found)
    lines = _around(question.lines[: options.lines], paths, index, options)
    return Named(
        {key: definition for key, _, definition in kept},
        {key: line for key, (_, line) in lines.items()},
        {key: path for key, path, _ in kept} | {key: path for key, (path, _) in lines.items()},
    )


_Entry = tuple[ChunkKey, str, Definition]


def _definitions(names: Iterable[str], index: Index, options: RecallOptions) -> list[_Entry]:
    """The chunks that define the names; of equal chunks the first name counts."""
    narrowed = SymbolQuery(
        "", roles=(Role.DEFINITION,), repos=tuple(index.where.repos), limit=options.symbols
    )
    found: dict[ChunkKey, _Entry] = {}
    unknown: list[str] = []
    for name in names:
        check_deadline()
        rows = index.catalogue.find_symbols(symbol_query(name, narrowed)).rows
        _put(found, name, rows)
        if not rows:
            unknown.append(name)
    for name in unknown[: options.misspelt]:
        ending = symbol_query(name, replace(narrowed, by_end=True))
        rows = index.catalogue.find_symbols(ending).rows
        _put(found, name, rows)
        if rows:
            continue
        for spelling, likeness in _spellings(name, index.catalogue, options):
            rows = index.catalogue.find_symbols(symbol_query(spelling, narrowed)).rows
            _put(found, name, rows, likeness)
    return [*found.values()]


def _put(
    found: dict[ChunkKey, _Entry],
    name: str,
    rows: Iterable[FoundSymbol],
    likeness: float | None = None,
) -> None:
    """Add what has the name, or a spelling that is so much like it."""
    for symbol in rows:
        row = symbol.row
        if row.chunk_id is not None:
            key = ChunkKey(symbol.repo, row.chunk_id)
            alike = (True, 1.0) if likeness is None else (False, likeness)
            definition = Definition(name, row.kind, row.is_exported, *alike)
            found.setdefault(key, (key, row.filepath, definition))


def _spellings(name: str, catalogue: Catalogue, options: RecallOptions) -> list[tuple[str, float]]:
    """Defined names that this one may be a slip of, and how alike they are to it.

    A short name may be a slip of too many.
    """
    last = symbol_query(name).readings[-1].name
    if len(last) < options.shortest_misspelt:
        return []
    plain = last.replace("_", "").lower()
    found = [
        (other, difflib.SequenceMatcher(None, plain, other.replace("_", "").lower()).ratio())
        for other in catalogue.similar_names(last, options.spellings)
    ]
    return [(other, likeness) for other, likeness in found if likeness >= options.spelt_alike]


def _naming_nearest(found: Sequence[_Entry]) -> list[_Entry]:
    """Of what is spelt like a name only the nearest: `Unquoted` is no slip where `Quoted` is."""
    best: dict[str, float] = {}
    for _, _, definition in found:
        best[definition.name] = max(best.get(definition.name, 0.0), definition.likeness)
    return [entry for entry in found if entry[2].likeness == best[entry[2].name]]


def _passing(found: Sequence[_Entry], index: Index) -> list[_Entry]:
    """Those that the filter lets through; the catalogue knows only some of its conditions."""
    passes = predicate(index.where)
    chunks = index.chunks.chunks([key for key, _, _ in found])
    kept = {ChunkKey(chunk.repo, chunk.id) for chunk in chunks if passes(chunk)}
    return [entry for entry in found if entry[0] in kept]


def _around(
    lines: Sequence[FileLine], paths: Sequence[Match], index: Index, options: RecallOptions
) -> dict[ChunkKey, tuple[str, FileLine]]:
    """For each line the smallest chunk around it, in every file that its path may be."""
    passes = predicate(index.where)
    found: dict[ChunkKey, tuple[str, FileLine]] = {}
    for (repo, path), wanted in sorted(_files_of(lines, paths, index, options).items()):
        check_deadline()
        where = Filter(repos=(repo,), paths=(literal(path),))
        chunks = [
            chunk
            for chunk in index.chunks.scan(where)
            if chunk.relative_path == path and passes(chunk)
        ]
        for line in wanted:
            around = [chunk for chunk in chunks if chunk.start_line <= line.line <= chunk.end_line]
            if around:
                best = min(around, key=_size)
                found.setdefault(ChunkKey(repo, best.id), (path, line))
    return found


def _files_of(
    lines: Sequence[FileLine], paths: Sequence[Match], index: Index, options: RecallOptions
) -> dict[tuple[str, str], list[FileLine]]:
    """The lines of each file that their paths may be.

    The files of a trace crowd each other out of what its paths bring, so the catalogue is asked
    for those that are missing there.
    """
    if not lines:
        return {}
    found: defaultdict[tuple[str, str], list[FileLine]] = defaultdict(list)
    for file in {(match.key.repo, match.path) for match in paths}:
        named = [line for line in lines if names_file(line.path, file[1])]
        if named:
            found[file] = named
    missing = [line for line in lines if not any(line in named for named in found.values())]
    if missing:
        known = _known_files(index)
        for line in missing:
            files = [file for file in known if names_file(line.path, file[1])]
            for file in files[: options.files_of_line]:
                found[file].append(line)
    return found


def _known_files(index: Index) -> list[tuple[str, str]]:
    """Every file of the repositories that may be searched."""
    repos = index.where.repos or [each.name for each in index.catalogue.repositories()]
    return [(repo, path) for repo in sorted(repos) for path in sorted(index.catalogue.files(repo))]


def _size(chunk: Chunk) -> tuple[int, int]:
    return chunk.end_line - chunk.start_line, -chunk.depth


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


class CodePlace(NamedTuple):
    """A place in a repository: lines of a file, or all of it."""

    path: str
    """From the repository's root."""
    first: int | None = None
    last: int | None = None

    def __str__(self) -> str:
        """As it is written on a command line."""
        if self.first is None:
            return self.path
        return f"{self.path}:{self.first}" + (f"-{self.last}" if self.last else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What other code is compared with."""

    place: CodePlace
    chunks: tuple[Chunk, ...]
    family: frozenset[ChunkKey]
    """Chunks that repeat the code: the chunks themselves, those around them, those inside them."""
