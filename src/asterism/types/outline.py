"""What one file says: its symbols, root items, imports, exports, references and problems."""

from collections.abc import Iterator
from typing import NamedTuple

# Kinds of root items: top-level statements that are not symbols. Every other kind is a symbol's.
ROOT_KINDS = frozenset(
    {
        "import",
        "re-export",
        "export",
        "expression",
        "control",
        "comment",
        "docstring",
        "package",
        "directive",
        "text",
    }
)


class Span(NamedTuple):
    """A half-open range of bytes in the decoded text."""

    start: int
    end: int


class Item(NamedTuple):
    """A symbol or a root item, with every fact its own syntax states.

    Items refer to each other by their index in `Outline.items`. Offsets are byte offsets into the
    decoded text; lines are 1-based and inclusive.
    """

    name: str
    kind: str
    path: tuple[str, ...]
    """The names from the file's root down to this one; `Server.Start` for a Go method."""
    depth: int
    parent: int | None
    children: tuple[int, ...]
    start_line: int
    end_line: int
    first_line: int
    """`start_line`, or the line where the comment directly above begins."""
    signature: str
    modifiers: tuple[str, ...]
    doc: str | None
    decorators: tuple[str, ...]
    exported: bool
    tags: tuple[str, ...]
    """Derived marks that are not a kind, such as `component`."""
    span: Span
    """From the first byte of the attached comment to the last byte of the declaration."""
    body: Span | None
    """What a parent's chunk leaves out; None where there is nothing to leave out."""
    name_offset: int

    @property
    def is_symbol(self) -> bool:
        """Whether this is something named rather than a bare statement."""
        return self.kind not in ROOT_KINDS

    @property
    def qualified_name(self) -> str:
        """The path joined by dots, as `TokenService.validateToken`."""
        return ".".join(self.path)


class ImportedName(NamedTuple):
    """One name an import brings in: `default`, `*` for a whole module, or the exported name."""

    name: str
    alias: str | None = None

    @property
    def local(self) -> str:
        """The name the importing file uses."""
        return self.alias or self.name


class Import(NamedTuple):
    """One import, as written; a re-export is one too."""

    module: str
    names: tuple[ImportedName, ...]
    start_line: int
    end_line: int
    text: str
    enclosing: int | None
    type_only: bool = False
    side_effect: bool = False
    dynamic: bool = False
    reexport: bool = False
    binds: bool = True
    """Whether the names can be used in this file; those of `export { x } from` cannot."""


class Export(NamedTuple):
    """One name the file offers, under which local name, and from which module if not its own."""

    name: str
    local: str
    line: int
    module: str | None = None
    type_only: bool = False


class Reference(NamedTuple):
    """One use of a name, where, by whom, and on what (`a.b()` keeps `a` as the receiver of `b`)."""

    name: str
    line: int
    column: int
    """0-based, in bytes of the decoded line."""
    receiver: str | None
    enclosing: int | None
    local: bool
    """Bound by a parameter or variable of an enclosing function, so it cannot be an import."""


class Problem(NamedTuple):
    """A place where the source is not valid in its language."""

    line: int
    column: int
    message: str


class Outline(NamedTuple):
    """Everything one file says, read from its bytes and nothing else."""

    path: str
    language: str
    items: tuple[Item, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: tuple[Export, ...] = ()
    references: tuple[Reference, ...] = ()
    problems: tuple[Problem, ...] = ()

    def symbols(self) -> Iterator[tuple[int, Item]]:
        """Every symbol with its index, in source order, parents before their children."""
        return ((index, item) for index, item in enumerate(self.items) if item.is_symbol)

    def root_items(self) -> Iterator[tuple[int, Item]]:
        """Every top-level statement that is not a symbol, with its index, in source order."""
        found = [(index, item) for index, item in enumerate(self.items) if not item.is_symbol]
        return iter(sorted(found, key=lambda entry: entry[1].span))

    def parent_of(self, item: Item) -> str | None:
        """The qualified name this item belongs to: its enclosing symbol, or its receiver type."""
        return ".".join(item.path[:-1]) or None
