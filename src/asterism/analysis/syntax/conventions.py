"""How a language writes comments, docs, modifiers, decorators and names: plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

Names = frozenset[str]
NONE: Names = frozenset()


@dataclass(frozen=True, slots=True)
class Conventions:
    """Node types by the part they play. A type a grammar does not have is simply never met."""

    identifiers: Names
    """Leaves that are uses of a name, unless a definition or binder claims them."""
    comments: Names = frozenset({"comment", "line_comment", "block_comment"})
    skipped: Names = NONE
    """Never looked into: strings, numbers, whatever holds no code."""
    members: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Member access: node type to its (receiver, name) fields."""
    statements: Mapping[str, str] = field(default_factory=dict)
    """Root statements that are not symbols: node type to root kind; others are `expression`."""
    modifiers: Names = NONE
    """Tokens and nodes beside a declaration whose text is a modifier."""
    modifier_groups: Names = NONE
    """Nodes that hold modifiers and annotations as children."""
    decorators: Names = NONE
    """Annotation nodes; their first dotted name is the decorator's name."""
    pattern_first: Names = NONE
    """Inside a binding pattern, nodes whose first child binds and whose rest is a value or type."""
    pattern_last: Names = NONE
    """Inside a binding pattern, nodes whose last child binds: `{ key: name }`."""
    pattern_stops: Names = NONE
    """Inside a binding pattern, nodes that bind nothing: types, defaults."""
    doc_prefixes: tuple[str, ...] = ("/**",)
    """A comment that starts with one of these is documentation; "" takes any comment."""
    doc_gap: int = 0
    """Blank lines a doc block may stand above its declaration; compilers read JSDoc across one."""
    inner_doc_prefixes: tuple[str, ...] = ()
    """Comments that document what they stand in, as Rust's `//!`: not what follows them."""
    docstring: Callable[[Node], Node | None] | None = None
    """The string inside a definition that documents it, where the language has such a thing."""
    gap_kind: str = "text"
    """The root kind of lines no statement claims: directives in C, loose text elsewhere."""
    line_comment: str = "//"
    terminators: tuple[str, ...] = (";",)
    """Dropped from the end of a signature: the colon of Python, the `=` of Scala."""
