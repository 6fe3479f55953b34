"""JSON with comments as text: where each member stands, so that an edit touches nothing else."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from asterism.types.errors import InputError

# Deeper than any configuration is written by hand; beyond it the scanner would run out of stack.
DEEPEST = 100

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_TOKEN = re.compile(_STRING.pattern + r"|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class Malformed(InputError):
    """The text is no JSON, not even with comments and trailing commas."""


class Member(NamedTuple):
    """One `"key": value` of an object; positions in the text."""

    key: str
    start: int
    node: "Node"
    # Where its comma stands; an object's last member may have one too.
    comma: int | None


class Node(NamedTuple):
    """A value: what it is, and from where to where it stands."""

    start: int
    end: int
    value: Any
    # The members of an object, in order; nothing for any other value.
    members: tuple[Member, ...] | None

    def member(self, key: str) -> Member | None:
        """The member of a key; the last one counts, as parsers have it."""
        found = [member for member in self.members or () if member.key == key]
        return found[-1] if found else None


# An edit looks at a text several times, and some configurations have megabytes.
@lru_cache(maxsize=4)
def scan(text: str) -> Node:
    """The one value of a text; not to be changed, for it is kept."""
    node = _value(text, _skip(text, 0), DEEPEST)
    after = _skip(text, node.end)
    if after != len(text):
        raise _unexpected(text, after)
    return node


def is_blank(text: str) -> bool:
    """Whether there is no value: nothing, or only space and comments."""
    return _skip(text, 0) == len(text)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _unexpected(text: str, at: int) -> Malformed:
    line = text.count("\n", 0, at) + 1
    what = f"{text[at]!r} is not expected there" if at < len(text) else "it ends too early"
    return Malformed(f"line {line}: {what}")


def _value(text: str, at: int, depth: int) -> Node:
    if depth == 0:
        raise Malformed(f"it is nested more than {DEEPEST} deep")
    opening = text[at : at + 1]
    if opening == "{":
        return _object(text, at, depth)
    if opening == "[":
        return _array(text, at, depth)
    found = (_STRING if opening == '"' else _SCALAR).match(text, at)
    if found is None:
        raise _unexpected(text, at)
    try:
        value = json.loads(found.group())
    except ValueError:
        raise _unexpected(text, at) from None
    return Node(at, found.end(), value, None)


def _object(text: str, at: int, depth: int) -> Node:
    members: list[Member] = []
    place = _skip(text, at + 1)
    while text[place : place + 1] != "}":
        if members and members[-1].comma is None:
            raise _unexpected(text, place)
        key = _STRING.match(text, place)
        colon = _skip(text, key.end()) if key else place
        if key is None or text[colon : colon + 1] != ":":
            raise _unexpected(text, colon)
        node = _value(text, _skip(text, colon + 1), depth - 1)
        comma = _skip(text, node.end)
        has_comma = text[comma : comma + 1] == ","
        name = str(_value(text, place, 1).value)
        members.append(Member(name, place, node, comma if has_comma else None))
        place = _skip(text, comma + 1) if has_comma else comma
    value = {member.key: member.node.value for member in members}
    return Node(at, place + 1, value, tuple(members))


def _array(text: str, at: int, depth: int) -> Node:
    values: list[Any] = []
    place = _skip(text, at + 1)
    separated = True
    while text[place : place + 1] != "]":
        if not separated:
            raise _unexpected(text, place)
        node = _value(text, place, depth - 1)
        values.append(node.value)
        place = _skip(text, node.end)
        separated = text[place : place + 1] == ","
        if separated:
            place = _skip(text, place + 1)
    return Node(at, place + 1, values, None)


class Layout(NamedTuple):
    """How a file is written: its line ends, and one step of its indentation."""

    newline: str
    step: str


def layout_of(text: str) -> Layout:
    """As most of the file is; two spaces where it does not say."""
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    found = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
    return Layout(newline, found.group(1) if found else "  ")


def rendered(value: object, layout: Layout, margin: str | None) -> str:
    """A value as text; objects go over several lines unless there is no margin to start from."""
    if not isinstance(value, Mapping) or not value:
        return json.dumps(value, ensure_ascii=False)
    if margin is None:
        pairs = (
            f"{json.dumps(key)}: {rendered(below, layout, None)}" for key, below in value.items()
        )
        return "{" + ", ".join(pairs) + "}"
    inner = margin + layout.step
    lines = [
        f"{inner}{json.dumps(key)}: {rendered(below, layout, inner)}"
        for key, below in value.items()
    ]
    return "{" + layout.newline + f",{layout.newline}".join(lines) + layout.newline + margin + "}"


def margin_of(text: str, at: int) -> str:
    """The space that begins the line of a place."""
    line = text.rfind("\n", 0, at) + 1
    found = re.compile(r"[ \t]*").match(text, line)
    return found.group() if found else ""


def last_written(text: str, start: int, end: int) -> int:
    """The end of what is written in a span: the space at its end is left out."""
    return start + len(text[start:end].rstrip(" \t\r\n"))


def ends_in_line_comment(text: str, start: int, end: int) -> bool:
    """Whether a span ends in `// …`, after which only a new line may follow."""
    return any(
        found.start() < end <= found.end() and found.group().startswith("//")
        for found in _TOKEN.finditer(text, start)
    )
