"""The recipe: an outline and its source in, chunks out, parents before children."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from posixpath import basename, splitext
from typing import NamedTuple

from asterism.analysis.chunks.embedding_text import (
    Quotes,
    breadcrumb,
    file_crumb,
    imports_used,
    preamble,
    shortened,
)
from asterism.analysis.chunks.units import ChunkOptions, Unit, folded, unit_path, units_of
from asterism.analysis.syntax.language import titles
from asterism.analysis.syntax.statements import Statements
from asterism.languages.registry import facets_of
from asterism.types.index import Chunk
from asterism.types.outline import Item, Outline, Span


def collapse(source: bytes, span: Span, items: Sequence[Item], children: Iterable[int]) -> str:
    """The text of `span`, children's bodies left out; comments above a child go with its body."""
    pieces, at = [], span.start
    for index in folded(items, children):
        child = items[index]
        if child.span.start < at or child.span.end > span.end:
            continue
        pieces.append(source[at : child.span.start].decode("utf-8", "replace"))
        pieces.append(child.signature)
        at = child.span.end
    pieces.append(source[at : span.end].decode("utf-8", "replace"))
    return "".join(pieces)


def may_fold(child: Item) -> bool:
    """Whether the child has a body, or members that may have one; fields and constants do not."""
    return child.body is not None or bool(child.children)


# A line with no statement on it is the last resort for a cut.
_NO_STATEMENT = 1_000_000


def cut_lines(
    first: int,
    last: int,
    levels: dict[int, int],
    closed: Callable[[int], bool],
    size_of: Callable[[int, int], int],
    limit: int,
) -> list[tuple[int, int]]:
    """Line ranges that cover `first` to `last`, each within `limit` where a cut allows it.

    A cut is made before a line that starts a statement of the lowest nesting level available in
    the second half of what fits; never before a line for which `closed` is true, since that is
    inside a child's body, which is collapsed anyway.
    """
    parts: list[tuple[int, int]] = []
    start = first
    while start <= last:
        end = _reach(start, last, size_of, limit)
        if end < last:
            end = _cut(start, end, levels, closed)
        while end < last and closed(end + 1):
            end += 1
        parts.append((start, end))
        start = end + 1
    return parts


