"""Items while they are being read: open for change, frozen into records at the end."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from asterism.types.outline import Item, Span

if TYPE_CHECKING:
    from tree_sitter import Node


class Level(IntEnum):
    """What a plain variable means where it stands: a symbol, a member, or nobody's business."""

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
        "attributes",
        "body",
        "bound",
        "bound_from",
        "children",
        "decorators",
        "depth",
        "doc",
        "end",
        "end_row",
        "exported",
        "first_row",
        "index",
        "is_root",
        "jsx",
        "kind",
        "level",
        "modifiers",
        "name",
        "name_offset",
        "outer",
        "parent",
        "path",
        "section",
        "signature",
        "start",
        "start_row",
        "tags",
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
