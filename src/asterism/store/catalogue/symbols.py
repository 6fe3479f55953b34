"""Finding symbols by name: exact, in a stable order, with an exact total; and similar names."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from asterism.store.catalogue.batches import ROLES
from asterism.store.database import Database, Row, clean, loaded_id, loaded_path, stored_path
from asterism.types.index import FoundSymbol, Role, SymbolName, SymbolPage, SymbolQuery, SymbolRow

# A third of the letters may be wrong; beyond that the suggestion reads like a guess.
_LETTERS_PER_ERROR = 3


def closest(name: str, candidates: Iterable[str], limit: int) -> list[str]:
    """At most `limit` candidates that are most like the name, best first."""
    plain, allowed = _plain(name), errors_allowed(name)
    letters = [*Counter(plain).items()]
    ranked: list[tuple[int, int, int, str]] = []
    for candidate in candidates:
        other = _plain(candidate)
        if candidate == name or abs(len(other) - len(plain)) > allowed:
            continue
        if _missing(letters, other) > allowed:
            continue
        errors = _distance(plain, other, allowed)
        if errors <= allowed:
            # Among equals the one whose underscores, then capitals, are those that were written.
            words = _distance(name.lower(), candidate.lower(), len(name))
            ranked.append((errors, words, _distance(name, candidate, len(name)), candidate))
    ranked.sort()
    return [candidate for *_, candidate in ranked[:limit]]


def errors_allowed(name: str) -> int:
    """How many letters may be wrong; a single letter is like every other."""
    plain = _plain(name)
    return max(1, len(plain) // _LETTERS_PER_ERROR) if len(plain) > 1 else 0


def lengths_alike(name: str) -> tuple[int, int]:
    """How many letters, underscores aside, a name that is like this one has."""
    length, allowed = len(_plain(name)), errors_allowed(name)
    return length - allowed, length + allowed


def _missing(letters: list[tuple[str, int]], other: str) -> int:
    """How many letters the other one lacks: each takes an edit of its own."""
    count = other.count
    return sum([wanted - found for letter, wanted in letters if (found := count(letter)) < wanted])


def _plain(name: str) -> str:
    # `parse_config` and `parseConfig` are one name in two habits.
    return name.replace("_", "").lower()


def _distance(left: str, right: str, enough: int) -> int:
    """How many letters to insert, delete, replace or swap with their neighbour."""
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, letter in enumerate(left, start=1):
        current = [row]
        for column, other in enumerate(right, start=1):
            cost = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != other))
            swapped = row > 1 and column > 1 and letter == right[column - 2]
            if swapped and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > enough:
            return enough + 1
        before, above = above, current
    return above[-1]


class SqlCondition(NamedTuple):
    """A piece of SQL and the values of its question marks; an empty one lets everything pass."""

    sql: str
    values: tuple[object, ...] = ()


def named(readings: Sequence[SymbolName]) -> SqlCondition:
    """Any of the readings; all names are given first, so that the index on names is used."""
    names = [clean(reading.name) for reading in readings]
    marks = ",".join("?" * len(names))
    ways = []
    for reading in readings:
        parts = [SqlCondition("s.name = ?", (clean(reading.name),))]
        if reading.container:
            whole = clean(f"{reading.container}.{reading.name}")
            parts.append(
                SqlCondition(
                    "(s.qualified_name = ? OR substr(s.qualified_name, ?) = ?)",
                    (whole, -len(whole) - 1, f".{whole}"),
                )
            )
        if reading.path:
            path = _bytes(reading.path)
            parts.append(
                SqlCondition(
                    "(CAST(f.path AS BLOB) = ? OR substr(CAST(f.path AS BLOB), ?) = ?)",
                    (path, -len(path) - 1, b"/" + path),
                )
            )
        ways.append(all_of(parts))
    among = SqlCondition(f"s.name IN ({marks})", tuple(names))
    # One name without more needs no second look.
    if len(readings) == 1 and readings[0] == SymbolName(readings[0].name):
        return among
    return all_of([among, either(ways)])


def under(prefixes: Sequence[str]) -> SqlCondition:
    """The file's path begins with one of these."""
    return either(
        [
            SqlCondition("substr(CAST(f.path AS BLOB), 1, ?) = ?", (len(start), start))
            for start in map(_bytes, prefixes)
        ]
    )


def any_of(sql: str, values: Sequence[object]) -> SqlCondition:
    """The piece of SQL holds for one of the values."""
    return either([SqlCondition(sql, (value,)) for value in values])


def either(conditions: Sequence[SqlCondition]) -> SqlCondition:
    """Any of them; where none is given, everything passes."""
    if not conditions:
        return SqlCondition("")
    sql = " OR ".join(f"({condition.sql})" for condition in conditions)
    return SqlCondition(f"({sql})", tuple(v for condition in conditions for v in condition.values))


def all_of(conditions: Sequence[SqlCondition]) -> SqlCondition:
    """All of them, but for those that let everything pass."""
    given = [condition for condition in conditions if condition.sql]
    return SqlCondition(
        " AND ".join(condition.sql for condition in given),
        tuple(value for condition in given for value in condition.values),
    )


def _bytes(path: str) -> bytes:
    stored = stored_path(path)
    return stored.encode() if isinstance(stored, str) else stored


