"""Files of several parts, each read by a dialect of its own, put together as one outline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from asterism.analysis.syntax.language import DialectEntry, detect, entry_of, has_grammar
from asterism.analysis.syntax.outlines import fill_gaps, outline_as
from asterism.languages.registry import code_of
from asterism.types.outline import (
    DEFAULT,
    ROOT_KINDS,
    Export,
    Import,
    Item,
    Outline,
    Problem,
    Reference,
    Span,
)


class Mention(NamedTuple):
    """A name that a part uses, found without a grammar."""

    name: str
    offset: int
    receiver: str | None = None
    local: bool = False


class Whole(NamedTuple):
    """An item that is a whole part: a cell of a notebook, the markup of a component."""

    kind: str
    name: str
    signature: str = ""
    doc: str | None = None
    tags: tuple[str, ...] = ()
    is_default: bool = False
    """Whether the item is the file's default export, whatever else a script gives for it."""
    declared: int | None = None
    """Where the item begins behind the comment above it."""


class Part(NamedTuple):
    """A stretch of a file."""

    span: Span
    """What is read: the text between the tags of a script, the lines of a cell."""
    key: str = ""
    """The dialect that reads it; empty for a text that no dialect reads."""
    whole: Whole | None = None
    """The item that the part is. Declarations inside belong to it by position, not by name, and
    statements are not items of their own. Without it they are the file's own."""
    outer: Span | None = None
    """The lines of that item, where they are more than what is read."""
    exports: bool = True
    """Whether what the part exports can be imported from the file."""
    is_public: bool = True
    """Whether what the part declares can be used from outside the file at all."""
    mentions: Sequence[Mention] = ()
    masked: Callable[[bytes], bytes] | None = None
    """Blanks what the dialect cannot read, byte for byte."""
    sign: str = ""
    """May precede a name of the file where it is used, as in Svelte's `$store`."""
    problem: str = ""
    """What is not valid about the part as a whole."""

    def text(self, source: bytes) -> bytes:
        """What the dialect reads."""
        text = source[self.span.start : self.span.end]
        return self.masked(text) if self.masked else text


def parts_of(path: str, entry: DialectEntry, source: bytes) -> list[Part]:
    """The parts of a file, in source order."""
    found: list[Part] = code_of(entry.parts)(path, source)
    return found


def outline_parts(path: str, entry: DialectEntry, source: bytes) -> Outline:
    """The outline of a file of several parts; lines in no part are root items."""
    made = _Assembly(path, source)
    for part in parts_of(path, entry, source):
        made.add(part)
    return made.outline(entry.language)


def entry_for(name: str) -> DialectEntry | None:
    """The dialect of an extension or key such as `ts`, `python`; None for one without a grammar."""
    entry = detect(f"x.{name}")
    if not has_grammar(entry):
        try:
            entry = entry_of(name)
        except KeyError:
            return None
    return entry if has_grammar(entry) else None


