"""`asterism outline` and `asterism chunks`: a file as symbols, and as it is searched."""

import argparse

from asterism.analysis.contents import read_chunks, read_outline
from asterism.cli.options import add_json
from asterism.cli.parser import CommandParser
from asterism.cli.setup import place_of, settings_for
from asterism.cli.terminal import write_json
from asterism.config.load import chunk_options
from asterism.operations.schema import Json
from asterism.types.files import wire_path
from asterism.types.index import Chunk
from asterism.types.outline import Import, Item, Outline


def declare(parser: CommandParser) -> None:
    """Add the arguments of the command that is meant."""
    parser.add_argument("file", metavar="FILE", help="the source file")
    if parser.command == "chunks":
        parser.add_argument(
            "--show",
            choices=("source", "embedding"),
            help="print each chunk's source, or the text a model reads",
        )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print one file."""
    return _chunks(options) if options.command == "chunks" else _outline(options)


_NAMES = {
    "id": "chunk_id",
    "relative_path": "file_path",
    "file_path": "absolute_path",
    "node_kind": "kind",
}
"""Fields of a chunk that replies call otherwise."""


def _outline(options: argparse.Namespace) -> int:
    """Print the outline of one file."""
    place = place_of(options.file)
    outline = read_outline(place.path, place.relative_path)
    if options.json:
        write_json(outline_json(outline))
    else:
        # Here, not above: JSON needs no terminal library.
        from asterism.cli.render.trees import print_outline

        print_outline(outline)
    return 0


def _chunks(options: argparse.Namespace) -> int:
    """Print the chunks of one file."""
    place = place_of(options.file)
    limits = chunk_options(settings_for(place.root))
    chunks = read_chunks(place.path, place.relative_path, place.repo, limits).chunks
    if options.json:
        write_json([chunk_json(chunk) for chunk in chunks])
        return 0
    # Here, not above: JSON needs no terminal library.
    from asterism.cli.render.trees import print_chunk_texts, print_chunks

    if options.show:
        print_chunk_texts(chunks, options.show)
    else:
        print_chunks(place.relative_path, chunks)
    return 0


def outline_json(outline: Outline) -> Json:
    """What `asterism outline --json` prints; symbols hold their children."""
    return {
        "file_path": wire_path(outline.path),
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
    fields = {_NAMES.get(name, name): value for name, value in chunk._asdict().items()}
    return {**fields, "file_path": wire_path(chunk.relative_path)}


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
        "is_exported": item.exported,
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
