"""JSX: which tags are references, and who holds markup and so may be a component."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.children import first_child

if TYPE_CHECKING:
    from tree_sitter import Node


def element(builder: Builder, node: Node) -> bool:
    """Markup: whoever contains it may be a component; a lower-case tag is no reference."""
    for frame in reversed(builder.frames):
        if frame.draft is not None:
            if frame.draft.jsx:
                break
            frame.draft.jsx = True
    opening = node.child_by_field_name("open_tag") or node
    name = opening.child_by_field_name("name")
    if name is not None and name.type == "identifier":
        start = name.start_byte
        if builder.source[start : start + 1].islower():
            builder.defined.add(start)
    return True


def attribute(builder: Builder, node: Node) -> bool:
    """`key={value}`: the key is a name of markup."""
    name = first_child(node)
    if name is not None:
        builder.defined.add(name.start_byte)
    return True


def namespaced(builder: Builder, node: Node) -> bool:
    """`svg:rect` and `xlink:href` are names of markup, not of the program."""
    builder.defined.update(child.start_byte for child in node.named_children)
    return True
