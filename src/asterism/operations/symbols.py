"""The operation that looks a name up: symbol_lookup."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from asterism.operations.calls import Call
from asterism.operations.json import Accounted, Located, compact, located
from asterism.operations.limits import (
    MOST_CHARS,
    CallReply,
    fitted,
    measured,
    plain_account,
    reply_of,
    restructured,
)
from asterism.operations.operation import Operation, Route
from asterism.operations.requests import SymbolLookup
from asterism.operations.schema import Json
from asterism.operations.search_reply import remarks
from asterism.search.cursors import Origin, read_cursor, write_cursor
from asterism.types.errors import InputError, UsageError
from asterism.types.files import display_path, wire_path
from asterism.types.index import FoundSymbol, Role, SymbolQuery
from asterism.types.search import FILTER_KEYS, Filter

if TYPE_CHECKING:
    # They bring the engine, which a list of operations does not need.
    from asterism.engine.lookups import Lookup
    from asterism.store.registry import Registered

EVERYTHING = 1_000_000
"""More places than a name has; they are counted after the filters."""
LINES_BEFORE, LINES_AFTER = 2, 7
"""Lines around a place that are given as its context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupRow:
    """One place of a name."""

    name: str
    qualified_name: str
    kind: str
    role: str
    file_path: str
    line: int
    is_exported: bool
    chunk_id: str | None
    repo: str
    signature: str = ""
    module: str | None = None
    context: str | None = None


@dataclass(frozen=True, kw_only=True)
class SymbolsFound(Accounted, Located):
    """The places of a name, definitions first, with exact counts."""

    name: str
    filters_applied: Mapping[str, object]
    counts: Mapping[str, int]
    did_you_mean: tuple[str, ...]
    symbols: tuple[LookupRow, ...]


def symbol_lookup(call: Call, asked: SymbolLookup) -> CallReply:
    """The places of a name, definitions first, with exact counts."""
    from asterism.search.filters import applied

    registered = call.repository()
    where = _where(asked, registered)
    query = symbols_query(asked, where, EVERYTHING)
    found = call.engine.symbols(registered, query)
    entries = _passing(found, where)
    origin = _origin(asked, found)
    start = 0 if asked.cursor is None else read_cursor(asked.cursor, origin)
    page = entries[start : start + asked.limit]
    contexts = _contexts(page, registered) if asked.include_context else ()
    shown = symbols_found(
        replace(found, symbols=tuple(page)),
        counts={role: sum(entry.row.role is role for entry in entries) for role in Role},
        filters_applied=applied(where),
        limit=call.limit,
        contexts=contexts,
    )
    reply = reply_of(shown, "symbols", symbols_text)
    complete = _with_cursor(reply, origin, start)
    if measured(complete) <= call.limit:
        return complete
    # A cut page has a cursor even if it was the last one. Cursors have one length, so the reply is
    # measured with one in it; without that a second cut would lose a row.
    begun = restructured(reply, {**(reply.structured or {}), "cursor": write_cursor(origin, start)})
    return _with_cursor(fitted(begun, call.limit), origin, start)


def symbols_found(
    found: Lookup,
    *,
    counts: Mapping[Role, int],
    filters_applied: Mapping[str, object],
    limit: int | None = None,
    contexts: Sequence[str | None] = (),
) -> SymbolsFound:
    """The record of a lookup; `found` has the places that are shown, `counts` all of them."""
    contexts = contexts or [None] * len(found.symbols)
    return SymbolsFound(
        **located(found.registered),
        **plain_account(sum(counts.values()), len(found.symbols), limit or MOST_CHARS),
        name=found.name,
        filters_applied=filters_applied,
        counts={role.value: count for role, count in counts.items() if count},
        did_you_mean=found.did_you_mean,
        cursor=None,
        index_state=found.state._asdict(),
        notes=(),
        symbols=tuple(map(_row, found.symbols, contexts)),
    )


def _row(entry: FoundSymbol, context: str | None) -> LookupRow:
    row = entry.row
    return LookupRow(
        name=row.name,
        qualified_name=row.qualified_name,
        kind=row.kind,
        role=row.role.value,
        file_path=wire_path(row.filepath),
        line=row.line,
        is_exported=row.is_exported,
        chunk_id=row.chunk_id,
        repo=entry.repo,
        signature=row.signature or "",
        module=row.module,
        context=context,
    )


def symbols_text(found: Json) -> str:
    """The places of a name for clients that show no structured content."""
    counts = ", ".join(f"{count:,} {role}" for role, count in found["counts"].items())
    head = f"{display_path(found['name'])}: {counts or 'not found'}."
    lines = [
        f"{display_path(row['file_path'])}:{row['line']}  {row['role']}  "
        f"{row['kind']} {row['qualified_name']}"
        for row in found["symbols"]
    ]
    return "\n".join([head, *lines, *remarks(found)])


