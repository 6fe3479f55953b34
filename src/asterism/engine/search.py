"""A search of one snapshot of an index: find, rank, and select what is returned."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from asterism.analysis.source.text import read
from asterism.analysis.syntax.outlines import text_of
from asterism.engine.lookups import found_like, question_of
from asterism.engine.modes import Found, Means, find
from asterism.engine.snapshot import Freshness, QuerySnapshot
from asterism.engine.warm import Warm
from asterism.engine.wiring import Places
from asterism.indexing.staleness import first_build
from asterism.search.cursors import origin_of, page_of
from asterism.search.query.parse import understand, understand_code
from asterism.search.recall import Sources
from asterism.search.selection.excerpts import excerpts_for
from asterism.search.selection.options import CHUNKS, SelectionOptions, limited, staged
from asterism.search.selection.select import select
from asterism.search.selection.sizes import Measure, source_text
from asterism.search.similar import CodePlace, Model
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot
from asterism.store.registry import Registered
from asterism.types.chunk import Chunk
from asterism.types.deadlines import check_deadline
from asterism.types.errors import IndexMissing, InputError, UsageError
from asterism.types.files import display_path
from asterism.types.index import ModelIdentity
from asterism.types.index_states import not_indexed
from asterism.types.request_limits import check_text
from asterism.types.search import NO_FILTER, Filter, Hit, Mode, Question, Search, Total
from asterism.types.selection import Detail, Selection, Stage

MOST_LINES = 10
"""More is better read in the file itself."""


class Surroundings(NamedTuple):
    """What stands directly above and below, line by line."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def surroundings(chunks: Iterable[Chunk], count: int) -> Mapping[ChunkKey, Surroundings]:
    """So many lines around each chunk; none where the file is not what was indexed."""
    files: dict[str, list[str]] = {}
    found: dict[ChunkKey, Surroundings] = {}
    for chunk in chunks:
        check_deadline()
        if chunk.file_path not in files:
            files[chunk.file_path] = _lines(chunk.file_path)
        lines = files[chunk.file_path]
        first, last = chunk.start_line - 1, chunk.end_line
        # A file that changed since has other lines or none.
        if lines[first:last] == chunk.full_source.split("\n"):
            before, after = lines[max(0, first - count) : first], lines[last : last + count]
            found[ChunkKey(chunk.repo, chunk.id)] = Surroundings(tuple(before), tuple(after))
    return found


def _lines(path: str) -> list[str]:
    try:
        text = text_of(path, read(path)).decode("utf-8", "replace")
    except InputError:
        return []
    return text.removesuffix("\n").split("\n")


class RowPaths:
    """Looks up paths in the catalogue, which has them verbatim; most rows need no look."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._paths: dict[str, Mapping[str, str]] = {}

    def verbatim(self, hits: Iterable[Hit]) -> list[Hit]:
        """The hits with the paths of their files; stray bytes are surrogate escapes."""
        return [self._verbatim(hit) if "\\" in hit.chunk.file_path else hit for hit in hits]

    def _verbatim(self, hit: Hit) -> Hit:
        chunk = hit.chunk
        path, root = chunk.relative_path, self._roots.get(chunk.repo)
        if root is None:
            return hit
        if "\\" in path:
            path = self._by_row(chunk.repo).get(path, path)
        named = chunk._replace(
            file_path=f"{root}/{path}", relative_path=path, filename=path.rpartition("/")[2]
        )
        return hit._replace(chunk=named)

    @cached_property
    def _roots(self) -> Mapping[str, str]:
        return {known.name: known.root for known in self._catalogue.repositories()}

    def _by_row(self, repo: str) -> Mapping[str, str]:
        if repo not in self._paths:
            shown = ((display_path(path), path) for path in self._catalogue.files(repo))
            self._paths[repo] = {row: path for row, path in shown if "\\" in row}
        return self._paths[repo]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """How a reply is written, so that its size is measured on what is really sent."""

    serialise: Callable[[Hit, Detail, str], str]
    """A row with the hit's text in it."""
    envelope: int = 0
    """Characters that stand around the rows."""
    separator: int = 0
    """Characters between two rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What someone asks for."""

    text: str = ""
    mode: Mode = Mode.hybrid
    where: Filter = NO_FILTER
    limit: int = 10
    min_score: float = 0.0
    token_budget: int | None = None
    """Of the texts that are given out; what does not fit is given in less detail."""
    stage: Stage | None = None
    exhaustive: bool = False
    cursor: str | None = None
    code_snippet: str | None = None
    """The code that mode `similar` compares with; without it the text is that code."""
    place: CodePlace | None = None
    """The place in the repository that mode `similar` compares with, instead of a snippet."""
    context_lines: int = 0
    """How many lines of the file are wanted above and below each hit."""
    bm25_weight: float | None = None
    """Deprecated, for `hybrid`: what words count beside vectors, 0 to 1; 0.5 changes nothing."""
    written: Written | None = None
    """How the reply is written; without it the texts alone are measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReply:
    """What was found, and an account of what was not given out."""

    search: Search
    selection: Selection
    total: Total
    state: Freshness
    seconds: float
    places: int = 0
    """How many chunks the matches are in, pages that were not asked for included."""
    cursor: str | None = None
    did_you_mean: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What the reader should know about how the answer came about."""
    around: Mapping[ChunkKey, Surroundings] = field(default_factory=dict)
    """The lines around hits, where they were asked for."""
    model: Model | None = None
    """What the hits are compared with, where the request named a place."""
    vectors_of: ModelIdentity | None = None
    """Whose vectors were compared, where any were."""
    cutoff: float | None = None
    """The distance beyond which chunks have little to do with the question, by that model."""


