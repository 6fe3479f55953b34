"""Which elements of an import's list of names can go when only some names are wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

# Nodes whose children are what an import brings in, with commas between.
LISTS = frozenset(
    {
        "import_clause",
        "import_list",
        "named_imports",
        "namespace_selectors",
        "namespace_use_group",
        "object_pattern",
        "tuple",
        "use_list",
    }
)
# Here the names stand among other parts of the statement.
FIELDED = {
    "import_from_statement": "name",
    "import_statement": "name",
}
CLAUSED = {"namespace_use_declaration": "namespace_use_clause"}

_WORD = re.compile(r"[^\W\d][\w$'#]*")


def elements_to_drop(node: Node, names: frozenset[str]) -> set[int]:
    """The ids of a node's children that go: unwanted elements, and the commas that go with them."""
    elements = list(_elements(node))
    wanted = [element for element in elements if _is_wanted(element, names)]
    if not elements or not wanted or len(wanted) == len(elements):
        return set()
    return _without(node.children, {element.id for element in elements} - {e.id for e in wanted})


def _without(children: Sequence[Node], unwanted: set[int]) -> set[int]:
    """The unwanted and one comma for each: the one behind it, or at the end the one before."""
    gone = set(unwanted)
    commas: list[int] = []
    """Those that stay so far and have no wanted element behind them."""
    expecting = False
    for child in children:
        if child.type == ",":
            if expecting:
                gone.add(child.id)
                expecting = False
            else:
                commas.append(child.id)
        elif child.id in unwanted:
            expecting = True
        elif child.is_named:
            commas.clear()
    if expecting and commas:
        gone.update(commas)
    return gone


def _elements(node: Node) -> Iterator[Node]:
    if node.type in LISTS:
        for child in node.named_children:
            if not child.type.endswith("comment"):
                yield child
    elif node.type in FIELDED:
        yield from node.children_by_field_name(FIELDED[node.type])
    elif node.type in CLAUSED:
        for child in node.named_children:
            if child.type == CLAUSED[node.type]:
                yield child


def _is_wanted(element: Node, names: frozenset[str]) -> bool:
    """Whether an element brings in a wanted name; one whose name cannot be told is wanted."""
    inner = next(_lists(element), None)
    if inner is not None:
        return any(_is_wanted(child, names) for child in _elements(inner))
    words = _words(element)
    if not words:
        return True
    if element.type == "self":
        # `use io::{self}` brings in `io`.
        around = element.parent.parent if element.parent is not None else None
        path = around.child_by_field_name("path") if around is not None else None
        return path is None or "self" in names or _words(path)[-1] in names
    if element.type == "dotted_name":
        # `import os.path` brings in `os`.
        return words[0] in names
    if element.type == "import_name":
        # In Haskell `Map(..)` brings in `Map`, and what is in the brackets.
        return not names.isdisjoint(words)
    return words[-1] in names


def _words(node: Node) -> list[str]:
    return _WORD.findall((node.text or b"").decode("utf-8", "replace"))


def _lists(node: Node) -> Iterator[Node]:
    if node.type in LISTS:
        yield node
        return
    for child in node.named_children:
        yield from _lists(child)
