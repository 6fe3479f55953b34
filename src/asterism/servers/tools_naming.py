"""The tool that looks a name up: symbol_lookup, over the engine."""

import hashlib

from asterism.analysis.source.text import decode, read
from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.filtering import path_test
from asterism.backends.store.registry import Registered
from asterism.domain.catalogue import FoundSymbol, SymbolQuery
from asterism.domain.errors import InputError, UsageError
from asterism.domain.filters import Filter
from asterism.domain.symbol import Role
from asterism.domain.symbol_names import symbol_query
from asterism.engine.lookups import Lookup
from asterism.operations.calls import Call
from asterism.operations.json import place_json
from asterism.operations.limits import Part, Reply, compact, fitted, plain_account, restructured
from asterism.operations.repositories import inside
from asterism.operations.schema import Json
from asterism.retrieval.cursors import Origin, read_cursor, write_cursor
from asterism.retrieval.filters import applied, parse_filters
from asterism.servers.tools_wire import symbol_json, symbols_text

EVERYTHING = 1_000_000
"""More places than a name has; they are counted after the filters."""
LINES_BEFORE, LINES_AFTER = 2, 7
"""Lines around a place that are given as its context."""

_SAYS_NOTHING = ("languages", "decorator_contains", "has_docstring")


def symbol_lookup(call: Call) -> Reply:
    """The places of a name, definitions first, with exact counts."""
    registered = call.repository()
    where = _where(call.arguments, registered)
    query = _query(call.arguments, where)
    state = call.engine.refresh(registered)
    found = call.engine.symbols(registered, query)
    entries = _passing(found, where)
    origin = _origin(call.arguments, registered)
    start = read_cursor(call.arguments["cursor"], origin) if "cursor" in call.arguments else 0
    page = entries[start : start + call.arguments["limit"]]
    counts = {role.value: sum(e.row.role is role for e in entries) for role in Role}
    structured: Json = {
        "name": found.name,
        **place_json(registered),
        "filters_applied": applied(where),
        "counts": {role: count for role, count in counts.items() if count},
        "symbols": _rows(page, registered, call.arguments["include_context"]),
        **plain_account(len(entries), len(page), call.limit),
        "cursor": None,
        "did_you_mean": list(found.did_you_mean),
        "index_state": state._asdict(),
        "notes": [],
    }
    reply = Reply(
        parts=(Part(symbols_text(structured)),),
        structured=structured,
        rows="symbols",
        render=symbols_text,
    )
    # A cursor is of one length, so the reply is measured with one in it.
    return _with_cursor(fitted(_with_cursor(reply, origin, start), call.limit), origin, start)


def _with_cursor(reply: Reply, origin: Origin, start: int) -> Reply:
    """The cursor goes on after the last place that is given."""
    structured = reply.structured or {}
    end = start + structured["returned_count"]
    more = end < structured["total_count"]
    dropped = {**structured["dropped"], "budget": structured["total_count"] - end}
    cursor = write_cursor(origin, end) if more else None
    return restructured(reply, {**structured, "dropped": dropped, "cursor": cursor})


def _where(arguments: Json, registered: Registered) -> Filter:
    given = arguments.get("filters") or {}
    for key in _SAYS_NOTHING:
        if given.get(key) is not None:
            raise UsageError(
                f"symbol_lookup has no filter {key}; narrow by path or extension, or use "
                "search_code."
            )
    return parse_filters(given, registered.repository.root)


def _query(arguments: Json, where: Filter) -> SymbolQuery:
    name = arguments["name"]
    if not name.strip():
        raise UsageError("name is empty; give a symbol's name, such as `Parser.parse`.")
    kinds = tuple(dict.fromkeys([*arguments.get("kind", ()), *where.kinds]))
    wanted = SymbolQuery(
        name,
        kinds=kinds,
        roles=tuple(role for role in Role if role.value in arguments.get("role", ())),
        is_exported=where.is_exported,
        limit=EVERYTHING,
    )
    return symbol_query(name, wanted)


def _passing(found: Lookup, where: Filter) -> list[FoundSymbol]:
    passes = path_test(where)
    repos = where.repos or (found.registered.repository.name,)
    return [
        entry
        for entry in found.symbols
        if entry.repo in repos
        and passes(entry.row.filepath)
        and (not where.extensions or entry.row.filepath.endswith(where.extensions))
    ]


def _origin(arguments: Json, registered: Registered) -> Origin:
    """What pages are cut from: the same lookup of the same version of the index."""
    with Catalogue.open(registered.project.directory) as catalogue:
        version = catalogue.chunks_version()
    keys = ("name", "kind", "role", "filters")
    asked = compact({key: arguments.get(key) for key in keys})
    digest = hashlib.sha256(asked.encode()).hexdigest()[:32]
    return Origin(registered.repository.id, version, digest)


def _rows(page: list[FoundSymbol], registered: Registered, context: bool) -> list[Json]:
    rows = [symbol_json(entry) for entry in page]
    if not context:
        return rows
    files: dict[str, list[str]] = {}
    for row, entry in zip(rows, page, strict=True):
        path = entry.row.filepath
        if path not in files:
            files[path] = _lines(registered, path)
        first = max(0, entry.row.line - 1 - LINES_BEFORE)
        row["context"] = "\n".join(files[path][first : entry.row.line + LINES_AFTER])
    return rows


def _lines(registered: Registered, path: str) -> list[str]:
    """The lines of a file as it is now; none where it cannot be read any more."""
    try:
        return decode(read(str(inside(registered, path)))).decode("utf-8", "replace").split("\n")
    except InputError:
        return []
