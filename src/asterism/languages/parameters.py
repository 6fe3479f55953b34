"""Parameters of a constructor, some of which are properties of what it constructs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.rules import marks

if TYPE_CHECKING:
    from tree_sitter import Node


def declare_parameter(
    builder: Builder, node: Node, name: Node | None, *, is_property: bool
) -> bool:
    """A property where the language makes a parameter one, else a local."""
    if name is not None and is_property:
        modifiers, decorators = marks(builder, node)
        builder.define(
            node,
            "property",
            builder.text(name),
            name_node=name,
            modifiers=modifiers,
            decorators=decorators,
        )
    else:
        builder.bind(name)
    return True
