"""A search of one snapshot of an index: find, rank, and select the hits to return."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Self

from asterism.analysis.source.text import read
from asterism.analysis.syntax.outlines import text_of
from asterism.engine.modes import SearchResources, SearchResult, find
from asterism.engine.snapshot import Freshness, QuerySnapshot
from asterism.engine.stores import DataDirectories
from asterism.engine.warm import Warm
from asterism.indexing.plan import first_build
from asterism.search.query.parse import understand, understand_code
from asterism.search.recall import CodePlace, Model, Sources
from asterism.search.selection.excerpts import excerpts_for
from asterism.search.selection.options import CHUNKS, SelectionOptions, limited, staged
from asterism.search.selection.select import select
from asterism.search.selection.sizes import Measure, source_text
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot
from asterism.store.registry import Registered
from asterism.types.deadlines import check_deadline
from asterism.types.errors import IndexMissing, InputError, UsageError
from asterism.types.files import display_path
from asterism.types.index import Chunk, ModelIdentity
from asterism.types.index_states import not_indexed
from asterism.types.request_limits import check_text
from asterism.types.search import (
    NO_FILTER,
    Detail,
    Filter,
    Hit,
    Mode,
    Question,
    Search,
    Selection,
    Stage,
    Total,
)

MOST_LINES = 10
"""More is better read in the file itself."""


class ContextLines(NamedTuple):
    """The lines directly above and below a chunk."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def lines_around(
    request: "SearchRequest", chunks: Iterable[Chunk]
) -> Mapping[ChunkKey, ContextLines]:
    """The lines that a request wants around chunks; none where the file has changed meanwhile."""
    files: dict[str, list[str]] = {}
    found: dict[ChunkKey, ContextLines] = {}
    count = request.context_lines
    if not count:
        return found
    for chunk in chunks:
        check_deadline()
        if chunk.file_path not in files:
            files[chunk.file_path] = _lines(chunk.file_path)
        lines = files[chunk.file_path]
        first, last = chunk.start_line - 1, chunk.end_line
        if lines[first:last] == chunk.full_source.split("\n"):
            before, after = lines[max(0, first - count) : first], lines[last : last + count]
            found[ChunkKey(chunk.repo, chunk.id)] = ContextLines(tuple(before), tuple(after))
    return found


def _lines(path: str) -> list[str]:
    try:
        text = text_of(path, read(path)).decode("utf-8", "replace")
    except InputError:
        return []
    return text.removesuffix("\n").split("\n")


class RowPaths:
    """Restores escaped paths of rows from the catalogue, which keeps paths verbatim."""

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
class ReplyFormat:
    """How a reply is serialised, so that its size is measured on the text that is sent."""

    serialise: Callable[[Hit, Detail, str], str]
    """Returns the row of a hit, with its text in it."""
    envelope: int = 0
    """Characters around the rows."""
    separator: int = 0
    """Characters between two rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A search: query, mode, filters and limits."""

    text: str = ""
    mode: Mode = Mode.hybrid
    where: Filter = NO_FILTER
    limit: int = 10
    min_score: float = 0.0
    token_budget: int | None = None
    """Limit for the returned texts; hits that do not fit are returned in less detail."""
    stage: Stage | None = None
    exhaustive: bool = False
    cursor: str | None = None
    code_snippet: str | None = None
    """The code that mode `similar` compares with (default: `text`)."""
    place: CodePlace | None = None
    """The place in the repository that mode `similar` compares with, instead of a snippet."""
    context_lines: int = 0
    """How many lines of the file to return above and below each hit."""
    spread: bool = True
    """Whether further symbols of a file come later, as in lists of places."""
    bm25_weight: float | None = None
    """Deprecated, for `hybrid`: the weight of words against vectors, 0 to 1; 0.5 is neutral."""
    written: ReplyFormat | None = None
    """How the reply is serialised (default: only the texts are measured)."""

    def whole(self, limit: int) -> Self:
        """The request for hits in full, whatever their score and length, to choose from."""
        return replace(
            self, limit=limit, min_score=0.0, token_budget=None, context_lines=0, spread=False
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReply:
    """The selected hits, and an account of those that were left out."""

    search: Search
    selection: Selection
    total: Total
    state: Freshness
    seconds: float
    places: int = 0
    """How many chunks have matches, on all pages."""
    cursor: str | None = None
    did_you_mean: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Remarks for the reader, as on a fallback or a filter that excludes everything."""
    around: Mapping[ChunkKey, ContextLines] = field(default_factory=dict)
    """The lines around hits, if the request has `context_lines`."""
    model: Model | None = None
    """The code that hits were compared with, if the request names a place."""
    vectors_of: ModelIdentity | None = None
    """The model whose vectors were compared, if any."""
    cutoff: float | None = None
    """The vector distance beyond which chunks are hardly related to the query."""
    stage: Stage | None = None


class CheckedRequest(NamedTuple):
    """A valid request with its parsed query; made before an index is opened."""

    request: SearchRequest
    options: SelectionOptions
    question: Question


def prepared(request: SearchRequest) -> CheckedRequest:
    """Check a request; raises UsageError with the reason."""
    return CheckedRequest(request, _selection_options(request), _question(request))


def search(
    snapshot: QuerySnapshot, asked: CheckedRequest, places: DataDirectories, warm: Warm
) -> SearchReply:
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
        spread=request.spread,
    )
    sources = Sources(chunks, catalogue, where)
    means = SearchResources(snapshot.settings, places, warm, directory)
    searched = _Searched(registered, chunks, RowPaths(catalogue))
    model = None
    if request.place is None:
        found = find(wanted, sources, means)
    else:
        from asterism.engine.lookups import found_like

        found, model = found_like(request.place, registered, wanted, sources, means)
    selection, cursor = _select(found, asked, wanted, searched)
    shut_out = not found.rows and not found.notes and not chunks.count(where)
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
        around=lines_around(request, [kept.hit.chunk for kept in selection.kept]),
        model=model,
        vectors_of=found.vectors_of,
        cutoff=found.cutoff,
        stage=request.stage,
    )


def _selection_options(request: SearchRequest) -> SelectionOptions:
    """The options of the selector; raises UsageError for a value out of range."""
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
        from asterism.engine.lookups import question_of

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
    """The filter, limited to this repository unless it names others; those must exist."""
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
    found: SearchResult, asked: CheckedRequest, wanted: Search, searched: "_Searched"
) -> tuple[Selection, str | None]:
    """The hits to return, and the cursor of the next page."""
    request, options = asked.request, asked.options
    if request.exhaustive:
        from asterism.search.cursors import origin_of, page_of

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
    """The measure of a hit's size in this request's reply format."""
    how = request.written
    if how is None:
        return plain
    return replace(plain, serialise=how.serialise, envelope=how.envelope, separator=how.separator)


def _concise(hit: Hit, detail: Detail) -> str:
    """A hit of an exhaustive list: the lines that match, else the signature or first line."""
    if detail is Detail.location:
        return source_text(hit, detail)
    chunk = hit.chunk
    lines = chunk.full_source.split("\n")
    if hit.lines:
        return "\n".join(lines[line - chunk.start_line] for line in hit.lines)
    return chunk.signature or next(filter(str.strip, lines), "")


def _with_unread(selection: Selection, unread: int) -> Selection:
    """Adds the rows that were not read to the account, as over the limit."""
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
    """The repository and the snapshot that hits are read from."""

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