def _reach(start: int, last: int, size_of: Callable[[int, int], int], limit: int) -> int:
    """The furthest line that still fits, by halving; at least one line."""
    low, high = start, last
    while low < high:
        middle = (low + high + 1) // 2
        if size_of(start, middle) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def _cut(start: int, end: int, levels: dict[int, int], closed: Callable[[int], bool]) -> int:
    """The last line of a part: before the outermost statement that begins in its second half."""
    best, best_level = end, _NO_STATEMENT
    for line in range(end + 1, max(start, (start + end) // 2), -1):
        level = levels.get(line, _NO_STATEMENT)
        if level < best_level and not closed(line):
            best, best_level = line - 1, level
    return best


class FileOrigin(NamedTuple):
    """Where a file is and what state it was in, for the fields that its text does not hold."""

    repo: str
    file_path: str
    relative_path: str
    content_hash: str = ""
    last_modified: float = 0.0


class _File(NamedTuple):
    outline: Outline
    source: bytes
    lines: list[str]
    bytes_above: list[int]
    """How many bytes stand above each line and above the end, line ends not counted."""
    place: FileOrigin
    options: ChunkOptions
    crumb: str
    doc_is_jsdoc: bool
    filename: str
    extension: str
    statements: Statements

    def span(self, first: int, last: int) -> Span:
        """The bytes of whole lines, without the last one's end."""
        above = self.bytes_above
        return Span(above[first - 1] + first - 1, above[last] + last - 1)

    def text(self, first: int, last: int) -> str:
        """The text of whole lines, without the last one's end."""
        return "\n".join(self.lines[first - 1 : last])


class _Key(NamedTuple):
    id: str
    path: tuple[str, ...]
    parent: str | None
    children: tuple[str, ...]


def chunk_file(
    outline: Outline, source: bytes, place: FileOrigin, options: ChunkOptions | None = None
) -> list[Chunk]:
    """One chunk per symbol and per root item of a file."""
    lines = source.decode("utf-8", "replace").split("\n")
    bytes_above = list(accumulate(map(len, source.split(b"\n")), initial=0))
    name = basename(place.relative_path)
    title = titles().get(outline.language, outline.language)
    file = _File(
        outline,
        source,
        lines,
        bytes_above,
        place,
        options or ChunkOptions(),
        file_crumb(title, place.relative_path),
        facets_of(outline.language).display.doc_is_jsdoc,
        name,
        splitext(name)[1],
        Statements(outline.path, source),
    )
    units = units_of(outline.items)
    paths = [unit_path(outline.items, unit) for unit in units]
    ids = _ids(outline.items, units, paths, place.relative_path)
    children: list[list[str]] = [[] for _ in units]
    for number, unit in enumerate(units):
        if unit.parent is not None:
            children[unit.parent].append(ids[number])
    used = imports_used(outline)
    quotes = Quotes(outline)
    chunks: list[Chunk] = []
    split: dict[str, list[Chunk]] = {}
    limit = file.options.max_chars
    for number, unit in enumerate(units):
        parent = None if unit.parent is None else ids[unit.parent]
        key = _Key(ids[number], paths[number], parent, tuple(children[number]))
        chunk, head = _chunk(file, unit, key, used, quotes)
        if len(chunk.embedding_text) <= limit:
            chunks.append(chunk)
        else:
            parts = list(_parts(file, unit, chunk, head))
            chunks.extend(parts)
            split[chunk.id] = parts
    return [_with_all_parts(chunk, split) for chunk in chunks] if split else chunks


def chunk_id(
    relative_path: str, kind: str, path: Sequence[str], ordinal: int, part: int = 0
) -> str:
    """A name for the chunk that survives edits elsewhere in the file."""
    words = [relative_path, kind, "\x1f".join(path), str(ordinal)]
    if part:
        words.append(str(part))
    data = "\x00".join(words).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _ids(
    items: Sequence[Item], units: list[Unit], paths: list[tuple[str, ...]], relative_path: str
) -> list[str]:
    seen: dict[tuple[str, tuple[str, ...]], int] = {}
    ids = []
    for unit, path in zip(units, paths, strict=True):
        kind = items[unit.lead].kind
        ordinal = seen.get((kind, path), 0)
        seen[kind, path] = ordinal + 1
        ids.append(chunk_id(relative_path, kind, path, ordinal))
    return ids


def _chunk(
    file: _File, unit: Unit, key: _Key, used: list[set[int]], quotes: Quotes
) -> tuple[Chunk, str]:
    """The chunk of one unit, whole, and the preamble of its embedding text."""
    outline, place, options = file.outline, file.place, file.options
    items, path = outline.items, key.path
    lead = items[unit.lead]
    members = unit.members
    if len(members) == 1:
        doc, exported = lead.doc, lead.exported
        numbers = used[unit.lead]
    else:
        doc = next((items[index].doc for index in members if items[index].doc), None)
        exported = any(items[index].exported for index in members)
        numbers = set().union(*(used[index] for index in members))
    imports = [outline.imports[number] for number in sorted(numbers)] if numbers else []
    quoted, mentions = quotes.of(members, options.max_quoted) if lead.is_symbol else ({}, ())
    head = preamble(
        breadcrumb(file.crumb, path),
        doc,
        lead.signature if lead.is_symbol else None,
        [entry.module for entry in imports],
        list(quoted.items()),
        options,
    )
    first, last = unit.first_line, unit.end_line
    source = file.text(first, last)
    code = _code(file, unit, first, last) if key.children else source
    # In the order of the fields, past the class's constructor: there are millions of these.
    fields = (
        key.id,
        place.file_path,
        place.relative_path,
        place.repo,
        outline.language,
        file.extension,
        file.filename,
        lead.kind,
        path[-1],
        ".".join(path),
        path[-2] if len(path) > 1 else None,
        key.parent,
        key.children,
        unit.depth,
        0,
        lead.signature,
        source,
        first,
        last,
        doc if file.doc_is_jsdoc else None,
        doc,
        lead.decorators,
        lead.modifiers,
        lead.tags,
        exported,
        tuple(dict.fromkeys([entry.text for entry in imports])) if imports else (),
        f"{head}\n{code}",
        place.content_hash,
        place.last_modified,
        None,
        mentions,
    )
    return tuple.__new__(Chunk, fields), head


def _with_all_parts(chunk: Chunk, split: dict[str, list[Chunk]]) -> Chunk:
    """A parent whose children were split lists every part of them."""
    if not any(child in split for child in chunk.child_chunk_ids):
        return chunk
    every = (
        part
        for child in chunk.child_chunk_ids
        for part in ([piece.id for piece in split[child]] if child in split else [child])
    )
    return chunk._replace(child_chunk_ids=tuple(every))


def _parts(file: _File, unit: Unit, chunk: Chunk, head: str) -> Iterator[Chunk]:
    """Cut an oversize body; a single line that is still too long is clipped and says so."""
    items, limit = file.outline.items, file.options.max_chars
    if len(head) > limit // 2:
        # The preamble is full already, so signatures of other files are left out.
        head = shortened(head, limit // 2)
        chunk = chunk._replace(mentions=())
    span = file.span(unit.first_line, unit.end_line)
    levels = file.statements.lines(span)
    inner: set[int] = set()
    for index in folded(items, _children(items, unit)):
        inner.update(range(items[index].first_line + 1, items[index].end_line + 1))
    ranges = cut_lines(
        unit.first_line,
        unit.end_line,
        levels,
        inner.__contains__,
        lambda first, last: len(_code(file, unit, first, last)),
        limit - len(head) - 1,
    )
    for part, (first, last) in enumerate(ranges):
        text = f"{head}\n{_code(file, unit, first, last)}"
        if len(text) > limit:
            mark = f"\n[clipped: {len(text) - limit} characters of a line over the limit]"
            text = text[: limit - len(mark)] + mark
        key = chunk.id if part == 0 else f"{chunk.id}-{part}"
        yield chunk._replace(
            id=key,
            part=part,
            child_chunk_ids=chunk.child_chunk_ids if part == 0 else (),
            start_line=first,
            end_line=last,
            full_source=file.text(first, last),
            embedding_text=text,
        )


def _code(file: _File, unit: Unit, first: int, last: int) -> str:
    """The unit's lines with the bodies of its children left out."""
    items = file.outline.items
    children = [index for index in _children(items, unit) if may_fold(items[index])]
    if not children:
        return file.text(first, last)
    return collapse(file.source, file.span(first, last), items, children)


def _children(items: Sequence[Item], unit: Unit) -> Sequence[int]:
    if len(unit.members) == 1:
        return items[unit.lead].children
    return [child for index in unit.members for child in items[index].children]