class Prepared(NamedTuple):
    """A request that was checked, before anything is opened for it."""

    request: SearchRequest
    options: SelectionOptions
    question: Question


def prepared(request: SearchRequest) -> Prepared:
    """Check a request; an error says what is wrong with it."""
    return Prepared(request, _selection_options(request), _question(request))


def search(snapshot: QuerySnapshot, asked: Prepared, places: Places, warm: Warm) -> SearchReply:
    """Answer one query from one state of a repository's index."""
    request, registered, catalogue = asked.request, snapshot.registered, snapshot.catalogue
    if snapshot.version == 0 or not snapshot.is_known:
        raise IndexMissing(_why_empty(catalogue, registered))
    directory = registered.project.directory
    chunks = warm.snapshot(directory, catalogue)
    where = _narrowed(request.where, registered, catalogue)
    wanted = Search(
        question=asked.question,
        mode=request.mode,
        where=where,
        limit=request.limit,
        min_score=request.min_score,
        rerank=not request.exhaustive,
        bm25_weight=request.bm25_weight,
    )
    sources = Sources(chunks, catalogue, where)
    means = Means(snapshot.settings, places, warm, directory)
    searched = _Searched(registered, chunks, RowPaths(catalogue))
    model = None
    if request.place is None:
        found = find(wanted, sources, means)
    else:
        found, model = found_like(request.place, registered, wanted, sources, means)
    selection, cursor = _select(found, asked, wanted, searched)
    shut_out = not found.rows and not found.notes and not chunks.count(where)
    around: Mapping[ChunkKey, Surroundings] = {}
    if request.context_lines:
        around = surroundings([kept.hit.chunk for kept in selection.kept], request.context_lines)
    return SearchReply(
        search=wanted,
        selection=selection,
        total=found.total,
        state=snapshot.freshness,
        seconds=time.monotonic() - snapshot.began,
        places=len(found.rows),
        cursor=cursor,
        did_you_mean=found.did_you_mean,
        notes=(*found.notes, *_notes(request, asked.question, shut_out)),
        around=around,
        model=model,
        vectors_of=found.vectors_of,
        cutoff=found.cutoff,
    )


def _selection_options(request: SearchRequest) -> SelectionOptions:
    """What the selector is to do; whatever is wrong with a number is said before anything runs."""
    check_text("query", request.text)
    check_text("code_snippet", request.code_snippet or "")
    check_text("cursor", request.cursor or "")
    if request.cursor is not None and not request.exhaustive:
        raise UsageError("A cursor belongs to an exhaustive search; ask exhaustively with it.")
    if not (0 <= request.min_score <= 1 and math.isfinite(request.min_score)):
        raise UsageError(f"The minimum score is {request.min_score}; give 0 to 1.")
    if request.token_budget is not None and request.token_budget < 1:
        raise UsageError(f"The token budget is {request.token_budget}; give 1 or more.")
    if not 0 <= request.context_lines <= MOST_LINES:
        raise UsageError(
            f"{request.context_lines} lines of context are asked for; give 0 to {MOST_LINES}."
        )
    options = limited(CHUNKS, request.limit, exhaustive=request.exhaustive)
    options = replace(options, gate=request.min_score, token_budget=request.token_budget)
    return staged(options, request.stage)


