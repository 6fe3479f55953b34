"""An outline made of stretches of text, for languages that are read without a grammar."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from asterism.analysis.syntax.draft import Comment
from asterism.analysis.syntax.outlines import fill_gaps
from asterism.analysis.syntax.text import Conventions, attached_doc, fold, label, proper_name
from asterism.types.outline import Export, Import, Item, Outline, Problem, Reference, Span


@dataclass(slots=True)
class Stretch:
    """One item in the making, by byte offsets."""

    kind: str
    name: str
    span: Span
    parent: int | None = None
    name_offset: int | None = None
    """Where the name is; the beginning of the item if not given."""
    body: Span | None = None
    signature: str = ""
    """The text up to the body if not given."""
    doc: str | None = None
    """The comment above if not given."""
    owner: Sequence[str] = ()
    """Names between the parent and this one."""
    modifiers: tuple[str, ...] = ()
    exported: bool = True
    is_root: bool = False
    declared: int | None = None
    """Where the declaration begins behind a description; the beginning of the span if not given."""


class SpanOutline:
    """Collects what a reader finds; items in the order of the source, parents first."""

    def __init__(self, source: bytes, conventions: Conventions, comments: Iterable[Span]) -> None:
        """`comments` are all comments in source order; those above an item belong to it."""
        self.source = source
        self._conventions = conventions
        self._starts = [0]
        at = source.find(b"\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = source.find(b"\n", at + 1)
        # A comment behind code belongs to that code.
        self._comments = [span for span in comments if self._is_alone(span)]
        self._comment_ends = {
            self.row(max(span.end - 1, span.start)): span for span in self._comments
        }
        self._items: list[Item] = []
        self._children: dict[int, list[int]] = {}
        self._ends: dict[int | None, int] = {}
        self._defined: set[int] = set()
        self._imports: list[Import] = []
        self._exports: list[Export] = []
        self._mentions: dict[int, tuple[str, str | None, int | None, bool]] = {}
        self._problems: list[Problem] = []

    def text(self, span: Span) -> str:
        """The source text of a span."""
        return self.source[span.start : span.end].decode("utf-8", "replace")

    def row(self, offset: int) -> int:
        """The 0-based row of an offset."""
        return bisect_right(self._starts, offset) - 1

    def define(self, made: Stretch) -> int:
        """Add an item; returns its number."""
        number = len(self._items)
        parent = None if made.parent is None else self._items[made.parent]
        if made.parent is not None:
            self._children.setdefault(made.parent, []).append(number)
        start, end = made.span.start, self._end(made.span)
        floor = max(self._ends.get(made.parent, 0), parent.name_offset if parent else 0)
        first, docs = (start, []) if made.is_root else self._above(start, floor)
        self._ends[made.parent] = end
        if made.name_offset is not None:
            self._defined.add(made.name_offset)
        name = proper_name(made.name)
        scope = () if parent is None or not parent.is_symbol else parent.path
        head = Span(start, min(made.body.start, end) if made.body else end)
        body = made.body
        if body is not None:
            body = Span(min(body.start, end), min(max(body.end, body.start), end))
        self._items.append(
            Item(
                name=name,
                kind=made.kind,
                path=(*scope, *map(proper_name, made.owner), name),
                depth=0 if parent is None else parent.depth + 1,
                parent=made.parent,
                children=(),
                start_line=self.row(start if made.declared is None else made.declared) + 1,
                end_line=self.row(max(end - 1, start)) + 1,
                first_line=self.row(first) + 1,
                signature=fold(made.signature or self.text(head).rstrip("{([=;, \t\n")) or name,
                modifiers=made.modifiers,
                doc=made.doc or attached_doc(docs, self._conventions),
                decorators=(),
                exported=made.exported and not made.is_root,
                tags=(),
                span=Span(first, end),
                body=body,
                name_offset=start if made.name_offset is None else made.name_offset,
            )
        )
        return number

    def root(self, kind: str, span: Span, name: str = "") -> int:
        """Add a statement that is no symbol; statements that share a line with another join it."""
        return self.define(Stretch(kind, name or label(self.text(span)), span, is_root=True))

    def mention(
        self,
        name: str,
        offset: int,
        receiver: str | None = None,
        within: int | None = None,
        local: bool = False,
    ) -> None:
        """Record a use of a name, unless it is the name of an item itself."""
        if name and offset not in self._defined:
            self._mentions.setdefault(offset, (name, receiver, within, local))

    def problem(self, offset: int, message: str) -> None:
        """Record a place that is not valid."""
        row = self.row(min(offset, max(len(self.source) - 1, 0)))
        self._problems.append(Problem(row + 1, max(offset - self._starts[row], 0), message))

    def add_import(self, entry: Import) -> None:
        """Record an import."""
        self._imports.append(entry)

    def outline(self, path: str, language: str, gap_kind: str = "text") -> Outline:
        """Everything that was recorded; lines in no item are root items."""
        items = tuple(
            item._replace(children=tuple(self._children.get(number, ())))
            for number, item in enumerate(self._items)
        )
        references = []
        for offset in sorted(self._mentions):
            name, receiver, within, local = self._mentions[offset]
            row = self.row(offset)
            column = offset - self._starts[row]
            references.append(Reference(name, row + 1, column, receiver, within, local))
        return Outline(
            path,
            language,
            fill_gaps(self.source, items, self._rows(), gap_kind),
            tuple(self._imports),
            tuple(self._exports),
            tuple(references),
            tuple(self._problems),
        )

    def _rows(self) -> list[Comment]:
        return [
            Comment(start, end, self.row(start), self.row(max(end - 1, start)))
            for start, end in self._comments
        ]

    def _above(self, start: int, floor: int) -> tuple[int, list[str]]:
        """Where the comments directly above an item begin, and their texts."""
        row = self.row(start)
        if self.source[self._starts[row] : start].strip():
            return start, []
        first, docs = start, []
        while (comment := self._comment_ends.get(row - 1)) and comment.start >= floor:
            first = comment.start
            row = self.row(first)
            docs.append(self.text(comment).rstrip())
        return first, docs[::-1]

    def _is_alone(self, span: Span) -> bool:
        line = self._starts[self.row(span.start)]
        return not self.source[line : span.start].strip()

    def _end(self, span: Span) -> int:
        text = self.source[span.start : span.end]
        return span.start + max(len(text.rstrip()), min(1, len(text)))
