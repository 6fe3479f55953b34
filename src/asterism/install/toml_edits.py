"""A table into a TOML file and out again, by the smallest edit of its text; comments stay."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from asterism.install.blocks import appended, cut, newline_of
from asterism.types.errors import InputError

# What a statement is made of: strings of every kind and comments hide what is inside of them.
TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}\n]',
    re.DOTALL,
)


class Statement(NamedTuple):
    """One header or one `key = value`, with the end of its line; positions in the text."""

    start: int
    end: int
    # The table that a header opens; nothing for a key.
    table: tuple[str, ...] | None
    # The keys of `a.b = value`; nothing for a header.
    keys: tuple[str, ...]


def entry_at(text: str, path: Sequence[str]) -> Any:
    """The value at a path of keys; nothing where there is none."""
    value: Any = loads(text)
    for depth, key in enumerate(path):
        if not isinstance(value, dict):
            raise InputError(f'"{".".join(path[:depth])}" is not a table there')
        value = value.get(key)
        if value is None:
            return None
    return value


def loads(text: str) -> dict[str, Any]:
    """The file's value."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(str(error) or "it is nested too deep") from None


def with_entry(text: str, path: Sequence[str], entry: Mapping[str, object]) -> str:
    """The text with the entry's keys in a table of its own; other keys that stand there stay."""
    newline = newline_of(text)
    found = entry_at(text, path)
    if not isinstance(found, dict | None):
        raise InputError(f'"{".".join(path)}" is not a table there')
    expected = _merged(loads(text), path, {**(found or {}), **entry})
    if found is None:
        lines = [f"[{'.'.join(path)}]", *(f"{key} = {_value(entry[key])}" for key in entry)]
        return checked(appended(text, newline.join(lines), newline), expected)
    for key, value in entry.items():
        if found.get(key) != value:
            text = _with_key(text, tuple(path), key, _value(value))
    return checked(text, expected)


def without_entry(text: str, path: Sequence[str]) -> str:
    """The text without the tables at and below a path."""
    table = tuple(path)
    expected = loads(text)
    holder = expected
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    current: tuple[str, ...] = ()
    spans: list[tuple[int, int]] = []
    for statement in statements(text):
        current = statement.table if statement.table is not None else current
        if current[: len(table)] == table:
            spans.append((statement.start, statement.end))
    if not spans:
        raise _by_hand(path)
    if all(not text[first[1] : second[0]].strip() for first, second in pairwise(spans)):
        text = cut(text, spans[0][0], spans[-1][1])
    else:
        # Comments stand between the lines; they stay.
        for start, end in reversed(spans):
            text = text[:start] + text[end:]
    return checked(text, _pruned(expected, path[:-1], text))


def _pruned(value: dict[str, Any], path: Sequence[str], text: str) -> dict[str, Any]:
    """The value without parents that only the removed table had implied."""
    for depth in range(len(path), 0, -1):
        holder = value
        for key in path[: depth - 1]:
            holder = holder[key]
        if holder[path[depth - 1]] == {} and entry_at(text, path[:depth]) is None:
            del holder[path[depth - 1]]
    return value


def _with_key(text: str, table: tuple[str, ...], key: str, value: str) -> str:
    """Give a key of a table another value, or the table another key."""
    current: tuple[str, ...] = ()
    header: Statement | None = None
    for statement in statements(text):
        if statement.table is not None:
            current = statement.table
            header = statement if current == table else header
        elif current == table and statement.keys[:1] == (key,):
            end = statement.start + len(text[statement.start : statement.end].rstrip("\r\n"))
            return f"{text[: statement.start]}{key} = {value}{text[end:]}"
    if header is None:
        raise _by_hand(table)
    newline = newline_of(text)
    lead = "" if text[: header.end].endswith("\n") else newline
    return f"{text[: header.end]}{lead}{key} = {value}{newline}{text[header.end :]}"


def _by_hand(path: Sequence[str]) -> InputError:
    return InputError(
        f'"{".".join(path)}" is not written as a table of its own there; change that one by hand'
    )


def statements(text: str) -> Iterator[Statement]:
    """The statements of a text that parses, in order."""
    start = len(text) - len(text.removeprefix("\ufeff"))
    depth = 0
    for token in TOKEN.finditer(text):
        mark = token.group()
        if mark in ("[", "{"):
            depth += 1
        elif mark in ("]", "}"):
            depth -= 1
        elif mark == "\n" and depth == 0:
            yield from _statement(text, start, token.end())
            start = token.end()
    if start < len(text):
        yield from _statement(text, start, len(text))


def _statement(text: str, start: int, end: int) -> Iterator[Statement]:
    written = text[start:end].replace("\r\n", "\n")
    value = loads(written)
    if written.lstrip(" \t").startswith("["):
        yield Statement(start, end, tuple(_only_keys(value)), ())
    elif value:
        yield Statement(start, end, None, tuple(_only_keys(value)))


def _only_keys(value: Any) -> Iterator[str]:
    """The keys down to what is no table of exactly one."""
    while True:
        value = value[0] if isinstance(value, list) and value else value
        if not isinstance(value, dict) or len(value) != 1:
            return
        key, value = next(iter(value.items()))
        yield key


def _merged(value: Any, path: Sequence[str], entry: Mapping[str, object]) -> Any:
    if not path:
        return dict(entry)
    return {**(value or {}), path[0]: _merged((value or {}).get(path[0]), path[1:], entry)}


def _value(value: object) -> str:
    """A string or a list of strings; JSON's escapes are TOML's too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def checked(text: str, expected: object) -> str:
    """The edited text, once it has been read again and says what it should."""
    try:
        found = loads(text)
    except InputError as error:
        raise InputError(f"a table cannot be added there: {error}") from None
    if _told(found) != _told(expected):
        raise InputError("the edit did not come out as planned")
    return text


def _told(value: object) -> str:
    """A value to compare by; one that is not a number equals itself then."""
    return json.dumps(value, sort_keys=True, default=repr)
