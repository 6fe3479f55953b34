"""Finding symbols by name: exact, in a stable order, with an exact total."""

from collections.abc import Iterator

from asterism.store.catalogue.batches import ROLES
from asterism.store.catalogue.conditions import Condition, all_of, any_of, named, under
from asterism.store.catalogue.usage_lookup import find_usages
from asterism.store.database import Database, Row
from asterism.store.stored_text import clean, loaded_id, loaded_path
from asterism.types.catalogue import FoundSymbol, SymbolName, SymbolPage, SymbolQuery
from asterism.types.symbol import Role, SymbolRow

# The join order is fixed (CROSS JOIN): the name's index first, whatever the statistics say.
_TABLES = """
    declarations s
    CROSS JOIN files f ON f.number = s.file
    CROSS JOIN repositories r ON r.number = f.repo
"""
_COLUMNS = """
    r.name, f.path, s.role, s.name, coalesce(s.qualified_name, s.name), s.kind, s.line,
    s.is_exported, (SELECT id FROM chunks c WHERE c.file = s.file AND c.n = s.chunk),
    s.ordinal, s.signature, s.module
"""
_ORDER = "s.role, f.path, r.name, s.line, s.n"


def find_symbols(database: Database, query: SymbolQuery) -> SymbolPage:
    """The rows that match: definitions, exports, imports, usages; each by path and line."""
    readings = query.readings or (SymbolName(query.name),)
    around = [any_of("r.name = ?", query.repos), under(query.path_prefix)]
    with database.snapshot():
        where = _declared(query, readings, around)
        total = _count(database, where)
        if query.by_end and not total and (longer := _ending_so(database, readings)):
            where = _declared(query, longer, around)
            total = _count(database, where)
        found: list[FoundSymbol] = []
        if total > query.offset and query.limit > 0:
            found = _page(database, where, query)
        if _wants_usages(query):
            # Usages come last: the page goes on with them where it is not full.
            start = max(0, query.offset - total)
            page = slice(start, start + query.limit - len(found))
            used, count = find_usages(database, readings, all_of(around), page)
            found += used
            total += count
    return SymbolPage(tuple(found), total)


def _ending_so(database: Database, readings: tuple[SymbolName, ...]) -> tuple[SymbolName, ...]:
    """Names that end with a bare one."""
    bare = readings[0].name
    if readings[0] != SymbolName(bare) or not bare.isidentifier():
        return ()
    rows = database.rows(
        "SELECT DISTINCT name FROM declarations WHERE role = ? AND substr(name, ?) = ?",
        (ROLES.index(Role.DEFINITION), -len(bare) - 1, clean(f".{bare}")),
    )
    return tuple(SymbolName(name) for (name,) in rows)


def defined_names(database: Database, lengths: tuple[int, int]) -> Iterator[str]:
    """Every name that is defined and has so many letters, underscores aside; each once."""
    rows = database.rows(
        "SELECT DISTINCT name FROM declarations WHERE role = ?"
        " AND length(replace(name, '_', '')) BETWEEN ? AND ?",
        (ROLES.index(Role.DEFINITION), *lengths),
    )
    return (name for (name,) in rows)


def _declared(
    query: SymbolQuery, readings: tuple[SymbolName, ...], around: list[Condition]
) -> Condition:
    exported = () if query.is_exported is None else (query.is_exported,)
    return all_of(
        [
            named(readings),
            any_of("s.kind = ?", query.kinds),
            any_of("s.role = ?", [ROLES.index(role) for role in query.roles]),
            any_of("s.is_exported = ?", exported),
            *around,
        ]
    )


def _wants_usages(query: SymbolQuery) -> bool:
    return (
        (not query.roles or Role.USAGE in query.roles)
        and (not query.kinds or "usage" in query.kinds)
        and not query.is_exported
    )


def _count(database: Database, where: Condition) -> int:
    row = database.one(f"SELECT count(*) FROM {_TABLES} WHERE {where.sql}", where.values)
    return row[0] if row else 0


def _page(database: Database, where: Condition, query: SymbolQuery) -> list[FoundSymbol]:
    rows = database.rows(
        f"SELECT {_COLUMNS} FROM {_TABLES} WHERE {where.sql} ORDER BY {_ORDER} LIMIT ? OFFSET ?",
        (*where.values, query.limit, query.offset),
    )
    return [_loaded(row) for row in rows]


def _loaded(row: Row) -> FoundSymbol:
    repo, path, role, name, qualified, kind, line, exported, chunk, *rest = row
    ordinal, signature, module = rest
    return FoundSymbol(
        repo,
        SymbolRow(
            name,
            qualified,
            kind,
            ROLES[role],
            loaded_path(path),
            line,
            bool(exported),
            None if chunk is None else loaded_id(chunk),
            ordinal,
            signature,
            module,
        ),
    )
