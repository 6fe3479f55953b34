"""Values of an agent's file, read one by one; what is wrong is noted and reading goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from asterism.context.agents.nodes import (
    Entry,
    Problem,
    allowed_names,
    entries_of,
    is_list,
    is_mapping,
    line_of,
    scalar_of,
)
from asterism.types.context import FromEnvironment, Setting

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

LONGEST_NAME = 100
LONGEST_SHOWN = 40

_Choice = TypeVar("_Choice", bound=StrEnum)
_REFERENCE = re.compile(r"(|.*[ =:])env:([A-Za-z_][A-Za-z0-9_]*)", re.DOTALL)
_SECRET_NAME = re.compile(
    r"key|token|secret|passw|credential|auth|cookie|session|private|signature|dsn", re.IGNORECASE
)
_SECRET_VALUE = re.compile(
    r"sk-\w|gh[pousr]_\w|github_pat_|glpat-|xox[abprs]-|AKIA[0-9A-Z]{12}|AIza\w|eyJ\w{8}"
    r"|-----BEGIN|Bearer \S|Basic \S"
)

_SURROGATE = re.compile("[\ud800-\udfff]")


class Notes:
    """Reads values and collects problems."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def wrong(self, node: Node, key: str, message: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(line_of(node), key, message))

    def fields(self, node: Node, key: str, known: Sequence[str]) -> dict[str, Entry]:
        """The keys of a mapping that are known; others, and second ones, are noted."""
        if not is_mapping(node):
            self.wrong(node, key, f"{_told(node)} where keys and values are wanted: {_list(known)}")
            return {}
        found: dict[str, Entry] = {}
        for entry in self.entries(node, key):
            if known and entry.name not in known:
                at = joined(key, entry.name)
                self.wrong(entry.key, at, f"no such key; {allowed_names(known, entry.name)}")
            else:
                found[entry.name] = entry
        return found

    def entries(self, node: Node, key: str) -> list[Entry]:
        """The keys of a mapping, whatever they are; a second one of a name is noted."""
        if scalar_of(node) is None:
            return []
        if not is_mapping(node):
            self.wrong(node, key, f"{_told(node)} where keys and values are wanted")
            return []
        found: dict[str, Entry] = {}
        for entry in entries_of(node):
            if not isinstance(scalar_of(entry.key), str):
                self.wrong(entry.key, key, f"{_told(entry.key)} is no key; put it in quotes")
            elif entry.name in found:
                first = line_of(found[entry.name].key)
                at = joined(key, entry.name)
                self.wrong(entry.key, at, f"twice; the first is on line {first}")
            else:
                found[entry.name] = entry
        return list(found.values())

    def members(self, node: Node, key: str) -> list[Node]:
        """The members of a list; nothing is an empty list."""
        if scalar_of(node) is None:
            return []
        if not is_list(node):
            self.wrong(node, key, f"{_told(node)} where a list is wanted, each line with `- `")
            return []
        return list(node.value)

    def text(self, entry: Entry | None, key: str) -> str:
        """A text of any length; empty without an entry."""
        if entry is None or scalar_of(entry.value) is None:
            return ""
        value = scalar_of(entry.value)
        if isinstance(value, str):
            if _SURROGATE.search(value):
                self.wrong(entry.value, key, "has half a character (\\ud800 to \\udfff)")
            return _SURROGATE.sub("", value)
        self.wrong(
            entry.value, key, f"{_told(entry.value)} where a text is wanted; put it in quotes"
        )
        return ""

    def line(self, entry: Entry | None, key: str) -> str:
        """A text of one line."""
        text = self.text(entry, key).strip()
        if entry is not None and not text.isprintable():
            self.wrong(entry.value, key, "has to be one line without control characters")
        return text

    def truth(self, entry: Entry | None, key: str, default: bool) -> bool:
        """True or false."""
        if entry is None:
            return default
        value = scalar_of(entry.value)
        if isinstance(value, bool):
            return value
        self.wrong(entry.value, key, f"{_told(entry.value)} is not allowed; give true or false")
        return default

    def whole(self, entry: Entry | None, key: str, default: int, most: int) -> int:
        """A whole number from 0 on."""
        if entry is None:
            return default
        value = scalar_of(entry.value)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
            return value
        allowed = f"a whole number from 0 to {most}"
        self.wrong(entry.value, key, f"{_told(entry.value)} is not allowed; give {allowed}")
        return default

    def choice(self, node: Node, key: str, kind: type[_Choice]) -> _Choice | None:
        """One of some words."""
        value = scalar_of(node)
        if isinstance(value, str) and value in list(kind):
            return kind(value)
        self.wrong(node, key, f"{_told(node)} is not allowed; give one of {_list(list(kind))}")
        return None

    def name(self, node: Node, entry: Entry | None, key: str, taken: Collection[str]) -> str:
        """The name of an item, which no other of its kind has in whatever letters."""
        name = self.line(entry, key)
        place = node if entry is None else entry.value
        if not name:
            self.wrong(place, key, "every one needs a name")
        elif len(name) > LONGEST_NAME:
            self.wrong(place, key, f"longer than {LONGEST_NAME} characters")
        elif name.casefold() in taken:
            self.wrong(place, key, f"there are two with the name {name!r}; rename one of them")
        return name

    def setting(self, name: str, node: Node, key: str) -> Setting:
        """A value of a program or a header; a secret has to be `env:VARIABLE`."""
        value = scalar_of(node)
        if not isinstance(value, str):
            self.wrong(node, key, f"{_told(node)} where a text is wanted; put it in quotes")
            return ""
        reference = _REFERENCE.fullmatch(value)
        if reference is not None and not _SECRET_VALUE.search(reference[1]):
            return FromEnvironment(reference[2], reference[1])
        if value.startswith("env:"):
            self.wrong(node, key, "env: has to be followed by the name of a variable, as env:TOKEN")
        elif value and (_SECRET_NAME.search(name) or _SECRET_VALUE.search(value)):
            # The value itself is never repeated: messages end up in logs.
            self.wrong(
                node, key, "secrets do not stand in this file; write env:VARIABLE, and set that"
            )
        return value


def joined(key: str, name: str) -> str:
    """The way to a key inside another."""
    return f"{key}.{name}" if key else name


def each(key: str, members: Sequence[Node], read: Callable[[Node, str], None]) -> None:
    """Read the members of a list, each under its number from 1."""
    for number, member in enumerate(members, start=1):
        read(member, f"{key}[{number}]")


def _told(node: Node) -> str:
    value = scalar_of(node)
    if value is node:
        return "keys and values" if is_mapping(node) else "a list"
    if value is None:
        return "nothing"
    text = str(value)
    shown = text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
    return repr(shown) if isinstance(value, str) else shown.lower()


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
