"""An entry into a JSON file and out again, by the smallest edit of its text; comments stay."""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from asterism.install.jsonc_text import (
    Layout,
    Member,
    Node,
    ends_in_line_comment,
    is_blank,
    last_written,
    layout_of,
    margin_of,
    rendered,
    scan,
)
from asterism.types.errors import InputError


def entry_at(text: str, path: Sequence[str]) -> Any:
    """The value at a path of keys; nothing where there is none."""
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


def _inner_margin(text: str, holder: Node, last: Member | None, layout: Layout) -> str:
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
