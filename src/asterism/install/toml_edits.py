"""A table into a TOML file and out again, by the smallest edit of its text; comments stay.

tomlkit is not used: it rejects a byte order mark, adds lines with another line end than the file's,
puts a table between others, and keeps the blank line of a table that it removes. `uninstall` has to
restore the file to the byte.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from asterism.types.errors import InputError

BEGIN = "<!-- asterism:begin, written by `asterism install`; `asterism uninstall` removes it -->"
END = "<!-- asterism:end -->"
# What is looked for; the words behind it may change from one version to the next.
_OPENING = "<!-- asterism:begin"


def newline_of(text: str) -> str:
    """The line end that most lines of a text have."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def has_block(text: str) -> bool:
    """Whether the block is there; half a block is an error."""
    return _span(text) is not None


def body_of(text: str) -> str | None:
    """What is in the block; None without a block."""
    span = _span(text)
    if span is None:
        return None
    lines = text[span[0] : span[1]].replace("\r\n", "\n").split("\n")
    return "\n".join(lines[1:-1])


def with_block(text: str, body: str) -> str:
    """The text with the block: in the place of an older one, else at its end."""
    newline = newline_of(text)
    block = newline.join([BEGIN, *body.strip("\n").split("\n"), END])
    span = _span(text)
    if span is None:
        return appended(text, block, newline)
    return text[: span[0]] + block + text[span[1] :]


def without_block(text: str) -> str:
    """The text without the block, and without the blank line that came with it."""
    span = _span(text)
    if span is None:
        return text
    start, end = span
    for line_end in ("\r\n", "\n"):
        if text.startswith(line_end, end):
            return cut(text, start, end + len(line_end))
    return cut(text, start, end)


def _span(text: str) -> tuple[int, int] | None:
    start, end = text.find(_OPENING), text.find(END)
    if start < 0 and end < 0:
        return None
    if start < 0 or end < start or text.find(_OPENING, start + 1) >= 0 or text.count(END) > 1:
        raise InputError(
            f"its lines `{_OPENING} …` and `{END}` do not belong together; put them right by hand"
        )
    return start, end + len(END)


def appended(text: str, block: str, newline: str) -> str:
    """A text with a block after a blank line; it ends in a line end only if it did before."""
    if not text.strip("\ufeff"):
        return text + block + newline
    if text.endswith("\n"):
        return text + newline + block + newline
    return text + newline * 2 + block


def cut(text: str, start: int, end: int) -> str:
    """A text without a span that `appended` may have put there: its blank line goes too."""
    head, tail = text[:start], text[end:]
    newline = "\r\n" if head.endswith("\r\n") else "\n"
    if not tail:
        # Without a line end after the block there was none before it was put there.
        lines = 1 if text.endswith("\n") else 2
        return head.removesuffix(newline * lines) if head.endswith(newline * 2) else head
    if tail.startswith(("\n", "\r\n")) and (not head or head.endswith(newline * 2)):
        return head + tail.removeprefix("\r\n" if tail.startswith("\r\n") else "\n")
    return head + tail


# What a statement is made of: strings of every kind and comments hide what is inside of them.
TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}\n]',
    re.DOTALL,
)


class TomlStatement(NamedTuple):
    """One header or one `key = value`, with the end of its line; positions in the text."""

    start: int
    end: int
    # The table that a header opens; nothing for a key.
    table: tuple[str, ...] | None
    # The keys of `a.b = value`; nothing for a header.
    keys: tuple[str, ...]


def entry_at(text: str, path: Sequence[str]) -> Any:
    """The value at a path of keys; None if it is missing."""
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
    header: TomlStatement | None = None
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


def statements(text: str) -> Iterator[TomlStatement]:
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


def _statement(text: str, start: int, end: int) -> Iterator[TomlStatement]:
    written = text[start:end].replace("\r\n", "\n")
    value = loads(written)
    if written.lstrip(" \t").startswith("["):
        yield TomlStatement(start, end, tuple(_only_keys(value)), ())
    elif value:
        yield TomlStatement(start, end, None, tuple(_only_keys(value)))


def _only_keys(value: Any) -> Iterator[str]:
    """The keys down to what is no table of exactly one."""
    while True:
        value = value[0] if isinstance(value, list) and value else value
        if not isinstance(value, dict) or len(value) != 1:
            return
        key, value = next(iter(value.items()))
        yield key


def _merged(value: Any, path: Sequence[str], entry: object) -> Any:
    if not path:
        return entry
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
    return checked(edited, _merged(loads(text), path, [*found, item]))


def without_item(text: str, path: Sequence[str], item: str) -> str:
    """The text with a string removed from a list; other lines stay unchanged."""
    found = _strings(text, path)
    if item not in found:
        return text
    place = _found(text, path)
    edited = text
    for one in reversed([each for each in place.items if each.value == item]):
        edited = _cut(edited, place, one)
    return checked(edited, _merged(loads(text), path, [each for each in found if each != item]))


def _strings(text: str, path: Sequence[str]) -> list[str]:
    found = entry_at(text, path)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise InputError(f'"{".".join(path)}" is not a list of strings there; correct it by hand')
    return found


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
