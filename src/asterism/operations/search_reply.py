"""Replies of searches: rows with their account, contexts, and rows as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from asterism.operations.json import (
    Accounted,
    Located,
    Timed,
    accounted,
    compact,
    located,
    timed,
    to_json,
)
from asterism.operations.schema import Json
from asterism.types.files import display_name, display_path, wire_path
from asterism.types.search import Detail, Hit, Kept, Signal

if TYPE_CHECKING:
    # They bring the engine, which a list of operations does not need.
    from asterism.engine.context_reply import ContextReply, PlacedHit
    from asterism.engine.search import ContextLines, SearchReply, SearchRequest
    from asterism.store.chunk_table import ChunkKey
    from asterism.store.registry import Registered

LONGEST_ECHO = 120
"""Characters of a query that a reply repeats; a longer one is truncated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRow:
    """Where a result is; its code is in the parts of the reply. Its lines are those of now."""

    chunk_id: str
    repo: str
    file_path: str
    language: str
    detail: str
    start_line: int
    end_line: int
    similarity_score: float
    kind: str
    qualified_name: str
    signature: str | None = None
    absolute_path: str | None = None
    """Where the file is on this machine; only local callers are told, and of the signature too."""


class CandidateRow(NamedTuple):
    """Where something is that was found and is not among the results."""

    file_path: str
    start_line: int
    end_line: int
    qualified_name: str
    similarity_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRow:
    """A piece of code that was found, complete by itself."""

    chunk_id: str
    repo: str
    file_path: str
    language: str
    content: str | None = None
    detail: str
    start_line: int
    end_line: int
    similarity_score: float
    distance: float | None
    kind: str
    qualified_name: str
    signature: str
    context_before: str
    context_after: str
    matching_lines: tuple[int, ...] = ()
    gaps: tuple[tuple[int, int], ...] = ()
    within: str | None = None
    below_threshold: bool = False
    why: tuple[Signal, ...] | None = None
    absolute_path: str | None = None
    """Where the file is on this machine; only local callers are told."""

    @property
    def name(self) -> str:
        """`qualified_name`, as programs written for earlier versions call it."""
        return self.qualified_name

    @property
    def path(self) -> str:
        """`file_path`, likewise."""
        return self.file_path

    @property
    def score(self) -> float:
        """`similarity_score`, likewise."""
        return self.similarity_score

    @property
    def text(self) -> str | None:
        """`content`, likewise."""
        return self.content


@dataclass(frozen=True, kw_only=True)
class _Searched(Located):
    """What was searched for, where, and how many matches there are."""

    query: str
    mode: str
    filters_applied: Mapping[str, object]
    total_matches: int
    total_is_exact: bool
    did_you_mean: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SearchFound(Timed, Accounted, _Searched):
    """The rows of a search, and an account of those left out."""

    results: tuple[SearchRow, ...]


@dataclass(frozen=True, kw_only=True)
class ContextFound(Timed, Accounted, _Searched):
    """The machine's part of a context: where each result is, and the account."""

    used_tokens: int
    budget: int
    results: tuple[ContextRow, ...]
    candidates: tuple[CandidateRow, ...] = ()
    """The best of what is not among the results."""


@dataclass(frozen=True, kw_only=True)
class ContextAnswer(ContextFound):
    """The same with the texts, as programs get it."""

    parts: tuple[Mapping[str, object], ...]


class RowOptions(NamedTuple):
    """What the rows of a reply hold beside what all rows do."""

    explain: bool = False
    """The signals behind the rank."""
    content: bool = True
    is_local: bool = False
    """The caller is on this machine: rows have `absolute_path`."""


def search_found(reply: SearchReply, registered: Registered, options: RowOptions) -> SearchFound:
    """The record of a search."""
    return SearchFound(
        **_asked(reply, registered),
        **accounted(reply.selection.account),
        **timed(reply.seconds),
        cursor=reply.cursor,
        notes=reply.notes,
        results=tuple(
            _row(kept, reply.around.get(_key(kept.hit)), options) for kept in reply.selection.kept
        ),
    )


def context_found(
    reply: ContextReply, registered: Registered, *, is_local: bool = False
) -> ContextFound:
    """The record of a context; for a local caller its rows have `absolute_path`."""
    assembly = reply.assembly
    return ContextFound(
        **_asked(reply.search, registered),
        **accounted(reply.account),
        **timed(reply.seconds),
        cursor=None,
        notes=reply.notes,
        used_tokens=assembly.used_tokens,
        budget=assembly.budget,
        results=tuple(
            _context_row(place, detail, is_local)
            for place, detail in zip(reply.results, assembly.details, strict=True)
            if detail is not None
        ),
        candidates=tuple(
            CandidateRow(
                file_path=wire_path(one.path),
                start_line=one.lines.first,
                end_line=one.lines.last,
                qualified_name=one.name,
                similarity_score=round(one.score, 4),
            )
            for one in reply.candidates
        ),
    )


