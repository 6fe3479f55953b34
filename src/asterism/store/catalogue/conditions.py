"""Conditions of a symbol query as SQL; `s` is the symbol's row and `f` the file's."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from asterism.store.database import clean, stored_path
from asterism.types.index import SymbolName

# A third of the letters may be wrong; beyond that the suggestion reads like a guess.
_LETTERS_PER_ERROR = 3


def closest(name: str, candidates: Iterable[str], limit: int) -> list[str]:
    """The candidates that are most like the name, best first, at most so many."""
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
