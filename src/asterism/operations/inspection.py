"""The operation that looks inside an index: index_debug."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from asterism.operations.calls import Call
from asterism.operations.json import EntryCounts, KnownRepository, known
from asterism.operations.limits import CallReply, plain_account, reply_of
from asterism.operations.operation import Operation, Route
from asterism.operations.schema import Json, MaxTokens, ProjectId, RepositoryId, switch, text, whole
from asterism.operations.search_reply import RowOptions, SearchFound, search_found, search_text
from asterism.types.errors import UsageError
from asterism.types.files import wire_path
from asterism.types.index import Link

if TYPE_CHECKING:
    # They bring the engine, which a list of operations does not need.
    from asterism.engine.inspection import IndexedChunk, Inspection

MOST_LINKS = 200
"""Imports and importers of a file that are listed; they are counted in any case."""

_MEANING = {
    "equal": "It is indexed as it is.",
    "changed": "It changed since it was indexed; the next search reads it again.",
    "new": "It is not indexed yet; the next search reads it.",
    "gone": "It is gone, and the index still has it; the next search drops it.",
    "excluded": "The index has it, although it is skipped now; the next search drops it.",
    "skipped": "It is not indexed, because it is skipped.",
    "unknown": "It cannot be compared with the index.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexDebug:
    """A file or a query that is to be explained."""

    file_path: Annotated[str | None, text("The file, from the repository's root.")] = None
    query: Annotated[str | None, text("A question whose ranking is to be explained.")] = None
    include_text: Annotated[
        bool, switch("With file_path: the text that a model reads of each chunk.")
    ] = False
    limit: Annotated[int, whole("With query: results to explain.", 1, 50)] = 10
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    max_tokens: MaxTokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedVerdict:
    """Whether a file belongs into the index, and why not."""

    indexed: bool
    reason: str | None
    detail: str | None
    inside: str | None
    """The folder that is skipped with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """A chunk as the index has it; its fields are null where its row is missing."""

    chunk_id: str
    has_vector: bool
    kind: str | None
    qualified_name: str | None
    start_line: int | None
    end_line: int | None
    text: str | None = ""
    """The text that is embedded; left out unless asked for."""


@dataclass(frozen=True, kw_only=True)
class _Inspected(KnownRepository):
    """A file on disk and in the index."""

    file_path: str
    on_disk: bool
    verdict: InspectedVerdict | None
    freshness: str
    message: str
    trouble: str | None
    language: str | None
    symbols: dict[str, int]
    imports_count: int
    imports: tuple[Json, ...]
    imported_by_count: int
    imported_by: tuple[str, ...]
    problems: tuple[Json, ...]
    chunks: tuple[ChunkRow, ...]


@dataclass(frozen=True, kw_only=True)
class InspectionFound(EntryCounts, _Inspected):
    """The state of a file in the index, and why parts of it are missing."""


def index_debug(call: Call, asked: IndexDebug) -> CallReply:
    """The index's view of one file, or the reasons behind a ranking."""
    from asterism.engine.search import SearchRequest
    from asterism.operations.repositories import inside

    if (asked.file_path is None) == (asked.query is None):
        raise UsageError(
            "Give file_path to look at a file, or query to explain a ranking; not both."
        )
    registered = call.repository()
    if asked.query is not None:
        request = SearchRequest(text=asked.query, limit=asked.limit)
        options = RowOptions(explain=True, content=False)
        found = search_found(call.engine.search(registered, request), registered, options)
        return reply_of(found, "results", search_text)
    inspected = call.engine.inspect(inside(registered, asked.file_path or ""))
    return reply_of(
        _inspection_found(inspected, asked.include_text, call.limit), "chunks", _inspection_text
    )


def _inspection_found(found: Inspection, with_text: bool, limit: int) -> InspectionFound:
    held, state = found.held, found.held.state
    return InspectionFound(
        **known(found.registered),
        **plain_account(len(held.chunks), len(held.chunks), limit),
        file_path=wire_path(found.path),
        on_disk=found.disk is not None,
        verdict=_verdict(found),
        freshness=found.freshness.value,
        message=_MEANING[found.freshness.value],
        trouble=held.trouble or found.unread or None,
        language=state and state.language,
        symbols={role.value: count for role, count in held.symbols.items()},
        imports_count=len(held.links),
        imports=tuple(_link(link) for link in held.links[:MOST_LINKS]),
        imported_by_count=len(held.importers),
        imported_by=tuple(wire_path(path) for path, _ in held.importers[:MOST_LINKS]),
        problems=tuple(problem._asdict() for problem in found.problems[:MOST_LINKS]),
        chunks=tuple(_chunk(entry, with_text) for entry in held.chunks),
    )


def _verdict(found: Inspection) -> InspectedVerdict | None:
    from asterism.operations.repositories import shown_detail

    verdict = found.verdict
    return verdict and InspectedVerdict(
        indexed=verdict.indexed,
        reason=verdict.reason and verdict.reason.value,
        detail=shown_detail(verdict.detail, found.registered.repository.root),
        inside=verdict.folder and f"{wire_path(verdict.folder)}/",
    )


def _link(link: Link) -> Json:
    return {
        "module": link.module,
        "target": link.target and wire_path(link.target),
        "names": list(link.names[:MOST_LINKS]),
    }


def _chunk(entry: IndexedChunk, with_text: bool) -> ChunkRow:
    chunk = entry.chunk
    return ChunkRow(
        chunk_id=entry.id,
        has_vector=entry.has_vector,
        kind=chunk and chunk.node_kind,
        qualified_name=chunk and chunk.qualified_name,
        start_line=chunk and chunk.start_line,
        end_line=chunk and chunk.end_line,
        text=(chunk and chunk.embedding_text) if with_text else "",
    )


def _inspection_text(found: Json) -> str:
    """The same for a model."""
    lines = [f"{found['file_path']}: {found['message']}"]
    verdict = found["verdict"]
    if verdict and not verdict["indexed"]:
        place = f" ({verdict['inside']})" if verdict["inside"] else ""
        detail = f": {verdict['detail']}" if verdict["detail"] else ""
        lines.append(f"Skipped: {verdict['reason']}{place}{detail}")
    if found["trouble"]:
        lines.append(found["trouble"])
    for chunk in found["chunks"]:
        place = f"{chunk['start_line']}-{chunk['end_line']}"
        lines.append(f"{place}  {chunk['kind']} {chunk['qualified_name']}")
        if "text" in chunk:
            lines.append(f"{chunk['text']}\n")
    if found["returned_count"] < found["total_count"]:
        lines.append(f"{found['returned_count']} of {found['total_count']} chunks are shown.")
    return "\n".join(lines)


OPERATIONS = (
    Operation(
        name="index_debug",
        title="Look inside the index",
        description="""\
Show what the index holds of one file and why not the rest, or why a query ranks as it does.

Use it for: a file that search never finds (is it ignored, too large, a secret, behind?), its \
chunks and the text a model reads of them (include_text), the signals behind the rank of each \
result (query).
Do not use it for: reading code (codebase_search) or the state of the whole index (index_status).

Example: {"file_path": "src/auth/token.ts"} or {"query": "refresh the token"}""",
        request=IndexDebug,
        reply=InspectionFound | SearchFound,
        run=index_debug,
        needs_index=True,
        is_tool=True,
        route=Route("GET", "/api/debug"),
    ),
)
