"""The operations that search: codebase_search, search_code and similar_code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from asterism.operations.calls import Call
from asterism.operations.json import compact, to_json
from asterism.operations.limits import CallReply, TextPart, fitted, reply_of
from asterism.operations.operation import Operation, Route
from asterism.operations.requests import CodebaseSearch, SearchCode, SimilarCode, engine_request
from asterism.operations.schema import Json
from asterism.operations.search_reply import (
    ContextAnswer,
    RowOptions,
    SearchFound,
    context_found,
    search_found,
    search_text,
    serialised_row,
    shown_query,
)
from asterism.types.errors import UsageError
from asterism.types.search import Filter

if TYPE_CHECKING:
    # They bring the engine, which a list of operations does not need.
    from asterism.engine.context_reply import ContextReply
    from asterism.engine.search import SearchReply, SearchRequest
    from asterism.store.registry import Registered

ENVELOPE = 1_100
"""Characters of a reply without rows, query and filters: the account with its names, ids, a note or
two. A final measurement catches what is longer."""
META = "asterism"
"""The key of `_meta` that holds the data of a reply whose content is text."""


def codebase_search(call: Call, asked: CodebaseSearch) -> CallReply:
    """The connection graph, then the code of each file, then what the reader should know."""
    from asterism.engine.search import SearchRequest

    registered = call.repository()
    where = _where(registered, asked.filters, path=asked.path, languages=asked.languages)
    request = SearchRequest(text=asked.query, where=where, limit=asked.limit)
    found = call.engine.context(registered, request, asked.max_tokens, asked.min_score)
    return context_reply(found, registered)


def context_reply(
    found: ContextReply, registered: Registered, *, is_local: bool = False
) -> CallReply:
    """A context as parts, with the account beside them."""
    parts = [TextPart(part.text, part.priority) for part in found.assembly.parts]
    state = found.search.state.message
    remarks = [*found.notes, *([state] if state else [])]
    if found.search.did_you_mean:
        remarks.append(f"Did you mean {', '.join(found.search.did_you_mean)}?")
    if remarks:
        least = min((part.priority for part in parts), default=1.0)
        parts.append(TextPart("Notes:\n" + "\n".join(f"- {note}" for note in remarks), least / 2))
    meta = {META: to_json(context_found(found, registered, is_local=is_local))}
    return CallReply(parts=tuple(parts), meta=meta, account=META)


def search_code(call: Call, asked: SearchCode) -> CallReply:
    """The rows of a search, and an account of what was left out."""
    registered = call.repository()
    where = _where(registered, asked.filters, file_type=asked.file_type, directory=asked.directory)
    request = _written(call, asked, where, asked.query)
    return _page(call, asked, request, partial(call.engine.search, registered))


def similar_code(call: Call, asked: SimilarCode) -> CallReply:
    """Rows of code like the code at a place."""
    from asterism.operations.repositories import inside

    registered = call.repository()
    path = inside(registered, asked.file_path)
    where = _where(registered, asked.filters)
    request = _written(call, asked, where, asked.file_path)
    lines = (asked.start_line, asked.end_line)
    return _page(
        call, asked, request, lambda one: call.engine.similar(registered, one, path, lines)
    )


def _page(
    call: Call,
    asked: SearchCode | SimilarCode,
    request: SearchRequest,
    search: Callable[[SearchRequest], SearchReply],
) -> CallReply:
    """The rows; a page that is full ends early, and its cursor goes on with the next row."""
    reply = _answered(call, asked, request, search)
    while asked.exhaustive and request.limit > 1 and _left_out(reply):
        limit = max(1, min(request.limit - 1, _returned(reply)))
        request = replace(request, limit=limit)
        reply = _answered(call, asked, request, search)
    return reply


def _answered(
    call: Call,
    asked: SearchCode | SimilarCode,
    request: SearchRequest,
    search: Callable[[SearchRequest], SearchReply],
) -> CallReply:
    options = RowOptions(asked.explain)
    found: Json = to_json(search_found(search(request), call.repository(), options))
    if request.limit < asked.limit:
        found = _shorter_page(found, asked.limit, call)
    return fitted(reply_of(found, "results", search_text), call.limit)


def _written(
    call: Call, asked: SearchCode | SimilarCode, where: Filter, query: str
) -> SearchRequest:
    """The request with the size of rows as they are sent, instead of that of their texts."""
    from asterism.engine.search import ReplyFormat, SearchRequest
    from asterism.search.filters import applied
    from asterism.search.selection.options import CHARS_PER_TOKEN, CHUNKS

    request = engine_request(asked, SearchRequest, where=where)
    around = 2 * len(compact(shown_query(query))) + len(compact(applied(where)))
    serialise = partial(serialised_row, explain=asked.explain, request=request)
    return replace(
        request,
        token_budget=call.limit // CHARS_PER_TOKEN if call.limit < CHUNKS.limit_chars else None,
        # Between two rows stand a comma, and a line's end that is written as two characters.
        written=ReplyFormat(serialise=serialise, envelope=ENVELOPE + around, separator=3),
    )


_KEYS = {"file_type": "extension", "directory": "context_path_prefix"}
"""The filter that a parameter means, where it has another name."""


def _where(registered: Registered, filters: Json, **parameters: list[str] | None) -> Filter:
    """The filters of a call: `filters`, and the parameters that are filters by another name."""
    from asterism.operations.repositories import inside
    from asterism.search.filters import parse_filters

    given: Json = dict(filters)
    for parameter, values in parameters.items():
        key = _KEYS.get(parameter, parameter)
        if values is None:
            continue
        if given.get(key) is not None:
            raise UsageError(f"{parameter} and filters.{key} say the same; give one of them.")
        if parameter in ("path", "directory"):
            for value in values:
                inside(registered, value)
        if parameter == "directory":
            folders = [folder.rstrip("/") for folder in values]
            # The root itself narrows nothing.
            if {"", "."} & {*folders}:
                continue
            values = [f"{folder}/" for folder in folders]
        given[key] = values
    return parse_filters(given, registered.repository.root)


def _left_out(reply: CallReply) -> int:
    count: int = (reply.structured or {})["dropped"]["budget"]
    return count


def _returned(reply: CallReply) -> int:
    count: int = (reply.structured or {})["returned_count"]
    return count


def _shorter_page(structured: Json, wanted: int, call: Call) -> Json:
    """The page with a note on why it has fewer rows than were asked for."""
    from asterism.search.selection.options import CHUNKS

    reason = "token_budget" if call.limit < CHUNKS.limit_chars else "character_limit"
    info = {**structured["truncation_info"], "reason": reason, "original_count": wanted}
    note = "Fewer rows than asked for fit on this page; the cursor goes on after them."
    notes = [*structured["notes"], note]
    return {**structured, "truncated": True, "truncation_info": info, "notes": notes}


OPERATIONS = (
    Operation(
        name="codebase_search",
        title="Search the codebase",
        description="""\
