"""Nodes that list members or statements: which of them can go, and what goes or stays with them."""

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


# What is not wanted in one of these can go. Their names say it in every grammar, so one list
# serves all of them.
BLOCKS = frozenset(
    {
        "block",
        "body",
        "body_statement",
        "class_body",
        "class_declarations",
        "compound_statement",
        "const_declaration",
        "declaration_list",
        "declarations",
        "do_block",
        "else_block",
        "enum_body",
        "enum_body_declarations",
        "enum_class_body",
        "enum_declaration",
        "enum_declaration_list",
        "enum_member_declaration_list",
        "enum_variant_list",
        "enumerator_list",
        "field_declaration_list",
        "import_spec_list",
        "imports",
        "indented_block",
        "instance_declarations",
        "interface_body",
        "interface_type",
        "local_binds",
        "object",
        "object_type",
        "opaque_declaration",
        "preproc_elif",
        "preproc_else",
        "preproc_if",
        "preproc_ifdef",
        "protocol_body",
        "statement_block",
        "statement_list",
        "statements",
        "struct_declaration",
        "table_constructor",
        "template_body",
        "then",
        "type_declaration",
        "union_declaration",
        "var_spec_list",
    }
)

_HEAD_FIELDS = ("condition", "name", "type", "source")
"""The parts of a list's head, which are not its members."""
_ATTRIBUTES = frozenset({"attribute_item", "inner_attribute_item"})
"""What stands before a declaration as a sibling and belongs to it."""
_LABEL = "access_specifier"
_OPENERS = frozenset({"{", "("})
_SEPARATORS = frozenset({",", ";"})
_NOTHING = "empty_statement"
"""A semicolon that a grammar does not count to the statement before it."""
_FOLLOWERS = _SEPARATORS | {":", "&"}


def staying(node: Node, children: Sequence[Node], touched: Sequence[bool]) -> list[bool]:
    """Which children of a list stay: the wanted, the list's own words, and what goes with them."""
    if is_shell(node):
        stays = [
            hit or child.type in _SEPARATORS for child, hit in zip(children, touched, strict=True)
        ]
    else:
        fields = (node.children_by_field_name(field) for field in _HEAD_FIELDS)
        heads = {child.id for found in fields for child in found}
        brackets = [index for index, child in enumerate(children) if child.type in _OPENERS]
        # `enum(u8) {` has two, and the list is in the last.
        opener = max(brackets, default=-1)
        stays = [
            hit or not child.is_named or index < opener or child.id in heads
            for index, (child, hit) in enumerate(zip(children, touched, strict=True))
        ]
    _with_company(node, children, touched, stays)
    return stays


def is_comment(node: Node) -> bool:
    """Whether a node is a comment."""
    return "comment" in node.type or "haddock" in node.type


def _with_company(
    node: Node, children: Sequence[Node], touched: Sequence[bool], stays: list[bool]
) -> None:
    """Let go and stay together what belongs together: separators, labels, attributes, remarks."""
    label = None
    for index, child in enumerate(children):
        before = index - 1
        if child.type == _LABEL:
            label = index
        elif touched[index] and label is not None:
            stays[label] = stays[label + 1] = True
            label = None
        if child.type == _NOTHING and before >= 0:
            stays[index] = touched[index] or stays[before]
        elif child.type in _FOLLOWERS and before >= 0 and not stays[before]:
            # In Kotlin a semicolon divides the values of an enumeration from its members.
            divides = child.type == ";" and node.type == "enum_class_body"
            stays[index] = divides and any(touched[index:])
        elif is_comment(child) and not touched[index] and before >= 0:
            same_row = child.start_point[0] == children[before].end_point[0]
            stays[index] = same_row and stays[before] and not is_shell(children[before])
    for index in range(len(children) - 2, -1, -1):
        if (
            children[index].type in _ATTRIBUTES
            and stays[index + 1]
            and children[index + 1].is_named
        ):
            stays[index] = True


def is_list(node: Node) -> bool:
    """Whether the node lists members; a declaration only does where its bracket is its own."""
    if node.type not in BLOCKS:
        return False
    own_bracket = any(child.type in _OPENERS for child in node.children)
    return own_bracket or not node.type.endswith("_declaration")


def counts(node: Node) -> bool:
    """Whether members say their value by their place, as Go's constants with `iota` do."""
    return node.type == "const_declaration" and b"iota" in (node.text or b"")


def is_company(node: Node) -> bool:
    """Whether a node stands with a member without being one."""
    return (
        node.type in _SEPARATORS
        or node.type in _ATTRIBUTES
        or node.type == _LABEL
        or is_comment(node)
    )


def is_shell(node: Node) -> bool:
    """Whether a C header wraps itself in this, which says nothing about what is inside.

    The guard against a second inclusion, and `extern "C"` for compilers of C++, which ends in
    another `#ifdef` and therefore cannot be shown in part.
    """
    if node.type in ("linkage_specification", "declaration_list"):
        return node.parent is not None and is_shell(node.parent)
    if node.type != "preproc_ifdef":
        return False
    name = node.child_by_field_name("name")
    if name is None or name.text == b"__cplusplus":
        return True
    first = next((child for child in node.named_children if child != name), None)
    defined = first.child_by_field_name("name") if first is not None else None
    return node.children[0].type == "#ifndef" and defined is not None and name.text == defined.text