def _asked(reply: SearchReply, registered: Registered) -> Json:
    from asterism.search.filters import applied

    return {
        **located(registered),
        "query": shown_query(reply.search.question.text),
        "mode": reply.search.mode.value,
        "filters_applied": applied(reply.search.where),
        "total_matches": reply.total.matches,
        "total_is_exact": reply.total.exact,
        "did_you_mean": reply.did_you_mean,
        "index_state": reply.state._asdict(),
    }


def shown_query(text: str) -> str:
    """A query as a reply repeats it."""
    return text if len(text) <= LONGEST_ECHO else f"{text[:LONGEST_ECHO]}…"


def serialised_row(
    hit: Hit, detail: Detail, text: str, explain: bool, request: SearchRequest
) -> str:
    """A row as a reply has it: its JSON and its line of text, to be measured."""
    from asterism.engine.search import lines_around

    around = lines_around(request, [hit.chunk])
    kept = Kept(hit, detail, text, line_count=0)
    row = to_json(_row(kept, around.get(_key(hit)), RowOptions(explain)))
    return compact(row) + compact(_line(row))


def _key(hit: Hit) -> ChunkKey:
    # A list of operations does not need the store.
    from asterism.store.chunk_table import ChunkKey

    return ChunkKey(hit.chunk.repo, hit.chunk.id)


def _row(kept: Kept, around: ContextLines | None, options: RowOptions) -> SearchRow:
    hit, chunk = kept.hit, kept.hit.chunk
    return SearchRow(
        chunk_id=chunk.id,
        repo=chunk.repo,
        file_path=wire_path(chunk.relative_path),
        language=chunk.language,
        content=kept.text if options.content else None,
        detail=kept.detail.value,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        similarity_score=round(hit.score, 4),
        distance=None if hit.distance is None else round(hit.distance, 6),
        kind=chunk.node_kind,
        qualified_name=chunk.qualified_name,
        signature=chunk.signature,
        context_before="\n".join(around.before) if around else "",
        context_after="\n".join(around.after) if around else "",
        matching_lines=hit.lines,
        gaps=tuple((gap.first, gap.last) for gap in kept.gaps),
        within=kept.within,
        below_threshold=kept.below_threshold,
        why=hit.why if options.explain else None,
        absolute_path=wire_path(chunk.file_path) if options.is_local else None,
    )


def _context_row(place: PlacedHit, detail: Detail, is_local: bool) -> ContextRow:
    chunk = place.chunk
    return ContextRow(
        chunk_id=chunk.id,
        repo=chunk.repo,
        file_path=wire_path(chunk.relative_path),
        language=chunk.language,
        detail=detail.value,
        start_line=place.lines.first,
        end_line=place.lines.last,
        similarity_score=round(place.score, 4),
        kind=chunk.node_kind,
        qualified_name=chunk.qualified_name,
        signature=chunk.signature if is_local else None,
        absolute_path=wire_path(chunk.file_path) if is_local else None,
    )


def _line(row: Json) -> str:
    lines = f"{row['start_line']}-{row['end_line']}"
    named = " ".join(word for word in (row["kind"], display_name(row["qualified_name"])) if word)
    return f"{display_path(row['file_path'])}:{lines}  {named}  {row['similarity_score']:.2f}"


def search_text(found: Json) -> str:
    """The rows of a search for clients that show no structured content: where each is."""
    more = "" if found["total_is_exact"] else " or more"
    count = found["returned_count"]
    head = (
        f"{count} result{'' if count == 1 else 's'} for {compact(found['query'])} "
        f"({found['mode']}); {found['total_matches']:,}{more} matches."
    )
    return "\n".join([head, *map(_line, found["results"]), *remarks(found)])


def remarks(found: Json) -> Iterator[str]:
    """Notes on what was left out and on the freshness of the index."""
    info, dropped = found["truncation_info"], found["dropped"]
    if found["truncated"]:
        yield (
            f"Shortened ({info['reason']}): {info['returned_count']} of {info['original_count']} "
            "fit; ask narrower, or raise max_tokens."
        )
    left_out = [f"{count:,} {reason}" for reason, count in dropped.items() if count]
    if left_out:
        yield f"Left out: {', '.join(left_out)}."
    if found["cursor"]:
        yield f"There are more; go on with cursor {found['cursor']}"
    if found.get("did_you_mean"):
        yield f"Did you mean {', '.join(found['did_you_mean'])}?"
    yield from found["notes"]
    if found["index_state"]["message"]:
        yield found["index_state"]["message"]
