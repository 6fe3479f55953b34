"""Items under construction, and the comments and decorators above a declaration."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from asterism.analysis.syntax.text import Conventions, attached_doc
from asterism.types.outline import Item, Span

if TYPE_CHECKING:
    from tree_sitter import Node


class Level(IntEnum):
    """Scope level of a variable: symbol of the module, member, or local."""

    MODULE = 0
    TYPE = 1
    FUNCTION = 2


class Comment(NamedTuple):
    """A comment alone on its line, waiting for the declaration below it."""

    start: int
    end: int
    start_row: int
    end_row: int


class Prefix(NamedTuple):
    """An attribute or decorator that stands before the declaration it belongs to."""

    node: Node
    depth: int
    decorators: tuple[str, ...]
    doc: str | None


class Wrapper(NamedTuple):
    """A node around a declaration that widens its range, as `export` or a decorator list does."""

    start: int
    end: int
    depth: int
    modifiers: tuple[str, ...]
    decorators: tuple[Node, ...]
    widens: bool


_NO_NAMES: set[str] = set()


class Draft:
    """One item in the making. Rows are 0-based here, as tree-sitter counts them."""

    __slots__ = (
        *("attributes", "body", "bound", "bound_from", "children", "decorators", "depth", "doc"),
        *("end", "end_row", "exported", "first_row", "index", "is_root", "jsx", "kind", "level"),
        *("modifiers", "name", "name_offset", "outer", "parent", "path", "section", "signature"),
        *("start", "start_row", "tags"),
    )

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind
        self.path: tuple[str, ...] = (name,)
        self.depth = 0
        self.index = 0
        self.parent: int | None = None
        self.children: list[int] = []
        self.start = self.end = self.name_offset = 0
        self.start_row = self.end_row = self.first_row = 0
        self.signature = ""
        self.modifiers: list[str] = []
        self.doc: str | None = None
        self.decorators: list[str] = []
        self.exported = False
        self.tags: list[str] = []
        self.attributes: Span | None = None
        """From the first attribute before the declaration to the declaration itself."""
        self.body: Span | None = None
        self.bound: set[str] | None = None
        self.bound_from = 0
        """Where the locals begin to count: in Python a default value is not inside its function."""
        self.outer: set[str] = _NO_NAMES
        """Names that are never locals here, whatever is assigned: `global x`."""
        self.level = Level.FUNCTION
        self.section = ""
        """The access label in force while a class is read: C++'s `private:`."""
        self.jsx = False
        self.is_root = False

    def bind(self, name: str) -> None:
        """Remember a parameter or local variable of this item."""
        if name in self.outer:
            return
        if self.bound is None:
            self.bound = set()
        self.bound.add(name)

    def freeze(self) -> Item:
        """The finished record."""
        body = self.body
        if body is not None and body.end > self.end:
            # The item was trimmed of trailing blanks, or its end came with damaged text.
            body = Span(min(body.start, self.end), self.end)
        # A tuple at once: the class's own constructor would cost as much again.
        fields = (
            self.name,
            self.kind,
            self.path,
            self.depth,
            self.parent,
            tuple(self.children),
            self.start_row + 1,
            self.end_row + 1,
            self.first_row + 1,
            self.signature,
            tuple(dict.fromkeys(self.modifiers)) if self.modifiers else (),
            self.doc,
            tuple(self.decorators),
            self.exported,
            tuple(self.tags),
            Span(self.start, self.end),
            body,
            self.name_offset,
        )
        return tuple.__new__(Item, fields)


class Frame:
    """An open item (or the file itself) whose children are being read."""

    __slots__ = ("depth", "draft", "index", "last_end", "level", "statements")

    def __init__(
        self, depth: int, index: int | None, draft: Draft | None, level: Level, statements: bool
    ) -> None:
        self.depth = depth
        self.index = index
        self.draft = draft
        self.level = level
        self.statements = statements
        """Whether direct children that are not symbols are root items."""
        self.last_end = 0
        """Where the last child ended, so that a comment inside it is not taken for the next one."""


