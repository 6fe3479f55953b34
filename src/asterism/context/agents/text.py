"""Edits of an agent's file as text: only the lines that change are touched.

Comments, blank lines, quotation marks and the order of keys stay because they are never read and
written again. Each edit is checked by reading its result.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asterism.context.agents.nodes import (
    MappingEntry,
    Unreadable,
    entries_of,
    is_list,
    is_mapping,
    parsed,
    plain,
    scalar_of,
)
from asterism.types.errors import InputError

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

_COMMENT = re.compile(r"(?<![ \t])[ \t]++#.*$")
_INDENT = 2
# Line breaks to YAML that editors do not show as such; lines would be counted differently.
_ODD_BREAK = re.compile("[\x85\u2028\u2029]|\r")


def with_value(text: str, path: Sequence[str], value: object) -> str:
    """The text with a key set, which is added where it is not there; None takes it away.

    A part of the path is a key, or the name of a member of a list.
    """
    text = _whole_lines(text)
    root = _root(text)
    wanted = _data_with(plain(root) or {}, path, value)
    lines = text.split("\n")
    _set(lines, root, list(path), value, 0)
    return _checked(lines, wanted)


def with_member(text: str, key: str, member: Mapping[str, object]) -> str:
    """The text with a new last member in a list at the top."""
    text = _whole_lines(text)
    root = _root(text)
    data = dict(plain(root) or {})
    data[key] = [*(data.get(key) or []), dict(member)]
    lines = text.split("\n")
    entry = _entry(root, key)
    if entry is None or not is_list(entry.value) or not entry.value.value or _is_flow(entry.value):
        _set(lines, root, [key], data[key], 0)
    else:
        column = _dash_column(lines, entry.value)
        at = _last_line(lines, entry.value.value[-1]) + 1
        lines[at:at] = _indented(_rendered([dict(member)]), column)
    return _checked(lines, data)


def without_member(text: str, key: str, name: str) -> str:
    """The text without a member of a list at the top; what is written above it stays."""
    text = _whole_lines(text)
    root = _root(text)
    data = dict(plain(root) or {})
    data[key] = [each for each in data.get(key) or [] if each.get("name") != name]
    lines = text.split("\n")
    entry = _entry(root, key)
    if entry is None or not is_list(entry.value):
        raise _by_hand(key)
    if not data[key] or _is_flow(entry.value):
        _set(lines, root, [key], data[key], 0)
    else:
        node = _member(entry.value, name)
        _dash_column(lines, entry.value, node)
        del lines[node.start_mark.line : _last_line(lines, node) + 1]
    return _checked(lines, data)


def _whole_lines(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _root(text: str) -> Node | None:
    if _ODD_BREAK.search(text):
        raise _by_hand("the file")
    try:
        return parsed(text)
    except Unreadable as error:
        raise InputError(f"{error.problem}. Put that right first.") from error


def _entry(node: Node | None, key: str) -> MappingEntry | None:
    if node is None or not is_mapping(node):
        return None
    return next((entry for entry in entries_of(node) if entry.name == key), None)


def _member(node: Node, name: str) -> Node:
    for member in node.value:
        entry = _entry(member, "name")
        if entry is not None and scalar_of(entry.value) == name:
            return member  # type: ignore[no-any-return]
    raise InputError(f"There is no {name!r} to change.")


def _set(lines: list[str], node: Node | None, path: list[str], value: object, column: int) -> None:
    """Set the value at a path inside a node whose keys are in a column."""
    key, rest = path[0], path[1:]
    if node is not None and is_list(node) and not _is_flow(node):
        _set(lines, _member(node, key), rest, value, column)
        return
    entry = _entry(node, key)
    if node is not None and is_mapping(node) and node.value:
        column = int(node.value[0][0].start_mark.column)
    if node is not None and _is_flow(node):
        _replace_flow(lines, node, _data_with(plain(node), path, value))
        return
    if entry is None:
        if value is not None:
            _add(lines, node, _nested(path, value), column)
    elif rest and (is_mapping(entry.value) or is_list(entry.value)):
        _set(lines, entry.value, rest, value, column + _INDENT)
    elif value is None and not rest:
        _remove(lines, node, entry)
    elif value is not None:
        _replace(lines, entry, _nested(path, value))


def _add(lines: list[str], node: Node | None, value: object, column: int) -> None:
    """New lines behind the last key of a node, or at the end of a file without any."""
    new = _indented(_rendered(value), column)
    if node is None:
        at = len(lines) - 1 if lines and not lines[-1].strip() else len(lines)
    else:
        at = _last_line(lines, node) + 1
    lines[at:at] = new
    if at == len(lines) - len(new):
        lines.append("")


def _replace(lines: list[str], entry: MappingEntry, value: object) -> None:
    """Another value behind a key; a comment on the key's line, or behind the value, stays."""
    first, last = int(entry.key.start_mark.line), _last_line(lines, entry.value, entry.key)
    column = int(entry.key.start_mark.column)
    if _has_comment_inside(lines, entry, last):
        raise _by_hand(entry.name)
    comment = _comment_behind(lines, entry)
    new = _indented(_rendered(value), column)
    new[0] = lines[first][:column] + new[0][column:]
    new[0] += comment
    lines[first : last + 1] = new


def _replace_flow(lines: list[str], node: Node, data: object) -> None:
    """Another content for what is written in brackets on one line, which stays so."""
    from ruamel.yaml import YAML

    line, start, end = int(node.start_mark.line), node.start_mark.column, node.end_mark.column
    if node.end_mark.line != line:
        raise _by_hand("a value in brackets")
    writer = YAML()
    writer.default_flow_style = True
    writer.width = 1_000_000
    stream = io.StringIO()
    writer.dump(data, stream)
    lines[line] = lines[line][:start] + stream.getvalue().rstrip("\n") + lines[line][end:]


