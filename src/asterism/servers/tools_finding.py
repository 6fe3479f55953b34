"""The tools that find: codebase_search, search_code and symbol_lookup, over the engine."""

from dataclasses import replace
from functools import partial

from asterism.backends.store.registry import Registered
from asterism.domain.errors import UsageError
from asterism.domain.filters import Filter
from asterism.domain.search import Mode
from asterism.domain.selection import Stage
from asterism.engine.searching import SearchReply, SearchRequest, Written
from asterism.operations.calls import Call
from asterism.operations.limits import Part, Reply, compact, fitted
from asterism.operations.repositories import inside
from asterism.operations.schema import Json
from asterism.retrieval.filters import applied, parse_filters
from asterism.retrieval.selection_options import CHUNKS
from asterism.retrieval.selection_sizes import CHARS_PER_TOKEN
from asterism.servers.tools_wire import (
    context_json,
    search_json,
    search_text,
    serialised_row,
    shown_query,
)

ENVELOPE = 1_100
"""Characters of a reply without rows, question and filters: the account with its names, ids, a note
or two. A final measurement catches what is longer."""
META = "asterism"
"""Where machines find what a text says to a model."""


def codebase_search(call: Call) -> Reply:
    """The connection graph, then the code of each file, then what the reader should know."""
    arguments, registered = call.arguments, call.repository()
    request = SearchRequest(
        text=arguments["query"], where=_where(call, registered), limit=arguments["limit"]
    )
    budget, gate = arguments["max_tokens"], arguments.get("min_score")
    found = call.engine.context(registered, request, budget, gate)
    parts = [Part(part.text, part.priority) for part in found.assembly.parts]
    state = found.search.state.message
    remarks = [*found.notes, *([state] if state else [])]
    if found.search.did_you_mean:
        remarks.append(f"Did you mean {', '.join(found.search.did_you_mean)}?")
    if remarks:
        least = min((part.priority for part in parts), default=1.0)
        parts.append(Part("Notes:\n" + "\n".join(f"- {note}" for note in remarks), least / 2))
    return Reply(parts=tuple(parts), meta={META: context_json(found, registered)}, account=META)


def search_code(call: Call) -> Reply:
    """Rows that are complete by themselves, and an account of the rest."""
    registered = call.repository()
    asked = _request(call, registered)
    reply = _answered(call, registered, asked)
    limit = asked.limit
    # A page ends where its room does, so that the cursor goes on with the first row left out.
    while asked.exhaustive and limit > 1 and _left_out(reply):
        limit = max(1, min(limit - 1, _returned(reply)))
        reply = _answered(call, registered, replace(asked, limit=limit))
    return reply


def _answered(call: Call, registered: Registered, asked: SearchRequest) -> Reply:
    found: SearchReply = call.engine.search(registered, asked)
    structured = search_json(found, registered, call.arguments["explain"])
    if asked.limit < call.arguments["limit"]:
        structured = _shorter_page(structured, call)
    reply = Reply(
        parts=(Part(search_text(structured)),),
        structured=structured,
        rows="results",
        render=search_text,
    )
    return fitted(reply, call.limit)


def _request(call: Call, registered: Registered) -> SearchRequest:
    arguments = call.arguments
    where = _where(call, registered)
    stage = arguments.get("stage")
    around = 2 * len(compact(shown_query(arguments["query"]))) + len(compact(applied(where)))
    serialise = partial(
        serialised_row, explain=arguments["explain"], lines=arguments["context_lines"]
    )
    return SearchRequest(
        text=arguments["query"],
        mode=Mode(arguments["mode"]),
        where=where,
        limit=arguments["limit"],
        min_score=arguments.get("min_score", 0.0),
        token_budget=call.limit // CHARS_PER_TOKEN if call.limit < CHUNKS.limit_chars else None,
        stage=None if stage is None else Stage(stage),
        exhaustive=arguments["exhaustive"],
        cursor=arguments.get("cursor"),
        code_snippet=arguments.get("code_snippet"),
        context_lines=arguments["context_lines"],
        bm25_weight=arguments.get("bm25_weight"),
        # Between two rows stand a comma, and a line's end that is written as two characters.
        written=Written(serialise=serialise, envelope=ENVELOPE + around, separator=3),
    )


def _where(call: Call, registered: Registered) -> Filter:
    """The filters of a call, whichever parameter they came by."""
    arguments = call.arguments
    given: Json = dict(arguments.get("filters") or {})
    for parameter, key in (("languages", "languages"), ("file_type", "extension")):
        if parameter in arguments:
            _once(given, key, parameter)
            given[key] = arguments[parameter]
    if "path" in arguments:
        _once(given, "path", "path")
        given["path"] = [_checked(registered, path) for path in arguments["path"]]
    if "directory" in arguments:
        _once(given, "context_path_prefix", "directory")
        folders = [_checked(registered, folder).rstrip("/") for folder in arguments["directory"]]
        # The root itself narrows nothing.
        if not {"", "."} & {*folders}:
            given["context_path_prefix"] = [f"{folder}/" for folder in folders]
    return parse_filters(given, registered.repository.root)


def _checked(registered: Registered, path: str) -> str:
    """A path that stays in the repository, as it was written."""
    inside(registered, path)
    return path


def _once(given: Json, key: str, parameter: str) -> None:
    if given.get(key) is not None:
        raise UsageError(f"{parameter} and filters.{key} say the same; give one of them.")


def _left_out(reply: Reply) -> int:
    count: int = (reply.structured or {})["dropped"]["budget"]
    return count


def _returned(reply: Reply) -> int:
    count: int = (reply.structured or {})["returned_count"]
    return count


def _shorter_page(structured: Json, call: Call) -> Json:
    """The page with a word on why it has fewer rows than were asked for."""
    reason = "token_budget" if call.limit < CHUNKS.limit_chars else "character_limit"
    wanted = call.arguments["limit"]
    info = {**structured["truncation_info"], "reason": reason, "original_count": wanted}
    note = "This page has room for fewer rows than asked for; the cursor goes on after them."
    notes = [*structured["notes"], note]
    return {**structured, "truncated": True, "truncation_info": info, "notes": notes}
