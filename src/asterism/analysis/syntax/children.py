"""The first child of a node, if it has one; the library raises an error where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def first_child(node: Node) -> Node | None:
    """The first child, punctuation included."""
    return node.child(0) if node.child_count else None


def first_named(node: Node) -> Node | None:
    """The first child that is more than punctuation."""
    return node.named_child(0) if node.named_child_count else None