def _remove(lines: list[str], node: Node | None, entry: MappingEntry) -> None:
    """Take a key away; the first of a list's member shares its line with the dash."""
    first = int(entry.key.start_mark.line)
    before = lines[first][: int(entry.key.start_mark.column)]
    if before.strip() or node is None or len(node.value) == 1:
        raise _by_hand(entry.name)
    del lines[first : _last_line(lines, entry.value, entry.key) + 1]


def _last_line(lines: Sequence[str], node: Node, key: Node | None = None) -> int:
    """The last line with anything of a node; comments and blank lines behind it are not its."""
    if (is_mapping(node) or is_list(node)) and not _is_flow(node) and node.value:
        last = node.value[-1]
        return _last_line(lines, last[1], last[0]) if is_mapping(node) else _last_line(lines, last)
    if getattr(node, "style", None) in ("|", ">"):
        return _last_of_block(lines, node)
    if node.start_mark.index == node.end_mark.index:
        # The key has no value, so the position of the node may be anywhere further down.
        place = key if key is not None else node
        return int(place.end_mark.line)
    return int(node.end_mark.line)


def _last_of_block(lines: Sequence[str], node: Node) -> int:
    """The last line of a text that is written below `|` or `>`."""
    first, last = int(node.start_mark.line), min(int(node.end_mark.line), len(lines) - 1)
    if not lines[last][: int(node.end_mark.column)].strip():
        # The scanner stops where the next thing begins, behind blank lines.
        last -= 1
    while last > first and not lines[last].strip():
        last -= 1
    return max(first, last)


def _comment_behind(lines: Sequence[str], entry: MappingEntry) -> str:
    """The comment on the line of a key, or behind a value of one line."""
    node, line = entry.value, lines[int(entry.key.start_mark.line)]
    is_block = getattr(node, "style", None) in ("|", ">")
    if node.start_mark.line != entry.key.start_mark.line or is_block:
        found = _COMMENT.search(line, int(entry.key.end_mark.column))
    else:
        line = lines[int(node.end_mark.line)]
        found = _COMMENT.match(line, int(node.end_mark.column))
    return found[0] if found else ""


def _has_comment_inside(lines: Sequence[str], entry: MappingEntry, last: int) -> bool:
    """Whether a list or mapping that is to be replaced as a whole holds a comment."""
    if not (is_mapping(entry.value) or is_list(entry.value)):
        return False
    first = int(entry.key.start_mark.line)
    end = int(entry.value.end_mark.line)
    inner = lines[first + 1 : last + 1]
    if _is_flow(entry.value) and first == end:
        return False
    return any(re.search(r"(?:^|\s)#", line) for line in inner)


def _is_flow(node: Node) -> bool:
    return bool(getattr(node, "flow_style", False))


def _dash_column(lines: Sequence[str], node: Node, member: Node | None = None) -> int:
    """The column of a list's dashes; a dash on a line of its own is left to people."""
    column = int(node.start_mark.column)
    for each in node.value if member is None else [member]:
        line = lines[int(each.start_mark.line)]
        if line[column : column + 1] != "-" or line[:column].strip():
            raise _by_hand("a list")
    return column


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _data_with(data: Any, path: Sequence[str], value: object) -> Any:
    """Plain data with what a path leads to set, added or taken away."""
    key, rest = path[0], path[1:]
    if isinstance(data, list):
        return [_data_with(each, rest, value) if each.get("name") == key else each for each in data]
    changed = dict(data) if isinstance(data, dict) else {}
    if rest:
        inner = changed.get(key)
        if value is not None or inner is not None:
            changed[key] = _data_with(inner, rest, value)
    elif value is None:
        changed.pop(key, None)
    else:
        changed[key] = value
    return changed


def _rendered(value: object) -> list[str]:
    """A value as lines of YAML, texts of several lines below `|`."""
    from ruamel.yaml import YAML

    writer = YAML()
    writer.width = 1_000_000
    writer.indent(mapping=_INDENT, sequence=_INDENT + 2, offset=_INDENT)
    stream = io.StringIO()
    writer.dump({"_": _literal(value)} if isinstance(value, list) else _literal(value), stream)
    written = stream.getvalue().removesuffix("...\n").rstrip("\n").split("\n")
    return [line[_INDENT:] for line in written[1:]] if isinstance(value, list) else written


def _literal(value: Any) -> Any:
    from ruamel.yaml.scalarstring import LiteralScalarString

    if isinstance(value, Mapping):
        return {str(key): _literal(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_literal(each) for each in value]
    # Blanks at the ends of lines, and control characters, only live inside quotation marks.
    is_tame = isinstance(value, str) and all(
        line == line.rstrip() and line.isprintable() for line in value.split("\n")
    )
    if is_tame and "\n" in value and value.strip() and not value.endswith("\n\n"):
        return LiteralScalarString(value)
    return value


def _indented(written: Sequence[str], column: int) -> list[str]:
    return [" " * column + line if line else line for line in written]


def _checked(lines: Sequence[str], wanted: object) -> str:
    """The text, if it says what it should; nothing is written that was not understood."""
    text = "\n".join(lines)
    try:
        got = plain(parsed(text))
    except Unreadable as error:
        raise _by_hand("the file") from error
    if (got or {}) != (wanted or {}):
        raise _by_hand("the file")
    return text


def _by_hand(what: str) -> InputError:
    return InputError(
        f"{what} is written in a way that cannot be changed without losing something. "
        "Edit the file by hand; nothing was changed."
    )
