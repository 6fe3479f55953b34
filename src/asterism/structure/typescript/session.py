"""One conversation with the TypeScript compiler: its projects, its trees and its symbols."""

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, NamedTuple

from asterism.lsp.connection import ServerConnection
from asterism.structure.positions import is_returned
from asterism.structure.repository import OutlinedFile, OutlineOf
from asterism.structure.typescript.tree import LAST_TOKEN, NAME_KINDS, SyntaxKind, Tree
from asterism.types.errors import ServerGarbled, ServerRefused
from asterism.types.outline import Item

# A declaration whose name is not its first name-like child.
_NAME_IS_LAST = frozenset(
    {SyntaxKind.binding_element, SyntaxKind.import_specifier, SyntaxKind.export_specifier}
)


class SourceFile(OutlinedFile):
    """A tree, the outline of its text, and the ways between them."""

    def __init__(self, tree: Tree, root: str, outline_of: OutlineOf) -> None:
        super().__init__(tree.path.removeprefix(root + "/"), tree.source, outline_of)
        self.tree = tree

    def around(self, node: int) -> int | None:
        """The symbol of the outline that a node belongs to; None at the top.

        The contents of a function without a name belong to the named symbol around it, and to the
        function itself without one, as in a test.
        """
        innermost = self._enclosing.at(self.tree.source.to_bytes(self.tree.start(node)))
        index = innermost
        while index is not None and _is_nameless(self.item(index)):
            index = self.item(index).parent
        # A test's callback is in a statement, which is no symbol.
        return index if index is not None and self.item(index).is_symbol else innermost

    def belongs(self, node: int, owners: AbstractSet[int]) -> bool:
        """Whether a node is inside one of some symbols, with no other named one between.

        A function that another one returns belongs to that one too.
        """
        index = self._enclosing.at(self.tree.source.to_bytes(self.tree.start(node)))
        while index is not None and index not in owners and self._is_part(index):
            index = self.item(index).parent
        return index in owners

    def _is_part(self, index: int) -> bool:
        item = self.item(index)
        around = None if item.parent is None else self.item(item.parent)
        if _is_nameless(item) or around is None:
            return _is_nameless(item)
        return is_returned(self.source.decoded, around, item)

    def named(self, declaration: int) -> int | None:
        """The symbol of the outline that a declaration of the tree is, if it is one."""
        name = self.name_of(declaration)
        start = self.tree.start(declaration if name is None else name)
        return self._named.get(self.tree.source.to_bytes(start))

    def taken_apart(self, binding: int) -> tuple[list[int], set[int]]:
        """The declaration of `const { a, b } = …` by one of its names, and the symbols it has."""
        tree = self.tree
        whole = next(
            (n for n in tree.ancestors(binding) if tree.kind(n) == SyntaxKind.variable_declaration),
            binding,
        )
        names = (n for n in tree.below(whole) if tree.kind(n) == SyntaxKind.binding_element)
        return [whole], {index for n in names if (index := self.named(n)) is not None}

    def name_of(self, declaration: int) -> int | None:
        """The node of a declaration's name; None for a constructor or a nameless function."""
        tree = self.tree
        if tree.kind(declaration) in NAME_KINDS:
            return declaration
        if tree.kind(declaration) in (SyntaxKind.property_access, SyntaxKind.element_access):
            return tree.last_child(declaration)
        if tree.kind(declaration) == SyntaxKind.binary:
            left = tree.first_child(declaration)
            return self.name_of(tree.unwrapped(left)) if left is not None else None
        if tree.kind(declaration) == SyntaxKind.constructor:
            return None
        names = [child for child in tree.children(declaration) if tree.kind(child) in NAME_KINDS]
        if tree.kind(declaration) == SyntaxKind.binding_element:
            names = names[:2]
        if not names:
            return None
        return names[-1] if tree.kind(declaration) in _NAME_IS_LAST else names[0]

    def node_of(self, item: Item) -> int:
        """The tree's node at an item's name; without one `default`, or else the declaration."""
        tree = self.tree
        node = tree.at(tree.source.to_units(item.name_offset))
        if tree.kind(node) in NAME_KINDS or tree.kind(node) > LAST_TOKEN:
            return node
        beside = tree.children(tree.parent(node))
        return next((n for n in beside if tree.kind(n) == SyntaxKind.default_keyword), node)

    def declaration_of(self, node: int) -> int:
        """The declaration that a node of `node_of` belongs to."""
        tree = self.tree
        if tree.kind(node) not in NAME_KINDS:
            # A nameless declaration begins with a modifier, which is a node too.
            return node if tree.kind(node) > LAST_TOKEN else tree.parent(node)
        above = tree.parent(node)
        # `exports.name = …`, `Type.prototype.name = …`: the assignment declares.
        while tree.kind(above) in (SyntaxKind.property_access, SyntaxKind.element_access):
            above = tree.parent(above)
        return above


