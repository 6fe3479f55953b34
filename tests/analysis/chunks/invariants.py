"""What must hold for any bytes under any name, as complaints that a test can read."""

from collections.abc import Iterator
from typing import NamedTuple

from hypothesis import HealthCheck, settings

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.chunks.validation import violations
from asterism.analysis.source.text import decode, is_binary
from asterism.analysis.symbols import symbol_rows
from asterism.analysis.syntax.outlines import outline_bytes, text_of
from asterism.types.index import Chunk
from asterism.types.outline import Item, Outline

# The same examples on every machine and every run; a slow machine is not a failure.
STEADY = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)

# More of one kind say nothing new, and a failure report should stay readable.
SHOWN = 5


class Inspected(NamedTuple):
    """What was made of some bytes, and what is wrong with it."""

    complaints: list[str]
    outline: Outline
    chunks: list[Chunk]


def complaints(path: str, data: bytes, options: ChunkOptions | None = None) -> list[str]:
    """Everything that is wrong with the outline, chunks and symbol rows of some bytes."""
    return inspected(path, data, options).complaints


def inspected(path: str, data: bytes, options: ChunkOptions | None = None) -> Inspected:
    """The same, with the outline and the chunks."""
    options = options or ChunkOptions()
    found = outline_bytes(path, data)
    source = b"" if is_binary(data) else text_of(path, data)
    chunks = chunk_file(found, source, FileOrigin("repo", path, path), options)
    broken = [str(violation) for violation in violations(found, source, chunks, options)]
    wrong = [
        *broken[:SHOWN],
        *_about_text(data),
        *_about_outline(found, source),
        *_about_rows(found, source, chunks),
    ]
    return Inspected(wrong, found, chunks)


def _about_text(data: bytes) -> Iterator[str]:
    source = decode(data)
    if source.decode("utf-8", "replace").encode() != source:
        yield "decoded text is not UTF-8"
    if b"\r" in source:
        yield "decoded text has carriage returns"


def _about_outline(found: Outline, source: bytes) -> Iterator[str]:
    lines, size, count = source.count(b"\n") + 1, len(source), len(found.items)
    for index, item in enumerate(found.items):
        where = f"{item.kind} {item.name!r} at line {item.start_line}"
        if not item.name.strip() or "\n" in item.name or not all(item.path):
            yield f"{where} has no proper name"
        if item.path[-1:] != (item.name,):
            yield f"{where} is not the end of its own path"
        if not 1 <= item.first_line <= item.start_line <= item.end_line <= lines:
            yield f"{where} has lines {item.first_line}, {item.start_line}, {item.end_line} of {lines}"
        if not 0 <= item.span.start <= item.span.end <= size:
            yield f"{where} has the span {item.span} of {size} bytes"
        if item.body is not None and not _within(item.body, item.span):
            yield f"{where} has a body outside itself"
        yield from (f"{where} {text}" for text in _about_family(found.items, index, item))
    for reference in found.references:
        if not 1 <= reference.line <= lines or not reference.name:
            yield f"reference {reference} is nowhere"
        if reference.enclosing is not None and not 0 <= reference.enclosing < count:
            yield f"reference {reference} is in no item"
    for entry in found.imports:
        if not 1 <= entry.start_line <= entry.end_line <= lines:
            yield f"import {entry} is nowhere"
        if entry.enclosing is not None and not 0 <= entry.enclosing < count:
            yield f"import {entry} is in no item"
    for export in found.exports:
        if not 1 <= export.line <= lines or not export.name:
            yield f"export {export} is nowhere"
    for problem in found.problems:
        if not 1 <= problem.line <= lines or not problem.message:
            yield f"problem {problem} is nowhere"


def _about_family(items: tuple[Item, ...], index: int, item: Item) -> Iterator[str]:
    """Complaints about an item's parent and children."""
    if item.parent is None:
        if item.depth:
            yield f"has depth {item.depth} and no parent"
    elif not 0 <= item.parent < index:
        yield f"has parent {item.parent}, which does not come before it"
    else:
        parent = items[item.parent]
        if index not in _children(items, item.parent):
            yield "is unknown to its parent"
        if item.depth != parent.depth + 1:
            yield f"has depth {item.depth} under depth {parent.depth}"
        if not _within(item.span, parent.span):
            yield f"reaches out of its parent: {item.span} in {parent.span}"
        if not parent.first_line <= item.first_line <= item.end_line <= parent.end_line:
            yield "has lines outside its parent's"
    for child in item.children:
        if not index < child < len(items) or items[child].parent != index:
            yield f"claims child {child}, which does not agree"


def _children(items: tuple[Item, ...], index: int) -> frozenset[int]:
    """The children as a set, kept for the last parent asked about."""
    if _last.get("items") is not items or _last.get("index") != index:
        _last.update(items=items, index=index, children=frozenset(items[index].children))
    found = _last["children"]
    assert isinstance(found, frozenset)
    return found


_last: dict[str, object] = {}


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] <= inner[1] <= outer[1]


def _about_rows(found: Outline, source: bytes, chunks: list[Chunk]) -> Iterator[str]:
    lines = source.decode().split("\n")
    known = {chunk.id: chunk for chunk in chunks}
    seen = set()
    for row in symbol_rows(found, chunks):
        if row.id in seen:
            yield f"two rows have the id of {row}"
        seen.add(row.id)
        chunk = known.get(row.chunk_id or "")
        if chunk is None:
            # Some grammars take the blanks of other scripts for names; such a line has no chunk.
            if lines[row.line - 1].strip():
                yield f"{row} points to no chunk"
        elif not chunk.start_line <= row.line <= chunk.end_line:
            yield f"{row} points to lines {chunk.start_line} to {chunk.end_line}"
