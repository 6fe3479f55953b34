"""What a question names outright: the chunks that define its names and hold its lines."""

import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from asterism.search.path_filters import literal
from asterism.search.ranking.options import RecallOptions
from asterism.search.ranking.paths import names_file
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot, Match
from asterism.store.filtering import predicate
from asterism.types.catalogue import FoundSymbol, SymbolQuery
from asterism.types.chunk import Chunk
from asterism.types.deadlines import check_deadline
from asterism.types.filters import NO_FILTER, Filter
from asterism.types.search import FileLine, Question
from asterism.types.symbol import Role
from asterism.types.symbol_names import symbol_query


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
    kept = _nearest(_passing(found, index) if index.where != NO_FILTER else found)
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


def _nearest(found: Sequence[_Entry]) -> list[_Entry]:
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
