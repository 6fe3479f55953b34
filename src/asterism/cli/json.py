"""Records as JSON, by hand, in one place."""

import json
import sys
from collections.abc import Iterator
from typing import Any

from asterism.types.files import Discovery, wire_path
from asterism.types.index import Chunk
from asterism.types.outline import Import, Item, Outline

Json = dict[str, Any]


def write_json(value: object) -> None:
    """Print a value as JSON; names that are no UTF-8 are written as they are displayed."""
    text = "".join(_encoded(value))
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


class _Text(str):
    """A piece of JSON that is written as it is."""

    __slots__ = ()


def _encoded(value: object) -> Iterator[str]:
    """JSON as `json.dumps` indents it, without recursion: symbols nest deeper than the stack."""
    pending: list[tuple[object, int]] = [(value, 0)]
    while pending:
        value, level = pending.pop()
        if isinstance(value, dict) and value:
            marks = "{}"
            pairs = [(f"{json.dumps(key)}: ", below) for key, below in value.items()]
        elif isinstance(value, list | tuple) and value:
            marks, pairs = "[]", [("", below) for below in value]
        else:
            yield value if isinstance(value, _Text) else json.dumps(value, ensure_ascii=False)
            continue
        margin = "\n" + "  " * level
        yield marks[0]
        pending.append((_Text(f"{margin}{marks[1]}"), level))
        for number in range(len(pairs) - 1, -1, -1):
            label, below = pairs[number]
            comma = "," if number else ""
            pending.append((below, level + 1))
            pending.append((_Text(f"{comma}{margin}  {label}"), level))


def outline_json(outline: Outline) -> Json:
    """What `asterism outline --json` prints; symbols hold their children."""
    return {
        "path": wire_path(outline.path),
        "language": outline.language,
        "symbols": _symbols(outline),
        "root_items": [
            {
                "kind": item.kind,
                "name": item.name,
                "start_line": item.start_line,
                "end_line": item.end_line,
            }
            for _, item in outline.root_items()
        ],
        "imports": [_import(entry) for entry in outline.imports],
        "exports": [export._asdict() for export in outline.exports],
        "references": [
            {
                "name": reference.name,
                "line": reference.line,
                "column": reference.column,
                "receiver": reference.receiver,
                "enclosing": _enclosing(outline, reference.enclosing),
                "local": reference.local,
            }
            for reference in outline.references
        ],
        "problems": [problem._asdict() for problem in outline.problems],
    }


def chunk_json(chunk: Chunk) -> Json:
    """What `asterism chunks --json` prints of one chunk."""
    return {**chunk._asdict(), "relative_path": wire_path(chunk.relative_path)}


def discovery_json(discovery: Discovery) -> Json:
    """What `asterism files --json` prints."""
    return {
        "root": wire_path(discovery.root),
        "files": [{"path": wire_path(file.path), "size": file.size} for file in discovery.files],
        "skipped": [
            {
                "path": wire_path(entry.path),
                "reason": entry.reason.value,
                "detail": entry.detail,
            }
            for entry in discovery.skipped
        ],
        "counts": {
            "files": len(discovery.files),
            "skipped": {reason.value: count for reason, count in discovery.counts.items()},
        },
    }


def _symbols(outline: Outline) -> list[Json]:
    """The symbols below no other symbol, each with its children."""
    made: dict[int, Json] = {}
    # Children come after their parents, so backwards every child is there before it is needed.
    for index in range(len(outline.items) - 1, -1, -1):
        item = outline.items[index]
        made[index] = _symbol(outline, item, [made[child] for child in item.children])
    return [made[index] for index, _ in outline.symbols() if _is_top(outline, index)]


def _symbol(outline: Outline, item: Item, children: list[Json]) -> Json:
    return {
        "name": item.name,
        "kind": item.kind,
        "qualified_name": item.qualified_name,
        "depth": item.depth,
        "parent": outline.parent_of(item),
        "start_line": item.start_line,
        "end_line": item.end_line,
        "signature": item.signature,
        "modifiers": item.modifiers,
        "doc": item.doc,
        "decorators": item.decorators,
        "exported": item.exported,
        "tags": item.tags,
        "children": children,
    }


def _is_top(outline: Outline, index: int) -> bool:
    """Whether no symbol is above: at the root, or directly in a root item."""
    parent = outline.items[index].parent
    return parent is None or not outline.items[parent].is_symbol


def _import(entry: Import) -> Json:
    return {
        "module": entry.module,
        "names": [{"name": name.name, "alias": name.alias} for name in entry.names],
        "start_line": entry.start_line,
        "end_line": entry.end_line,
        "type_only": entry.type_only,
        "side_effect": entry.side_effect,
        "dynamic": entry.dynamic,
        "reexport": entry.reexport,
    }


def _enclosing(outline: Outline, index: int | None) -> str | None:
    """The qualified name of the innermost symbol around a place."""
    while index is not None:
        item: Item = outline.items[index]
        if item.is_symbol:
            return item.qualified_name
        index = item.parent
    return None
