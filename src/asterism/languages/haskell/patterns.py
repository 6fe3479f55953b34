"""What Haskell's patterns bind: parameters, alternatives, generators, guards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder

if TYPE_CHECKING:
    from tree_sitter import Node

# Only part of these binds: the rest is a view, a field's name or a type.
_HALF_PATTERNS = frozenset({"view_pattern", "field_pattern", "signature"})


def variables(pattern: Node) -> list[Node]:
    """The names a pattern binds; constructors are tested, views and field names are uses."""
    found = []
    pending = [pattern]
    while pending:
        here = pending.pop()
        kind = here.type
        if kind == "variable":
            found.append(here)
        elif kind in _HALF_PATTERNS and here.child_by_field_name("pattern") is not None:
            pending.extend(here.children_by_field_name("pattern"))
        else:
            pending.extend(reversed(here.named_children))
    return found


def bind_pattern(builder: Builder, pattern: Node | None) -> None:
    """Take the names in a pattern as locals."""
    for name in variables(pattern) if pattern is not None else ():
        builder.bind(name)


def parameters(builder: Builder, node: Node) -> bool:
    """Parameters of a function or lambda."""
    bind_pattern(builder, node)
    return True


def binds_pattern(builder: Builder, node: Node) -> bool:
    """Case alternatives, generators, pattern guards."""
    bind_pattern(builder, node.child_by_field_name("pattern"))
    return True
