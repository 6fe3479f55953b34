"""Conditions of a symbol query as SQL; `s` is the symbol's row and `f` the file's."""

from collections.abc import Sequence
from typing import NamedTuple

from asterism.store.stored_text import clean, stored_path
from asterism.types.catalogue import SymbolName


class Condition(NamedTuple):
    """A piece of SQL and the values of its question marks; an empty one lets everything pass."""

    sql: str
    values: tuple[object, ...] = ()


def named(readings: Sequence[SymbolName]) -> Condition:
    """Any of the readings; all names are given first, so that the index on names is used."""
    names = [clean(reading.name) for reading in readings]
    marks = ",".join("?" * len(names))
    ways = []
    for reading in readings:
        parts = [Condition("s.name = ?", (clean(reading.name),))]
        if reading.container:
            whole = clean(f"{reading.container}.{reading.name}")
            parts.append(
                Condition(
                    "(s.qualified_name = ? OR substr(s.qualified_name, ?) = ?)",
                    (whole, -len(whole) - 1, f".{whole}"),
                )
            )
        if reading.path:
            path = _bytes(reading.path)
            parts.append(
                Condition(
                    "(CAST(f.path AS BLOB) = ? OR substr(CAST(f.path AS BLOB), ?) = ?)",
                    (path, -len(path) - 1, b"/" + path),
                )
            )
        ways.append(all_of(parts))
    among = Condition(f"s.name IN ({marks})", tuple(names))
    # One name without more needs no second look.
    if len(readings) == 1 and readings[0] == SymbolName(readings[0].name):
        return among
    return all_of([among, either(ways)])


def under(prefixes: Sequence[str]) -> Condition:
    """The file's path begins with one of these."""
    return either(
        [
            Condition("substr(CAST(f.path AS BLOB), 1, ?) = ?", (len(start), start))
            for start in map(_bytes, prefixes)
        ]
    )


def any_of(sql: str, values: Sequence[object]) -> Condition:
    """The piece of SQL holds for one of the values."""
    return either([Condition(sql, (value,)) for value in values])


def either(conditions: Sequence[Condition]) -> Condition:
    """Any of them; where none is given, everything passes."""
    if not conditions:
        return Condition("")
    sql = " OR ".join(f"({condition.sql})" for condition in conditions)
    return Condition(f"({sql})", tuple(v for condition in conditions for v in condition.values))


def all_of(conditions: Sequence[Condition]) -> Condition:
    """All of them, but for those that let everything pass."""
    given = [condition for condition in conditions if condition.sql]
    return Condition(
        " AND ".join(condition.sql for condition in given),
        tuple(value for condition in given for value in condition.values),
    )


def _bytes(path: str) -> bytes:
    stored = stored_path(path)
    return stored.encode() if isinstance(stored, str) else stored
