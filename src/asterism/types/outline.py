"""What one file says: its symbols, root items, imports, exports, references and problems."""

from collections.abc import Iterable, Iterator
from posixpath import basename
from typing import NamedTuple

from asterism.languages.registry import facets_of
from asterism.types.index import Signatures

EVERYTHING = "*"
DEFAULT = "default"
# A script may be one thing as a whole: `module.exports = f`, `export = f`.
WHOLE = "="


class Declared(NamedTuple):
    """The facts that decide what a file offers, in the order of the source."""

    definitions: Iterable[tuple[str, str]]
    """Name and signature of each top-level symbol."""
    exports: Iterable[tuple[str, str, str | None]]
    """Exported name, local name, and the module that it comes from if it is only passed on."""
    imports: Iterable[tuple[str, str, str]]
    """Local name, module, and the name there; `*` for the module itself."""


def offered(path: str, language: str, declared: Declared) -> Signatures:
    """Signatures by exported name, and the names that are only passed on.

    Of several definitions with one name the first counts. A module that is one thing as a whole
    offers it under `*` and as its default.
    """
    known: dict[str, str] = {}
    for name, signature in declared.definitions:
        known.setdefault(name, signature)
    again = passes_imports_on(path, language)
    imported: dict[str, tuple[str, str]] = {}
    all_of: dict[str, None] = {}
    for local, module, name in declared.imports:
        if local != EVERYTHING:
            imported.setdefault(local, (module, name))
        elif again:
            all_of[module] = None
    own = {} if facets_of(language).imports.only_exports else known
    passed_on = dict(imported) if again else {}
    for name, local, origin in declared.exports:
        if origin is not None and local == EVERYTHING and name in (EVERYTHING, WHOLE):
            all_of[origin] = None
        for exported in _names(name):
            if origin is not None:
                passed_on[exported] = (origin, local)
            elif local in known:
                own.setdefault(exported, known[local])
            elif local in imported:
                passed_on[exported] = imported[local]
    for name in own:
        passed_on.pop(name, None)
    return Signatures(own, passed_on, tuple(all_of))


def passes_imports_on(path: str, language: str) -> bool:
    """Whether a file's imports are there to be imported again, by convention."""
    prefix = facets_of(language).imports.passing_files
    return bool(prefix) and basename(path).startswith(prefix)


def _names(name: str) -> tuple[str, ...]:
    """Under which names importers ask for an export; `export *` has none of its own."""
    if name == WHOLE:
        return (EVERYTHING, DEFAULT)
    return () if name == EVERYTHING else (name,)


# Kinds of root items: top-level statements that are not symbols. Every other kind is a symbol's.
ROOT_KINDS = frozenset(
    {
        *("import", "re-export", "export", "expression", "control", "comment", "docstring"),
        *("package", "directive", "text", "cell"),
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
