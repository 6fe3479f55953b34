"""How large each field of a request may be: the one table that every surface keeps to.

The JSON schemas of MCP and OpenAPI are made from it, filters and texts of the command line and of
programs are checked by it, and the table in `docs/security.md` is written from it.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from asterism.types.errors import UsageError

WILDCARDS = frozenset("*?[")


class Bound(NamedTuple):
    """The limits of a field; None means no limit of that kind."""

    characters: int | None = None
    """Of a text, or of each text of a list."""
    entries: int | None = None
    """Of a list, or keys of an object."""
    wildcards: int | None = None
    """Characters `*`, `?` and `[` of each text."""


DEPTH = 16
"""How deep the JSON of a request may be nested: filters need three levels."""
WILDCARDS_TOGETHER = 1_000
"""Wildcards of all texts of one filter together: each is tried on every path."""

PASTED = Bound(characters=100_000)
"""A question, a piece of code, an instruction; of a question 10,000 characters are used."""
NAME = Bound(characters=4_096)
"""A name, a path, a cursor: as much as systems allow a path to have."""
NAMES = Bound(characters=4_096, entries=1_000)
PATHS = Bound(characters=4_096, entries=1_000, wildcards=100)
GLOBS = Bound(characters=4_096, entries=100, wildcards=100)
WORDS = Bound(characters=200, entries=100)

FIELDS: Mapping[str, Bound] = {
    **dict.fromkeys(("query", "code_snippet", "question", "instruction", "text"), PASTED),
    **dict.fromkeys(("name", "description", "model", "agentName", "repository", "project"), NAME),
    **dict.fromkeys(("cursor", "repository_id", "project_id", "reason"), NAME),
    **dict.fromkeys(("conversationId", "turnId"), NAME),
    "requestId": Bound(characters=200),
    "path": PATHS,
    "file_path": PATHS,
    "directory": PATHS,
    "languages": WORDS,
    "file_type": WORDS,
    "kind": WORDS,
    "approvals": Bound(entries=100),
    "filters": Bound(entries=20),
}
"""Every text, list and object that a request may have, by the name of its parameter."""


def check_text(name: str, text: str, bound: Bound | None = None) -> str:
    """The text of a field, or an error that names the field, its size and the limit."""
    bound = FIELDS[name] if bound is None else bound
    _check(name, len(text), "characters", bound.characters)
    if bound.wildcards is not None and len(text) > bound.wildcards:
        _check(name, _wildcards(text), "wildcards", bound.wildcards)
    return text


def check_filter(name: str, texts: Iterable[str], bound: Bound) -> None:
    """The same for the texts of a filter."""
    given = [*texts]
    _check(f"filters.{name}", len(given), "entries", bound.entries)
    for text in given:
        check_text(f"filters.{name}", text, bound)
    if bound.wildcards is not None:
        together = sum(map(_wildcards, given))
        _check(f"filters.{name}", together, "wildcards together", WILDCARDS_TOGETHER)


def check_depth(name: str, value: object) -> None:
    """Refuse JSON that is nested deeper than any request needs; the check itself has no depth."""
    level: list[object] = [value]
    depth = 0
    while level:
        depth += 1
        if depth > DEPTH + 1:
            raise UsageError(f"{name} is nested more than {DEPTH} levels deep; give a flatter one.")
        level = [
            below
            for one in level
            if isinstance(one, Mapping | list | tuple)
            for below in (one.values() if isinstance(one, Mapping) else one)
        ]


def check_entries(name: str, count: int, bound: Bound) -> None:
    """Refuse a list with too many entries, or an object with too many keys."""
    _check(name, count, "entries", bound.entries)


def _wildcards(text: str) -> int:
    return sum(map(text.count, WILDCARDS))


def _check(name: str, size: int, what: str, most: int | None) -> None:
    if most is not None and size > most:
        raise UsageError(f"{name} has {size:,} {what}; give {most:,} at most.")