Find the code for a task and see how it connects. Start here to understand or change code.

Use it for: "where is X handled?", "how does Y work?", what to read before an edit, one known \
symbol with all it needs (`symbol = Class.method`, also `symbol = path > Class > method`).
Do not use it for: every occurrence of something (search_code with exhaustive=true), exact text \
or regex (search_code with mode="exact"), a list of uses (symbol_lookup).

Gives text: first a graph (callers, callees, types; ★ marks results, ◆ what several results \
use), then one part per file with the likeliest results whole and only what they use, then other \
candidates by place and name. Gaps in code are marked with their lines.

Example: {"query": "validate the session token of a request", "path": ["src/auth/"]}""",
        request=CodebaseSearch,
        reply=ContextAnswer,
        run=codebase_search,
        needs_index=True,
        limits_texts=True,
        is_tool=True,
        instruction="""\
codebase_search: understand or change code. "where is X handled", "how does Y work", or \
`symbol = Class.method`. Gives a graph of how the results connect, and the code of each file.""",
        route=Route("POST", "/api/context"),
    ),
    Operation(
        name="search_code",
        title="List matching code",
        description="""\
List code that matches, as rows with path, lines, score and content. For lists, audits and \
refactorings.

Use it for: all matches (exhaustive=true; go on with the reply's cursor until it is null), exact \
words, "phrases" or regex:PATTERN (mode="exact"), definitions by name (mode="definition"), code \
like a piece of code (mode="similar" with code_snippet), anything with filters.
Do not use it for: understanding how code works together (codebase_search reads better and is \
shorter), the uses of one known name (symbol_lookup is exact and faster).

Modes: hybrid (default: meaning and words), semantic (meaning alone), exact, definition, \
similar. Narrow step by step: stage="discover" first, then filters taken from its rows with \
stage="refine".

Example: {"query": "regex:print\\\\(", "mode": "exact", "exhaustive": true, "filters": \
{"path_prefix": "src/", "languages": ["python"]}}""",
        request=SearchCode,
        reply=SearchFound,
        run=search_code,
        needs_index=True,
        is_tool=True,
        instruction="""\
search_code: lists. Every match for an audit or a refactoring (exhaustive=true, then cursor), \
exact text or regex (mode="exact"), code like a snippet (mode="similar"), filters, scores.""",
        shows_reply=True,
        route=Route("POST", "/api/search"),
    ),
    Operation(
        name="similar_code",
        title="Find similar code",
        description="""\
List code like the code at a place: the symbol around a line, some lines, or a whole file. To \
compare with a piece of code that is in no file, search with mode `similar` and `code_snippet`.""",
        request=SimilarCode,
        reply=SearchFound,
        run=similar_code,
        needs_index=True,
        route=Route("POST", "/api/similar"),
    ),
)
