"""Nodes that list members or statements: which of them can go, and what goes or stays with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


# What is not wanted in one of these can go. Their names say it in every grammar, so one list
# serves all of them.
BLOCKS = frozenset(
    {
        *("block", "body", "body_statement", "class_body", "class_declarations"),
        *("compound_statement", "const_declaration", "declaration_list", "declarations"),
        *("do_block", "else_block", "enum_body", "enum_body_declarations", "enum_class_body"),
        *("enum_declaration", "enum_declaration_list", "enum_member_declaration_list"),
        *("enum_variant_list", "enumerator_list", "field_declaration_list", "import_spec_list"),
        *("imports", "indented_block", "instance_declarations", "interface_body"),
        *("interface_type", "local_binds", "object", "object_type", "opaque_declaration"),
        *("preproc_elif", "preproc_else", "preproc_if", "preproc_ifdef", "protocol_body"),
        *("statement_block", "statement_list", "statements", "struct_declaration"),
        *("table_constructor", "template_body", "then", "type_declaration", "union_declaration"),
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