def _question(request: SearchRequest) -> Question:
    if request.mode is not Mode.similar:
        if request.code_snippet is not None or request.place is not None:
            raise UsageError("A piece of code to compare with belongs to mode similar; ask so.")
        return understand(request.text)
    if request.place is not None:
        return question_of(request.place)
    if request.code_snippet is not None:
        return understand_code(request.code_snippet)
    if not request.text.strip():
        raise UsageError(
            "Mode similar needs a piece of code to compare with; give it as the question, or give "
            "a place in the repository to `asterism similar`."
        )
    question = understand(request.text)
    return question if question.symbol is not None else understand_code(request.text)


def _narrowed(where: Filter, registered: Registered, catalogue: Catalogue) -> Filter:
    """The filter for one repository unless it names others, which have to exist."""
    if not where.repos:
        return replace(where, repos=(registered.repository.name,))
    known = sorted(repository.name for repository in catalogue.repositories())
    for name in where.repos:
        if name not in known:
            raise UsageError(
                f"There is no repository {name} in the project {registered.project.name}; there "
                f"is {', '.join(known)}."
            )
    return where


def _select(
    found: Found, asked: Prepared, wanted: Search, searched: "_Searched"
) -> tuple[Selection, str | None]:
    """What is given out of what was found, and where the next page begins."""
    request, options = asked.request, asked.options
    if request.exhaustive:
        repository, version = searched.registered.repository, searched.snapshot.version
        origin = origin_of(wanted, repository.id, version)
        page = page_of(found.rows, origin, request.limit, request.cursor)
        hits = searched.paths.verbatim(found.read(page.rows))
        selection = select(hits, options, _measure(request, Measure(render=_concise)))
        kept = tuple(
            one._replace(detail=Detail.signature) if one.detail is Detail.full else one
            for one in selection.kept
        )
        return replace(selection, kept=kept), page.cursor
    best = found.best() if found.best is not None else found.read(found.rows)
    hits = searched.paths.verbatim(best)
    measure = _measure(request, Measure(excerpt=excerpts_for(asked.question)))
    selection = select(hits, options, measure)
    return _with_unread(selection, len(found.rows) - len(hits)), None


def _measure(request: SearchRequest, plain: Measure) -> Measure:
    """The measure for the reply as it is written."""
    how = request.written
    if how is None:
        return plain
    return replace(plain, serialise=how.serialise, envelope=how.envelope, separator=how.separator)


def _concise(hit: Hit, detail: Detail) -> str:
    """A row of a list of everything: the lines that match, else what the symbol says of itself."""
    if detail is Detail.location:
        return source_text(hit, detail)
    chunk = hit.chunk
    lines = chunk.full_source.split("\n")
    if hit.lines:
        return "\n".join(lines[line - chunk.start_line] for line in hit.lines)
    return chunk.signature or next(filter(str.strip, lines), "")


def _with_unread(selection: Selection, unread: int) -> Selection:
    """The account with places that were not even read: they are over the limit as well."""
    if unread <= 0:
        return selection
    account = selection.account
    return replace(
        selection,
        account=replace(
            account,
            total_count=account.total_count + unread,
            over_count=account.over_count + unread,
            dropped=account.dropped._replace(budget=account.dropped.budget + unread),
        ),
    )


def _notes(request: SearchRequest, question: Question, shut_out: bool) -> Iterator[str]:
    if shut_out:
        yield "Nothing in the index passes the filters; check their values, or leave some out."
    if question.left_out:
        yield f"The last {question.left_out:,} characters of the question are not used."
    if request.code_snippet is not None and request.text.strip():
        yield "Compared with the piece of code alone; the words of the question are not used."


class _Searched(NamedTuple):
    """Where hits come from."""

    registered: Registered
    snapshot: ChunkSnapshot
    paths: RowPaths


def _why_empty(catalogue: Catalogue, registered: Registered) -> str:
    repository = registered.repository
    if repository.name not in {each.name for each in catalogue.repositories()}:
        return not_indexed(repository.root)
    root = display_path(repository.root)
    return first_build(catalogue, repository) or (
        f"The index of {root} is empty: no file was indexed; `asterism files {root} --skipped` "
        "says why."
    )
