"""One file seen by both: the compiler's tree and our outline of the very same text."""

from collections.abc import Set as AbstractSet

from asterism.structure.kept_outlines import OutlinedFile, OutlineOf
from asterism.structure.typescript.tree import LAST_TOKEN, NAME_KINDS, Kind, Tree
from asterism.types.outline import Item

# A declaration whose name is not its first name-like child.
_NAME_IS_LAST = frozenset({Kind.binding_element, Kind.import_specifier, Kind.export_specifier})


class SourceFile(OutlinedFile):
    """A tree, the outline of its text, and the ways between them."""

    def __init__(self, tree: Tree, root: str, outline_of: OutlineOf) -> None:
        super().__init__(tree.path.removeprefix(root + "/"), tree.source, outline_of)
        self.tree = tree

    def around(self, node: int) -> int | None:
        """The symbol of the outline that a node belongs to; None at the top.

        What stands in a function without a name belongs to the symbol with a name around it, and
        to the function itself where there is none, as in a test.
        """
        innermost = self._enclosing.at(self.tree.source.to_bytes(self.tree.start(node)))
        index = innermost
        while index is not None and _is_nameless(self.item(index)):
            index = self.item(index).parent
        # A test's callback stands in a statement, which is no symbol.
        return index if index is not None and self.item(index).is_symbol else innermost

    def belongs(self, node: int, owners: AbstractSet[int]) -> bool:
        """Whether a node stands in one of some symbols, with no other named one between."""
        index = self._enclosing.at(self.tree.source.to_bytes(self.tree.start(node)))
        while index is not None and index not in owners and _is_nameless(self.item(index)):
            index = self.item(index).parent
        return index in owners

    def named(self, declaration: int) -> int | None:
        """The symbol of the outline that a declaration of the tree is, if it is one."""
        name = self.name_of(declaration)
        start = self.tree.start(declaration if name is None else name)
        return self._named.get(self.tree.source.to_bytes(start))

    def taken_apart(self, binding: int) -> tuple[list[int], set[int]]:
        """The declaration of `const { a, b } = …` by one of its names, and the symbols it has."""
        tree = self.tree
        whole = next(
            (n for n in tree.ancestors(binding) if tree.kind(n) == Kind.variable_declaration),
            binding,
        )
        names = (n for n in tree.below(whole) if tree.kind(n) == Kind.binding_element)
        return [whole], {index for n in names if (index := self.named(n)) is not None}

    def name_of(self, declaration: int) -> int | None:
        """The node of a declaration's name; None for a constructor or a nameless function."""
        tree = self.tree
        if tree.kind(declaration) in NAME_KINDS:
            return declaration
        if tree.kind(declaration) in (Kind.property_access, Kind.element_access):
            return tree.last_child(declaration)
        if tree.kind(declaration) == Kind.binary:
            left = tree.first_child(declaration)
            return self.name_of(tree.unwrapped(left)) if left is not None else None
        if tree.kind(declaration) == Kind.constructor:
            return None
        names = [child for child in tree.children(declaration) if tree.kind(child) in NAME_KINDS]
        if tree.kind(declaration) == Kind.binding_element:
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
        return next((n for n in beside if tree.kind(n) == Kind.default_keyword), node)

    def declaration_of(self, node: int) -> int:
        """The declaration that a node of `node_of` belongs to."""
        tree = self.tree
        if tree.kind(node) not in NAME_KINDS:
            # A nameless declaration begins with a modifier, which is a node too.
            return node if tree.kind(node) > LAST_TOKEN else tree.parent(node)
        above = tree.parent(node)
        # `exports.name = …`, `Type.prototype.name = …`: the assignment declares.
        while tree.kind(above) in (Kind.property_access, Kind.element_access):
            above = tree.parent(above)
        return above


def _is_nameless(item: Item) -> bool:
    """Whether an item is a function that our outline named after the call it is passed to."""
    return item.kind == "function" and item.name.endswith(" callback")
