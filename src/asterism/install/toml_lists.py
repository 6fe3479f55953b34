"""Adds a string to a list of a TOML file, or removes it; comments and layout stay."""

import json
import re
import tomllib
from collections.abc import Sequence
from typing import NamedTuple

from asterism.install.blocks import newline_of
from asterism.install.toml_edits import TOKEN, checked, entry_at, loads, statements, with_entry
from asterism.types.errors import InputError


class _Item(NamedTuple):
    """Positions of one string of a list in the text."""

    start: int
    end: int
    value: object


class _List(NamedTuple):
    """Positions of a list: after its opening bracket, and at its closing one."""

    start: int
    end: int
    items: tuple[_Item, ...]


def with_item(text: str, path: Sequence[str], item: str) -> str:
    """The text with a string appended to a list; the list is created if it is missing."""
    found = _strings(text, path)
    if item in found:
        return text
    if entry_at(text, path) is None:
        return with_entry(text, path[:-1], {path[-1]: [item]})
    place = _found(text, path)
    written = json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007f")
    edited = _inserted(text, place, written)
    return checked(edited, _replaced(loads(text), path, [*found, item]))


def without_item(text: str, path: Sequence[str], item: str) -> str:
    """The text with a string removed from a list; other lines stay unchanged."""
    found = _strings(text, path)
    if item not in found:
        return text
    place = _found(text, path)
    edited = text
    for one in reversed([each for each in place.items if each.value == item]):
        edited = _cut(edited, place, one)
    return checked(edited, _replaced(loads(text), path, [each for each in found if each != item]))


def _strings(text: str, path: Sequence[str]) -> list[str]:
    found = entry_at(text, path)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise InputError(f'"{".".join(path)}" is not a list of strings there; correct it by hand')
    return found


def _replaced(value: dict[str, object], path: Sequence[str], items: list[str]) -> dict[str, object]:
    holder: object = value
    for key in path[:-1]:
        assert isinstance(holder, dict)
        holder = holder[key]
    assert isinstance(holder, dict)
    holder[path[-1]] = items
    return value


def _found(text: str, path: Sequence[str]) -> _List:
    """Finds the list below a header, as a dotted key, or in an inline table."""
    current: tuple[str, ...] = ()
    for statement in statements(text):
        if statement.table is not None:
            current = statement.table
        elif (*current, *statement.keys)[: len(path)] == tuple(path):
            key = re.search(rf"{re.escape(path[-1])}[\"']?\s*=\s*\[", text[statement.start :])
            if key is not None:
                return _read(text, statement.start + key.end())
    raise InputError(f'"{".".join(path)}" cannot be edited as it is written; change it by hand')


def _read(text: str, start: int) -> _List:
    items: list[_Item] = []
    for token in TOKEN.finditer(text, start):
        mark = token.group()
        if mark == "]":
            return _List(start, token.start(), tuple(items))
        if mark[0] in "\"'":
            value = tomllib.loads(f"a = {mark}".replace("\r\n", "\n"))["a"]
            items.append(_Item(token.start(), token.end(), value))
    raise InputError("a list in it has no end")


def _inserted(text: str, place: _List, written: str) -> str:
    newline = newline_of(text)
    if not place.items:
        return f"{text[: place.start]}{written}{_rest(text, place, newline)}"
    last = place.items[-1]
    comma = _comma(text, last.end, place.end)
    before = text[: last.end] + ("," if comma is None else "") + text[last.end : place.end]
    if "\n" not in text[place.start : place.end]:
        return f"{before.rstrip(' ')} {written}{text[place.end :]}"
    line = text.rfind("\n", 0, last.start) + 1
    indent = text[line : last.start] if not text[line : last.start].strip() else "    "
    lead = before.rstrip(" \t")
    lead += "" if lead.endswith("\n") else newline
    return f"{lead}{indent}{written},{newline}{text[place.end :]}"


def _rest(text: str, place: _List, newline: str) -> str:
    """The text after the first item of a list, which may have comments."""
    inner = text[place.start : place.end]
    if not inner.strip():
        return text[place.end :]
    return f",{inner if inner[:1].isspace() else f' {inner}'}{text[place.end :]}"


def _cut(text: str, place: _List, item: _Item) -> str:
    """Remove an item and its comma, and its line if nothing else is on it."""
    comma = _comma(text, item.end, place.end)
    end = item.end if comma is None else comma + 1
    line = text.rfind("\n", 0, item.start) + 1
    following = text.find("\n", end)
    rest = text[end:following].strip() if following >= 0 else "-"
    if line > place.start and not text[line : item.start].strip() and rest[:1] in ("", "#"):
        return text[:line] + text[following + 1 :]
    start = item.start
    if comma is None:
        # The comma of the item before would be left alone; TOML allows that, people do not like it.
        lead = text[place.start : start].rstrip()
        start = place.start + len(lead) - 1 if lead.endswith(",") else start
        return text[:start] + text[end:]
    return text[:start] + text[end:].lstrip(" ")


def _comma(text: str, start: int, end: int) -> int | None:
    """The comma after an item; comments may precede it."""
    position = start
    while position < end:
        if text[position] == ",":
            return position
        if text[position] == "#":
            position = text.index("\n", position)
        position += 1
    return None