# The join order is fixed (CROSS JOIN): the name's index first, whatever the statistics say.
_GROUPS = """
    SELECT r.name, f.path, s.file, w.word, w.number, s.count
    FROM words w
    CROSS JOIN usages s ON s.name = w.number
    CROSS JOIN files f ON f.number = s.file
    CROSS JOIN repositories r ON r.number = f.repo
"""


class _Group(NamedTuple):
    """All places of a name in a file."""

    repo: str
    path: str
    file: int
    name: str
    word: int
    size: int


class _Place(NamedTuple):
    line: int
    chunk: int | None
    receiver: int | None
    ordinal: int


def find_usages(
    database: Database, readings: Sequence[SymbolName], where: SqlCondition, page: slice
) -> tuple[list[FoundSymbol], int]:
    """The usages of a page, by path and line, and how many there are."""
    names = tuple(dict.fromkeys(clean(reading.name) for reading in readings))
    condition = all_of([any_of("w.word = ?", names), where])
    rows = database.rows(
        f"{_GROUPS} WHERE {condition.sql} ORDER BY f.path, r.name, w.word", condition.values
    )
    groups = [_Group(repo, loaded_path(path), *rest) for repo, path, *rest in rows]
    receivers = _Receivers(database)
    if any(reading.container or reading.path for reading in readings):
        chosen = [
            (group, place)
            for group in groups
            for place in _places(database, group)
            if _is_meant(group, receivers.text(place.receiver), readings)
        ]
        return _lookup_loaded(database, chosen[page], receivers), len(chosen)
    chosen = list(_cut(database, groups, page))
    return _lookup_loaded(database, chosen, receivers), sum(group.size for group in groups)


def using_files(database: Database, repo: int, name: str) -> list[str]:
    """The files of a repository that use a name, in order of their paths."""
    rows = database.rows(
        "SELECT f.path FROM words w CROSS JOIN usages s ON s.name = w.number"
        " CROSS JOIN files f ON f.number = s.file WHERE w.word = ? AND f.repo = ? ORDER BY f.path",
        (clean(name), repo),
    )
    return [loaded_path(path) for (path,) in rows]


def _cut(
    database: Database, groups: Sequence[_Group], page: slice
) -> Iterator[tuple[_Group, _Place]]:
    """The places of a page; groups outside it are only counted."""
    position = 0
    for group in groups:
        end = position + group.size
        if end > page.start and position < page.stop:
            first, last = max(0, page.start - position), page.stop - position
            yield from ((group, place) for place in _places(database, group)[first:last])
        position = end


def _places(database: Database, group: _Group) -> list[_Place]:
    row = database.one(
        "SELECT places FROM usages WHERE file = ? AND name = ?", (group.file, group.word)
    )
    # Sorting is stable: on one line, the order of the source stays.
    places = map(_Place._make, database.unpacked(row[0]) if row else ())
    return sorted(places, key=lambda place: place.line)


def _is_meant(group: _Group, receiver: str, readings: Sequence[SymbolName]) -> bool:
    return any(
        group.name == clean(reading.name)
        and (not reading.container or f".{receiver}".endswith(f".{clean(reading.container)}"))
        and (not reading.path or f"/{group.path}".endswith(f"/{reading.path}"))
        for reading in readings
    )


def _lookup_loaded(
    database: Database, chosen: Sequence[tuple[_Group, _Place]], receivers: "_Receivers"
) -> list[FoundSymbol]:
    found: list[FoundSymbol] = []
    for group, place in chosen:
        receiver = receivers.text(place.receiver)
        chunk = database.one(
            "SELECT id FROM chunks WHERE file = ? AND n = ?", (group.file, place.chunk)
        )
        row = SymbolRow(
            group.name,
            f"{receiver}.{group.name}" if receiver else group.name,
            "usage",
            Role.USAGE,
            group.path,
            place.line,
            False,
            loaded_id(chunk[0]) if chunk else None,
            place.ordinal,
        )
        found.append(FoundSymbol(group.repo, row))
    return found


class _Receivers:
    """The words of receivers, each asked for once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._words: dict[int | None, str] = {None: ""}

    def text(self, number: int | None) -> str:
        """The word of a number; nothing where there is no receiver."""
        if number not in self._words:
            row = self._database.one("SELECT word FROM words WHERE number = ?", (number,))
            self._words[number] = row[0] if row else ""
        return self._words[number]


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
    """Every defined name whose length without underscores is in the range; each once."""
    rows = database.rows(
        "SELECT DISTINCT name FROM declarations WHERE role = ?"
        " AND length(replace(name, '_', '')) BETWEEN ? AND ?",
        (ROLES.index(Role.DEFINITION), *lengths),
    )
    return (name for (name,) in rows)


def _declared(
    query: SymbolQuery, readings: tuple[SymbolName, ...], around: list[SqlCondition]
) -> SqlCondition:
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


def _count(database: Database, where: SqlCondition) -> int:
    row = database.one(f"SELECT count(*) FROM {_TABLES} WHERE {where.sql}", where.values)
    return row[0] if row else 0


def _page(database: Database, where: SqlCondition, query: SymbolQuery) -> list[FoundSymbol]:
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