_BLANK_BYTES = b" \t\n\r\f\v"
_NEWLINE = 0x0A


class Margin:
    """Comments and attributes that were read and wait for the declaration below them."""

    def __init__(self, source: bytes, conventions: Conventions) -> None:
        self._source = source
        self._conventions = conventions
        self.comments: list[Comment] = []
        self._prefixes: list[Prefix] = []
        self._asides: list[Span] = []
        """Comments behind attributes that wait: `#[test] // slow`."""

    def wait(self, prefix: Prefix) -> None:
        """Keep an attribute; those of another depth wait for nothing any more."""
        if self._prefixes and self._prefixes[-1].depth != prefix.depth:
            self._forget()
        self._prefixes.append(prefix)

    def aside(self, start: int, end: int) -> None:
        """Note a comment behind code, in case that code is an attribute."""
        if self._prefixes:
            self._asides.append(Span(start, end))

    def place(self, draft: Draft, node: Node, wrapper: Wrapper | None, depth: int) -> None:
        """Set where the item starts and ends, with its wrapper and its attributes."""
        source = self._source
        start, end = node.start_byte, node.end_byte
        start_row, end_row = node.start_point[0], node.end_point[0]
        outer = depth
        if wrapper is not None and wrapper.widens:
            outer = wrapper.depth
            if wrapper.start < start:
                start_row -= source.count(b"\n", wrapper.start, start)
                start = wrapper.start
            if wrapper.end > end:
                end_row += source.count(b"\n", end, wrapper.end)
                end = wrapper.end
        while end > start and source[end - 1] in _BLANK_BYTES:
            end -= 1
            end_row -= source[end] == _NEWLINE
        if self._prefixes:
            if outer <= self._prefixes[0].depth <= depth and self._adjoins(start):
                first = self._prefixes[0].node
                draft.attributes = Span(first.start_byte, start)
                start, start_row = first.start_byte, first.start_point[0]
                for prefix in self._prefixes:
                    draft.decorators.extend(prefix.decorators)
                    draft.doc = prefix.doc or draft.doc
            self._forget()
        draft.start_row, draft.end_row, draft.end = start_row, end_row, end
        draft.first_row, draft.start = start_row, start

    def attach(self, draft: Draft, floor: int) -> None:
        """Let the item reach up over the comments directly above, none of them before `floor`."""
        comments = self.comments
        inner = self._conventions.inner_doc_prefixes
        docs: list[str] = []
        gap = self._conventions.doc_gap
        while comments:
            comment = comments[-1]
            if comment.start > draft.start:
                # Written inside the declaration, or between it and its attributes.
                comments.pop()
                continue
            above = draft.first_row - 1 - comment.end_row
            if above > gap or comment.start < floor:
                break
            text = self._source[comment.start : comment.end].decode("utf-8", "replace")
            if inner and text.startswith(inner):
                break
            if above > 0 and not text.startswith(self._conventions.doc_prefixes):
                break
            gap = 0
            comments.pop()
            docs.append(text.rstrip())
            draft.first_row, draft.start = comment.start_row, comment.start
        if docs and draft.doc is None:
            draft.doc = attached_doc(docs[::-1], self._conventions)

    def _adjoins(self, start: int) -> bool:
        """Whether nothing but comments stands between the last attribute and `start`."""
        at = self._prefixes[-1].node.end_byte
        between = self._source[at:start]
        if not between.strip():
            return True
        for begin, end, *_ in (*self.comments, *self._asides):
            if at <= begin and end <= start:
                blank = b" " * (end - begin)
                between = between[: begin - at] + blank + between[end - at :]
        return not between.strip()

    def _forget(self) -> None:
        self._prefixes.clear()
        self._asides.clear()