def _with_cursor(reply: CallReply, origin: Origin, start: int) -> CallReply:
    """The cursor goes on after the last place of the page."""

    structured = reply.structured or {}
    end = start + structured["returned_count"]
    more = end < structured["total_count"]
    dropped = {**structured["dropped"], "budget": structured["total_count"] - end}
    cursor = write_cursor(origin, end) if more else None
    return restructured(reply, {**structured, "dropped": dropped, "cursor": cursor})


def _where(asked: SymbolLookup, registered: Registered) -> Filter:
    from asterism.search.filters import parse_filters

    for key, value in asked.filters.items():
        if value is not None and key in FILTER_KEYS and not FILTER_KEYS[key].of_symbols:
            raise UsageError(
                f"symbol_lookup has no filter {key}; narrow by path or extension, or use "
                "search_code."
            )
    return parse_filters(asked.filters, registered.repository.root)


def symbols_query(asked: SymbolLookup, where: Filter, limit: int) -> SymbolQuery:
    """The catalogue's query for a lookup."""
    from asterism.types.index import symbol_query

    if not asked.name.strip():
        raise UsageError("The name is empty; give a symbol's name, such as `Parser.parse`.")
    wanted = SymbolQuery(
        asked.name,
        kinds=tuple(dict.fromkeys([*(asked.kind or ()), *where.kinds])),
        # In the roles' own order, whatever the caller's: definitions are read first.
        roles=tuple(role for role in Role if role.value in (asked.role or ())),
        is_exported=where.is_exported,
        limit=limit,
    )
    return symbol_query(asked.name, wanted)


def _passing(found: Lookup, where: Filter) -> list[FoundSymbol]:
    from asterism.store.filters import path_test

    passes = path_test(where)
    repos = where.repos or (found.registered.repository.name,)
    return [
        entry
        for entry in found.symbols
        if entry.repo in repos
        and passes(entry.row.filepath)
        and (not where.extensions or entry.row.filepath.endswith(where.extensions))
    ]


def _origin(asked: SymbolLookup, found: Lookup) -> Origin:
    """What pages are cut from: the same lookup of the same version of the index."""

    keys = ("name", "kind", "role", "filters")
    given = asdict(asked)
    digest = hashlib.sha256(compact({key: given[key] for key in keys}).encode()).hexdigest()[:32]
    return Origin(found.registered.repository.id, found.version, digest)


def _contexts(page: list[FoundSymbol], registered: Registered) -> Sequence[str]:
    files: dict[str, list[str]] = {}
    found = []
    for entry in page:
        path = entry.row.filepath
        if path not in files:
            files[path] = _lines(registered, path)
        first = max(0, entry.row.line - 1 - LINES_BEFORE)
        found.append("\n".join(files[path][first : entry.row.line + LINES_AFTER]))
    return found


def _lines(registered: Registered, path: str) -> list[str]:
    """The lines of a file as it is now; none where it cannot be read any more."""
    from asterism.analysis.source.text import read
    from asterism.analysis.syntax.outlines import text_of
    from asterism.operations.repositories import inside

    try:
        data = read(str(inside(registered, path)))
        return text_of(path, data).decode("utf-8", "replace").split("\n")
    except InputError:
        return []


OPERATIONS = (
    Operation(
        name="symbol_lookup",
        title="Look up a symbol",
        description="""\
Find where a name is defined, exported, imported and used. Exact and complete, straight from the \
syntax trees; no ranking.

Use it for: "where is X defined?" (role ["definition"]), "what imports X?" (role ["import"]), \
"who uses X?" (role ["usage"]), before renaming or removing something.
Do not use it for: names you are not sure of (codebase_search finds by meaning; an unknown name \
here only gives did_you_mean), callers resolved by types (codebase_search with `symbol = X` \
shows them).

Names are case-sensitive: x, A.x, A::x, `A > x` or `path > A > x`. Definitions come first, then \
exports, imports, usages; `counts` has the exact number of each.

Example: {"name": "PaymentClient", "role": ["import", "usage"], "filters": {"path_prefix": \
"src/"}}""",
        request=SymbolLookup,
        reply=SymbolsFound,
        run=symbol_lookup,
        needs_index=True,
        is_tool=True,
        instruction="""\
symbol_lookup: you know the exact name; where is it defined, exported, imported, used?""",
        shows_reply=True,
        route=Route("POST", "/api/symbols"),
    ),
)