class _Assembly:
    """The records of all parts so far, their places counted in the whole file."""

    def __init__(self, path: str, source: bytes) -> None:
        self._path = path
        self._source = source
        self._items: list[Item] = []
        self._imports: list[Import] = []
        self._exports: list[Export] = []
        self._references: list[Reference] = []
        self._problems: list[Problem] = []
        self._default: Export | None = None
        self._sign = ""
        self._counted = (0, 0)

    def add(self, part: Part) -> None:
        """Add one part; a part of blanks says nothing."""
        start, end = part.outer or part.span
        if not self._source[start:end].strip():
            return
        if part.problem:
            self._problems.append(
                Problem(*self._place((part.outer or part.span).start), part.problem)
            )
        if part.sign:
            self._sign = part.sign
        whole = None
        if part.whole is not None:
            whole = len(self._items)
            self._items.append(self._whole_item(part, part.whole))
            if part.whole.is_default:
                line = self._items[whole].start_line
                self._default = Export(DEFAULT, part.whole.name, line)
        if part.key:
            self._read(part, whole)
        for mention in part.mentions:
            line, column = self._place(mention.offset)
            self._references.append(
                Reference(mention.name, line, column, mention.receiver, whole, mention.local)
            )

    def outline(self, language: str) -> Outline:
        """All parts, and the lines between them."""
        items = fill_gaps(self._source, tuple(self._items), (), "text")
        exports = self._exports
        if self._default is not None:
            exports = [self._default, *(one for one in exports if one.name != DEFAULT)]
        references = sorted(self._plain_references(), key=lambda one: (one.line, one.column))
        return Outline(
            self._path,
            language,
            items,
            tuple(self._imports),
            tuple(sorted(exports, key=lambda export: export.line)),
            tuple(references),
            tuple(self._problems),
        )

    def _plain_references(self) -> Iterator[Reference]:
        """The references; a name with a sign before it is that of the file, where it has one."""
        known = {item.name for item in self._items if item.is_symbol}
        known.update(name.local for entry in self._imports for name in entry.names)
        for one in self._references:
            bare = one.name.removeprefix(self._sign)
            if bare != one.name and bare in known and one.name not in known:
                one = one._replace(name=bare, column=one.column + len(self._sign))
            first, dot, rest = (one.receiver or "").removeprefix(self._sign).partition(".")
            if first in known and one.receiver not in known:
                one = one._replace(receiver=f"{first}{dot}{rest}")
            yield one

    def _whole_item(self, part: Part, whole: Whole) -> Item:
        span = _trimmed(self._source, part.outer or part.span)
        first, _ = self._place(span.start)
        declared = span.start if whole.declared is None else max(whole.declared, span.start)
        start, _ = self._place(declared)
        last, _ = self._place(max(span.end - 1, span.start))
        return Item(
            name=whole.name,
            kind=whole.kind,
            path=(whole.name,),
            depth=0,
            parent=None,
            children=(),
            start_line=start,
            end_line=last,
            first_line=first,
            signature=whole.signature or whole.name,
            modifiers=(),
            doc=whole.doc,
            decorators=(),
            exported=whole.is_default,
            tags=whole.tags,
            span=span,
            body=None if whole.kind in ROOT_KINDS else _within(part.span, declared, span.end),
            name_offset=declared,
        )

    def _read(self, part: Part, whole: int | None) -> None:
        inner = outline_as(self._path, entry_of(part.key), part.text(self._source))
        line, column = self._place(part.span.start)
        numbers = self._take_items(part, inner, whole, line - 1)

        def enclosing(index: int | None) -> int | None:
            return whole if index is None else numbers[index]

        for entry in inner.imports:
            self._imports.append(
                entry._replace(
                    start_line=entry.start_line + line - 1,
                    end_line=entry.end_line + line - 1,
                    enclosing=enclosing(entry.enclosing),
                )
            )
        if part.exports:
            moved = (export._replace(line=export.line + line - 1) for export in inner.exports)
            self._exports.extend(moved)
        for reference in inner.references:
            self._references.append(
                reference._replace(
                    line=reference.line + line - 1,
                    column=reference.column + (column if reference.line == 1 else 0),
                    enclosing=enclosing(reference.enclosing),
                )
            )
        for problem in inner.problems:
            across = problem.column + (column if problem.line == 1 else 0)
            self._problems.append(Problem(problem.line + line - 1, across, problem.message))

    def _take_items(
        self, part: Part, inner: Outline, whole: int | None, lines: int
    ) -> dict[int, int]:
        """Add a part's items; returns their new numbers. Statements of a whole part become it."""
        numbers: dict[int, int] = {}
        kept: list[Item] = []
        for index, item in enumerate(inner.items):
            if whole is not None and not item.is_symbol:
                numbers[index] = whole
            else:
                numbers[index] = len(self._items) + len(kept)
                kept.append(item)
        parents = [whole if item.parent is None else numbers[item.parent] for item in kept]
        children: dict[int, list[int]] = {}
        depths: dict[int, int] = {}
        for number, parent in enumerate(parents, len(self._items)):
            if parent is not None:
                children.setdefault(parent, []).append(number)
                depths[number] = depths.get(parent, 0) + 1
        base = part.span.start
        for item, parent in zip(kept, parents, strict=True):
            number = len(self._items)
            self._items.append(
                item._replace(
                    parent=parent,
                    depth=depths.get(number, 0),
                    children=tuple(children.get(number, ())),
                    start_line=item.start_line + lines,
                    end_line=item.end_line + lines,
                    first_line=item.first_line + lines,
                    exported=item.exported and part.is_public,
                    span=_moved(item.span, base),
                    body=None if item.body is None else _moved(item.body, base),
                    name_offset=item.name_offset + base,
                )
            )
        if whole is not None:
            below = tuple(children.get(whole, ()))
            self._items[whole] = self._items[whole]._replace(children=below)
        return numbers

    def _place(self, offset: int) -> tuple[int, int]:
        """The 1-based line and 0-based column of an offset."""
        at, line = self._counted
        if offset < at:
            at, line = 0, 0
        line += self._source.count(b"\n", at, offset)
        self._counted = (offset, line)
        return line + 1, offset - (self._source.rfind(b"\n", 0, offset) + 1)


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)


def _within(span: Span, start: int, end: int) -> Span:
    first = min(max(span.start, start), end)
    return Span(first, min(max(span.end, first), end))


def _trimmed(source: bytes, span: Span) -> Span:
    """The span without blanks at both ends."""
    text = source[span.start : span.end]
    start = span.start + len(text) - len(text.lstrip())
    return Span(start, max(start, span.start + len(text.rstrip())))