def _is_nameless(item: Item) -> bool:
    """Whether an item is a function that our outline named after the call it is passed to."""
    return item.kind == "function" and item.name.endswith(" callback")


# Nodes of all trees that are kept: some 28 bytes here and as much again for text and outline, so
# about 100 MB at most.
KEPT_NODES = 1_500_000

# Bits of the compiler's symbol flags.
_ALIAS = 1 << 21
ACCESSOR = (1 << 15) | (1 << 16)
TYPE_PARAMETER = 1 << 18
MODULE = (1 << 9) | (1 << 10)

_KEY = re.compile(rb"""\[['"]([^'"\]\n]+)['"]\]""")


class CompilerSymbol(NamedTuple):
    """A symbol as the compiler describes it; its number holds for one snapshot."""

    id: int
    name: str
    flags: int
    declarations: tuple[str, ...]
    """Handles of nodes, the one that has a value first."""
    parent: int | None


class CompilerSession:
    """The compiler with one or more projects open. Not for several threads at once."""

    def __init__(
        self,
        connection: ServerConnection,
        root: str,
        library: str,
        *,
        seconds: float,
        outline_of: OutlineOf,
    ) -> None:
        """Begin. `library` is the directory of the compiler's own declarations.

        `seconds` is the deadline of each request but the one that loads the projects.
        """
        self.connection = connection
        self.root = root
        self.library = library
        self._seconds = seconds
        self._outline_of = outline_of
        self._snapshot: int | None = None
        self._configs: tuple[str, ...] = ()
        self._names: dict[str, str] = {}
        self._files: OrderedDict[str, SourceFile] = OrderedDict()
        self._nodes = 0
        self._texts: dict[str, bytes] = {}
        self._keys: dict[str, frozenset[bytes]] = {}
        self._aliased: dict[tuple[str, int], CompilerSymbol | None] = {}
        self._unknown: dict[str, int] = {}
        connection.request("initialize", None, seconds=seconds)

    @property
    def projects(self) -> tuple[str, ...]:
        """The open projects, as the compiler calls them, in the order of their configurations."""
        return tuple(self._names.get(config, config) for config in self._configs)

    def open(self, configs: Sequence[str], *, seconds: float) -> None:
        """Have the projects of these configurations open and no others."""
        fresh = [path for path in configs if path not in self._configs]
        closed = [path for path in self._configs if path not in configs]
        if fresh or closed:
            self._update({"openProjects": fresh, "closeProjects": closed}, seconds)
        self._configs = tuple(configs)

    def files_changed(self, changes: Mapping[str, Sequence[str]], *, seconds: float) -> None:
        """Take note of files that are `changed`, `created` or `deleted`, by absolute path."""
        self._update(
            {"fileChanges": {kind: list(paths) for kind, paths in changes.items()}}, seconds
        )

    def _update(self, params: Mapping[str, Any], seconds: float) -> None:
        answer = self.connection.request("updateSnapshot", params, seconds=seconds)
        before, self._snapshot = self._snapshot, answer["snapshot"]
        self._names = {found["configFileName"]: found["id"] for found in answer["projects"]}
        # Numbers of symbols hold for one snapshot. Trees hold as long as their file does.
        self._aliased.clear()
        self._unknown.clear()
        changes = params.get("fileChanges", {})
        for kind in ("changed", "deleted", "created"):
            for path in changes.get(kind, ()):
                self._forget(path)
        if before is not None:
            self.connection.request("release", {"snapshot": before}, seconds=seconds)

    def ask(self, project: str, method: str, **params: Any) -> Any:
        """The compiler's answer to a question about a project."""
        scope = {"snapshot": self._snapshot, "project": project}
        return self.connection.request(method, {**scope, **params}, seconds=self._seconds)

    def file(self, project: str, path: str) -> SourceFile | None:
        """A file by its absolute path; None where the project does not have it."""
        known = self._files.get(path)
        if known is not None:
            self._files.move_to_end(path)
            return known
        try:
            answer = self.ask(project, "getSourceFile", file=path)
        except ServerRefused:
            return None
        if not answer:
            return None
        file = SourceFile(Tree(path, answer["data"]), self.root, self._outline_of)
        self._files[path] = file
        self._nodes += file.tree.count
        while self._nodes > KEPT_NODES and len(self._files) > 1:
            self._drop_tree(next(iter(self._files)))
        return file

    def mentions(self, path: str, names: Iterable[str]) -> bool:
        """Whether a file has one of some names anywhere in its text."""
        if path not in self._texts:
            self._texts[path] = _text(path)
        text = self._texts[path]
        return any(name.encode("utf-8", "replace") in text for name in names)

    def has_key(self, path: str, name: str) -> bool:
        """Whether a file has `["name"]` in its text."""
        if path not in self._keys:
            text = self._texts.get(path) or _text(path)
            self._keys[path] = frozenset(found[1] for found in _KEY.finditer(text))
        return name.encode("utf-8", "replace") in self._keys[path]

    def _forget(self, path: str) -> None:
        self._texts.pop(path, None)
        self._keys.pop(path, None)
        self._drop_tree(path)

    def _drop_tree(self, path: str) -> None:
        file = self._files.pop(path, None)
        if file is not None:
            self._nodes -= file.tree.count

    def symbols(self, project: str, handles: Sequence[str]) -> list[CompilerSymbol | None]:
        """The symbols that nodes name, through imports and re-exports to what they mean."""
        if not handles:
            return []
        answer = self.ask(project, "getSymbolsAtLocations", locations=list(handles))
        if not isinstance(answer, list) or len(answer) != len(handles):
            raise ServerGarbled("the compiler answered for another number of names")
        return [self._meant(project, to_symbol(found)) for found in answer]

    def _meant(self, project: str, symbol: CompilerSymbol | None) -> CompilerSymbol | None:
        if symbol is None or not symbol.flags & _ALIAS:
            return symbol
        key = (project, symbol.id)
        if key not in self._aliased:
            meant = to_symbol(self.ask(project, "getAliasedSymbol", symbol=symbol.id))
            is_known = meant is not None and meant.id != self._unknown_symbol(project)
            # What no file declares stays the import it is: that still names its module.
            self._aliased[key] = meant if is_known else symbol
        return self._aliased[key]

    def _unknown_symbol(self, project: str) -> int:
        if project not in self._unknown:
            self._unknown[project] = self.ask(project, "getWellKnownSymbols")["unknown"]
        return self._unknown[project]

    def parent(self, project: str, symbol: CompilerSymbol) -> CompilerSymbol | None:
        """The symbol around a symbol: a class, a namespace, a module."""
        if symbol.parent is None:
            return None
        return to_symbol(self.ask(project, "getParentOfSymbol", objectId=symbol.id))


def _text(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def is_unresolved(symbol: CompilerSymbol) -> bool:
    """Whether this is an import of something that no file declares."""
    return bool(symbol.flags & _ALIAS)


def to_symbol(found: Any) -> CompilerSymbol | None:
    """A symbol from the compiler's answer."""
    if not found:
        return None
    declarations = list(found.get("declarations") or ())
    value = found.get("valueDeclaration")
    if value in declarations:
        declarations.remove(value)
        declarations.insert(0, value)
    name = found["name"]
    # The compiler puts a third underscore before names that begin with two.
    shown = name[1:] if name.startswith("___") else name
    return CompilerSymbol(
        found["id"], shown, found["flags"], tuple(declarations), found.get("parent") or None
    )
