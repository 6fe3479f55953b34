"""Outlines and chunks in the shape fixtures are written in, so that both can be compared."""

from pathlib import Path
from typing import Any

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.embedding_text import imports_used
from asterism.analysis.chunks.units import folded, units_of
from asterism.analysis.syntax.outlines import outline, text_of
from asterism.types.outline import Import, ImportedName, Outline

FIXTURES = Path(__file__).parent / "fixtures"

_DEFAULTS: dict[str, Any] = {
    "modifiers": [],
    "decorators": [],
    "tags": [],
    "doc": None,
    "exported": False,
}
_FLAGS = ("type_only", "side_effect", "dynamic", "reexport")


def described(path: Path) -> dict[str, Any]:
    """Everything a fixture may expect of a file, defaults left out."""
    source = text_of(path.name, path.read_bytes())
    found = outline(path.name, source)
    return {
        "symbols": [_symbol(found, index) for index, _ in found.symbols()],
        "root_items": [
            {"kind": item.kind, "name": item.name, "lines": [item.start_line, item.end_line]}
            for _, item in found.root_items()
        ],
        "imports": [_import(entry) for entry in found.imports],
        "exports": [
            export.name
            + (f" = {export.local}" if export.local != export.name else "")
            + (f" from {export.module}" if export.module else "")
            for export in found.exports
        ],
        "references": sorted(_references(found)),
        "problems": len(found.problems),
        "chunks": _chunks(found, source),
    }


def completed(expected: dict[str, Any]) -> dict[str, Any]:
    """An expectation with the defaults its author may leave out."""
    symbols = [{**_DEFAULTS, **symbol} for symbol in expected.get("symbols", [])]
    imports = [{"flags": [], **entry} for entry in expected.get("imports", [])]
    chunks = [{"collapsed": [], "imports": [], **chunk} for chunk in expected.get("chunks", [])]
    return {**expected, "symbols": symbols, "imports": imports, "chunks": chunks}


def _symbol(found: Outline, index: int) -> dict[str, Any]:
    item = found.items[index]
    return {
        "name": item.name,
        "kind": item.kind,
        "depth": item.depth,
        "parent": found.parent_of(item),
        "lines": [item.start_line, item.end_line],
        "signature": item.signature,
        "modifiers": list(item.modifiers),
        "doc": item.doc,
        "decorators": list(item.decorators),
        "exported": item.exported,
        "tags": list(item.tags),
    }


def _import(entry: Import) -> dict[str, Any]:
    return {
        "module": entry.module,
        "names": [_name(name) for name in entry.names],
        "line": entry.start_line,
        "flags": [flag for flag in _FLAGS if getattr(entry, flag)],
    }


def _name(name: ImportedName) -> str:
    return f"{name.name} as {name.alias}" if name.alias else name.name


def _references(found: Outline) -> set[str]:
    texts = set()
    for reference in found.references:
        at = reference.enclosing
        while at is not None and not found.items[at].is_symbol:
            at = found.items[at].parent
        owner = found.items[at].qualified_name if at is not None else ""
        on = f" on {reference.receiver}" if reference.receiver else ""
        texts.add(f"{owner}: {reference.name}{on}")
    return texts


def _chunks(found: Outline, source: bytes) -> list[dict[str, Any]]:
    place = FileOrigin("fixture", found.path, found.path)
    units = units_of(found.items)
    used = imports_used(found)
    rows = []
    for unit, chunk in zip(units, chunk_file(found, source, place), strict=True):
        children = [child for index in unit.members for child in found.items[index].children]
        numbers = set().union(*(used[index] for index in unit.members))
        header = chunk.embedding_text.split("\n", 1)[0]
        rows.append(
            {
                "breadcrumb": header.split(f"{found.path} > ", 1)[1],
                "kind": chunk.node_kind,
                "lines": [chunk.start_line, chunk.end_line],
                "collapsed": [
                    found.items[index].qualified_name for index in folded(found.items, children)
                ],
                "imports": list(dict.fromkeys(found.imports[n].module for n in sorted(numbers))),
            }
        )
    return rows
