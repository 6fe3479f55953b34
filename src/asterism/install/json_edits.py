"""An entry into a JSON file and out again, by the smallest edit of its text; comments stay."""

import json
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
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


class JsonMember(NamedTuple):
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
    members: tuple[JsonMember, ...] | None

    def member(self, key: str) -> JsonMember | None:
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
    members: list[JsonMember] = []
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
        members.append(JsonMember(name, place, node, comma if has_comma else None))
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


class JsonLayout(NamedTuple):
    """How a file is written: its line ends, and one step of its indentation."""

    newline: str
    step: str


def layout_of(text: str) -> JsonLayout:
    """As most of the file is; two spaces where it does not say."""
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    found = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
    return JsonLayout(newline, found.group(1) if found else "  ")


def rendered(value: object, layout: JsonLayout, margin: str | None) -> str:
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


def entry_at(text: str, path: Sequence[str]) -> Any:
    """The value at a path of keys; None if it is missing."""
    node = None if is_blank(text) else scan(text)
    for depth, key in enumerate(path):
        if node is None:
            return None
        _check_object(node, path[:depth])
        member = node.member(key)
        node = member.node if member else None
    return None if node is None else node.value


def with_entry(text: str, path: Sequence[str], entry: Mapping[str, object]) -> str:
    """The text with the entry's fields at a path; other fields that stand there already stay."""
    if is_blank(text):
        layout = layout_of(text)
        made = rendered(nested(path, entry), layout, "")
        # A comment may be all there is; the value follows on a line of its own.
        lead = text if not text.strip("\ufeff \t\r\n") else text.rstrip() + layout.newline
        return _checked(text, lead + made + layout.newline, nested(path, entry))
    expected = _merged(scan(text).value, path, entry)
    edited = text
    if entry_at(text, path) is None:
        edited = _with_field(text, path, dict(entry))
    else:
        for key, value in entry.items():
            edited = _with_field(edited, [*path, key], value)
    return _checked(text, edited, expected)


def without_entry(text: str, path: Sequence[str], prune: int) -> str:
    """The text without the value at a path, nor up to so many parents that held only that."""
    root = scan(text)
    expected = deepcopy(root.value)
    depth = len(path)
    while depth > 1 and prune and len(_objects(root, path)[depth - 1].members or ()) == 1:
        depth, prune = depth - 1, prune - 1
    gone = path[:depth]
    holder = expected
    for key in gone[:-1]:
        holder = holder[key]
    del holder[gone[-1]]
    return _checked(text, _removed(text, _objects(root, gone)[-1], gone[-1]), expected)


def nested(path: Sequence[str], value: object) -> Any:
    """The value below the keys of a path."""
    for key in reversed(path):
        value = {key: value}
    return value


def _objects(root: Node, path: Sequence[str]) -> list[Node]:
    """The objects that a path goes through, the root first, the holder of its last key last."""
    objects = [root]
    for key in path[:-1]:
        member = objects[-1].member(key)
        if member is None:
            break
        objects.append(member.node)
    return objects


def _check_object(node: Node, path: Sequence[str]) -> None:
    if node.members is None:
        where = f'"{".".join(path)}"' if path else "the file"
        raise InputError(f"{where} is not an object there")


def _merged(value: Any, path: Sequence[str], entry: Mapping[str, object]) -> Any:
    if not path:
        return {**(value or {}), **entry}
    value = value if isinstance(value, dict) else {}
    return {**value, path[0]: _merged(value.get(path[0]), path[1:], entry)}


def _with_field(text: str, path: Sequence[str], value: object) -> str:
    objects = _objects(scan(text), path)
    member = objects[-1].member(path[-1]) if len(objects) == len(path) else None
    if member is None:
        return _inserted(text, path, value)
    if member.node.value == value:
        return text
    made = rendered(value, layout_of(text), margin_of(text, member.start))
    return text[: member.node.start] + made + text[member.node.end :]


def _inserted(text: str, path: Sequence[str], value: object) -> str:
    """Put a new member at the end of the innermost object of the path that is there."""
    objects = _objects(scan(text), path)
    holder, rest = objects[-1], path[len(objects) - 1 :]
    _check_object(holder, path[: len(objects) - 1])
    layout = layout_of(text)
    made = nested(rest[1:], value)
    last = holder.members[-1] if holder.members else None
    end = last_written(text, holder.start, holder.end - 1)
    # What stands on one line stays on it, but for a file that was as good as empty.
    around = holder if last else objects[0]
    if around.members and "\n" not in text[around.start : around.end]:
        lead = "" if last is None else " " if last.comma is not None else ", "
        member = f"{lead}{json.dumps(rest[0])}: {rendered(made, layout, None)}"
        return text[:end] + member + text[end:]
    margin = _inner_margin(text, holder, last, layout)
    member = f"{layout.newline}{margin}{json.dumps(rest[0])}: {rendered(made, layout, margin)}"
    tail = text[end:]
    if "\n" not in text[end : holder.end]:
        tail = layout.newline + margin_of(text, holder.start) + tail.lstrip(" \t")
    head = text[:end]
    if last and last.comma is None:
        head = text[: last.node.end] + "," + text[last.node.end : end]
    return head + member + tail


def _inner_margin(text: str, holder: Node, last: JsonMember | None, layout: JsonLayout) -> str:
    if last is None:
        return margin_of(text, holder.start) + layout.step
    margin = margin_of(text, last.start)
    # Members on the line of the brace say nothing of where a line of their own would begin.
    alone = text[text.rfind("\n", 0, last.start) + 1 : last.start].strip(" \t") == ""
    return margin if alone else margin_of(text, holder.start) + layout.step


def _removed(text: str, holder: Node, key: str) -> str:
    members = list(holder.members or ())
    at = max(number for number, member in enumerate(members) if member.key == key)
    member = members[at]
    start = last_written(text, holder.start, member.start)
    end = member.node.end if member.comma is None else member.comma + 1
    head, tail = text[:start], text[end:]
    follows = tail.lstrip(" \t")
    if (
        len(members) == 1
        and start == holder.start + 1
        and tail[: holder.end - 1 - end].strip() == ""
    ):
        tail = text[holder.end - 1 :]
    elif not follows.startswith(("\n", "\r")) and ends_in_line_comment(text, holder.start, start):
        tail = layout_of(text).newline + tail
    before = members[at - 1] if at else None
    if member.comma is None and before is not None and before.comma is not None:
        # The last member goes, and with it the comma that led to it.
        head = text[: before.comma] + text[before.comma + 1 : start]
    return head + tail


def _checked(before: str, after: str, expected: object) -> str:
    """The edited text, once it has been read again and says what it should."""
    if _told(scan(after).value) != _told(expected):
        raise InputError("the edit did not come out as planned")
    if _is_strict(before) and not _is_strict(after):
        raise InputError("the edit did not come out as plain JSON")
    return after


def _told(value: object) -> str:
    """A value to compare by: 1, 1.0 and true are three things."""
    return json.dumps(value, sort_keys=True)


def _is_strict(text: str) -> bool:
    try:
        json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True
