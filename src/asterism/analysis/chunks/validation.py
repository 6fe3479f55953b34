"""The ten rules every file's chunks keep, as checks that can fail."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.embedding_text import RULE
from asterism.analysis.chunks.units import ChunkOptions, Unit, folded, unit_path, units_of
from asterism.analysis.syntax.language import titles
from asterism.analysis.syntax.outlines import outline as outline_again
from asterism.languages.registry import facets_of
from asterism.types.files import display_path
from asterism.types.index import Chunk
from asterism.types.outline import Item, Outline

RULES = {
    1: "every non-blank line is in a chunk",
    2: "no line is in two siblings",
    3: "full_source is the file's lines",
    4: "parent and child links agree",
    5: "embedding text is within the limit",
    6: "children are collapsed to signatures and hold their bodies",
    7: "the breadcrumb is the hierarchy",
    8: "two runs give the same ids",
    9: "one chunk per root item",
    10: "relevant imports are exactly those used",
}

# A body this short may well stand elsewhere in its parent by chance: `{ return null; }`.
SMALL_BODY = 80


class Violation(NamedTuple):
    """One broken rule at one place."""

    rule: int
    path: str
    line: int
    message: str


class _Case(NamedTuple):
    outline: Outline
    source: bytes
    lines: list[str]
    chunks: Sequence[Chunk]
    by_id: dict[str, Chunk]
    homes: list[tuple[Unit, list[Chunk]]]
    """Each unit that has a chunk, with that chunk or its parts."""
    strays: list[Chunk]
    """Chunks that begin where no unit does."""
    homeless: list[Unit]
    options: ChunkOptions


def violations(
    outline: Outline, source: bytes, chunks: Sequence[Chunk], options: ChunkOptions
) -> list[Violation]:
    """Every rule the chunks of one file break."""
    case = _case(outline, source, chunks, options)
    return [
        Violation(rule, outline.path, line, message)
        for rule, check in _CHECKS.items()
        for line, message in check(case)
    ]


def _case(outline: Outline, source: bytes, chunks: Sequence[Chunk], options: ChunkOptions) -> _Case:
    places = {(unit.depth, unit.first_line): unit for unit in units_of(outline.items)}
    homes: list[tuple[Unit, list[Chunk]]] = []
    strays: list[Chunk] = []
    for chunk in chunks:
        if chunk.part and homes:
            homes[-1][1].append(chunk)
        elif unit := places.pop((chunk.depth, chunk.start_line), None):
            homes.append((unit, [chunk]))
        else:
            strays.append(chunk)
    return _Case(
        outline,
        source,
        source.decode("utf-8", "replace").split("\n"),
        chunks,
        {chunk.id: chunk for chunk in chunks},
        homes,
        strays,
        list(places.values()),
        options,
    )


def uncovered(lines: Sequence[str], chunks: Sequence[Chunk]) -> list[int]:
    """The 1-based lines with text that no chunk holds."""
    covered = bytearray(len(lines) + 1)
    for chunk in chunks:
        size = chunk.end_line - chunk.start_line + 1
        covered[chunk.start_line : chunk.end_line + 1] = b"\1" * size
    return [number for number, line in enumerate(lines, 1) if line.strip() and not covered[number]]


_Found = Iterator[tuple[int, str]]


def _coverage(case: _Case) -> _Found:
    for line in uncovered(case.lines, case.chunks):
        yield line, "in no chunk"


def _siblings(case: _Case) -> _Found:
    last: dict[tuple[str | None, int], int] = {}
    for chunk in sorted(case.chunks, key=lambda chunk: chunk.start_line):
        key = (chunk.parent_chunk_id, chunk.depth)
        if chunk.start_line <= last.get(key, 0):
            yield chunk.start_line, f"{chunk.qualified_name} shares a line with a sibling"
        last[key] = max(last.get(key, 0), chunk.end_line)


def _fidelity(case: _Case) -> _Found:
    for chunk in case.chunks:
        if chunk.full_source != "\n".join(case.lines[chunk.start_line - 1 : chunk.end_line]):
            yield chunk.start_line, f"{chunk.qualified_name} is not the text of its lines"


def _links(case: _Case) -> _Found:
    if len(case.by_id) != len(case.chunks):
        yield 1, "two chunks have one id"
    for chunk in case.chunks:
        parent = case.by_id.get(chunk.parent_chunk_id or "")
        if (chunk.parent_chunk_id is None) != (chunk.depth == 0):
            yield chunk.start_line, f"{chunk.qualified_name} is at the root and has a parent"
        elif chunk.parent_chunk_id and (parent is None or chunk.id not in parent.child_chunk_ids):
            yield chunk.start_line, f"the parent of {chunk.qualified_name} does not know it"
        for child in chunk.child_chunk_ids:
            if child not in case.by_id or case.by_id[child].parent_chunk_id != chunk.id:
                yield chunk.start_line, f"a child of {chunk.qualified_name} does not know it"


def _limit(case: _Case) -> _Found:
    for chunk in case.chunks:
        if len(chunk.embedding_text) > case.options.max_chars:
            yield chunk.start_line, f"{chunk.qualified_name} is over the limit"


def _collapsed(case: _Case) -> _Found:
    items = case.outline.items
    holders = {index: parts for unit, parts in case.homes for index in unit.members}
    for unit, parts in case.homes:
        children = [child for index in unit.members for child in items[index].children]
        if not children:
            continue
        code = "\n".join(part.embedding_text.split(f"\n{RULE}\n", 1)[-1] for part in parts)
        clipped = "[clipped: " in code
        source = "\n".join(part.full_source for part in parts)
        collapsed = list(folded(items, children))
        at = 0
        for index in collapsed:
            child = items[index]
            body = _text(case, child)
            # Children are in order, so the search for the next one starts after the last.
            seen = code.find(child.signature, at)
            at = seen if seen >= 0 else at
            if seen < 0 and child.signature not in code and not clipped:
                yield child.start_line, f"{child.qualified_name} has no signature in its parent"
            if len(body) > SMALL_BODY and "\n" in body and body in code:
                # The parent may contain the same text a second time, outside of the child.
                bodies = sum(_text(case, items[other]) == body for other in collapsed)
                # The signature together with what follows it may read like the body.
                rest = f"{code[:at]}\0{code[at + len(child.signature) :]}" if seen >= 0 else code
                if _count(rest, body) > _count(source, body) - bodies:
                    yield child.start_line, f"{child.qualified_name} has its body in its parent"
            whole = "\n".join(part.full_source for part in holders.get(index, ()))
            if body not in whole:
                yield child.start_line, f"{child.qualified_name} does not hold its own body"


def _count(text: str, part: str) -> int:
    """How often a part occurs, overlaps included: in repeated lines a body begins on many."""
    found, at = 0, text.find(part)
    while at >= 0:
        found, at = found + 1, text.find(part, at + 1)
    return found


def _text(case: _Case, item: Item) -> str:
    assert item.body is not None
    return case.source[item.body.start : item.body.end].decode("utf-8", "replace").strip()


def _breadcrumb(case: _Case) -> _Found:
    items = case.outline.items
    title = titles().get(case.outline.language, case.outline.language)
    for unit, parts in case.homes:
        path = unit_path(items, unit)
        head = f"[{title}] {' > '.join((display_path(case.outline.path), *path))}"
        above = items[unit.lead].parent
        scope = items[above].path if above is not None and items[above].is_symbol else ()
        for part in parts:
            first = part.embedding_text.split("\n", 1)[0]
            cut = first.endswith(" …") and head.startswith(first.removesuffix(" …"))
            if not cut and first != head and not part.embedding_text.startswith(head):
                yield part.start_line, f"breadcrumb {first!r} is not {head!r}"
            if path[: len(scope)] != scope or part.name != path[-1]:
                yield part.start_line, f"{part.qualified_name} is not under its parent"


def _determinism(case: _Case) -> _Found:
    first = case.chunks[0] if case.chunks else None
    if first is None:
        return
    place = FileOrigin(first.repo, first.file_path, first.relative_path)
    again = chunk_file(
        outline_again(case.outline.path, case.source), case.source, place, case.options
    )
    ids = {(chunk.depth, chunk.start_line): chunk.id for chunk in again}
    if len(ids) != sum(len(parts) for _, parts in case.homes) + len(case.homeless):
        yield 1, "two runs give different chunks"
    for chunk in case.chunks:
        if ids.get((chunk.depth, chunk.start_line), chunk.id) != chunk.id:
            yield chunk.start_line, f"{chunk.qualified_name} has another id in a second run"


def _root_items(case: _Case) -> _Found:
    items = case.outline.items
    for unit in case.homeless:
        yield unit.first_line, f"{items[unit.lead].name} has no chunk"
    for chunk in case.strays:
        yield (
            chunk.start_line,
            f"{chunk.qualified_name} is a chunk of nothing, or of the same again",
        )
    for unit, _ in case.homes:
        first, *others = sorted((items[index] for index in unit.members), key=_first_line)
        last = first.end_line
        for item in others:
            if item.first_line > last:
                yield item.start_line, f"{item.name} is grouped without sharing a line"
            last = max(last, item.end_line)


def _first_line(item: Item) -> int:
    return item.first_line


def _imports(case: _Case) -> _Found:
    """Between what the items certainly use and what their lines could mean."""
    bound: dict[str, set[str]] = {}
    for entry in case.outline.imports:
        for name in entry.names if entry.binds else ():
            if name.local != "*":
                bound.setdefault(name.local, set()).add(entry.text)
    certain: dict[int, set[str]] = {}
    possible: dict[int, set[str]] = {}
    for reference in case.outline.references:
        members_too = facets_of(case.outline.language).imports.used_as_members
        plain = reference.receiver is None or members_too
        if reference.name in bound and plain and not reference.local:
            possible.setdefault(reference.line, set()).update(bound[reference.name])
            at = reference.enclosing
            while at is not None:
                certain.setdefault(at, set()).update(bound[reference.name])
                at = case.outline.items[at].parent
    for unit, parts in case.homes:
        listed = set(parts[0].relevant_imports)
        needed = set().union(*(certain.get(index, ()) for index in unit.members))
        allowed = set().union(
            *(possible.get(line, ()) for line in range(unit.first_line, unit.end_line + 1))
        )
        if not needed <= listed:
            yield unit.first_line, f"{parts[0].qualified_name} misses an import it uses"
        if not listed <= allowed:
            yield unit.first_line, f"{parts[0].qualified_name} lists an import it does not use"


_CHECKS: dict[int, Callable[[_Case], _Found]] = {
    1: _coverage,
    2: _siblings,
    3: _fidelity,
    4: _links,
    5: _limit,
    6: _collapsed,
    7: _breadcrumb,
    8: _determinism,
    9: _root_items,
    10: _imports,
}
