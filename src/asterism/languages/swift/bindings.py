"""Names inside Swift code: what patterns and closures bind, and on what members are accessed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.language import Rule
from asterism.analysis.syntax.rules import child_of, children_of

if TYPE_CHECKING:
    from tree_sitter import Node

# What stands before a member without an object, as in `.idle`: the type is for Swift to infer.
_INFERRED = "."

# Closures may use their arguments without naming them; few take more.
_POSITIONAL = ("$0", "$1", "$2", "$3")

# Declarations that read their own patterns.
_DECLARATIONS = frozenset({"property_declaration", "protocol_property_declaration"})

_LEAF = "simple_identifier"


def names(pattern: Node) -> Iterator[Node]:
    """Every name a pattern binds; one behind a dot is the case it matches."""
    for child in pattern.named_children:
        if child.type == _LEAF:
            before = child.prev_sibling
            if before is None or before.type != ".":
                yield child
        elif child.type == "pattern":
            yield from names(child)


def pattern(builder: Builder, node: Node) -> bool:
    """`let x`, `.case(let x)`, `let (a, b)`: without `let` or `for` a pattern only compares."""
    _infer(builder, node)
    around = node.parent
    if around is None or around.type in _DECLARATIONS:
        return True
    if around.type == "for_statement" or _has_let(node) or _has_let(around):
        for name in names(node):
            builder.bind(name)
    return True


def _has_let(node: Node) -> bool:
    return child_of("value_binding_pattern")(node) is not None


def condition(builder: Builder, node: Node) -> bool:
    """`if let x = y`, `guard var x`, `while let x`, and `if case .some(let x)`."""
    for name in node.children_by_field_name("bound_identifier"):
        builder.bind(name)
    _infer(builder, node)
    return True


def _infer(builder: Builder, node: Node) -> None:
    """Names directly behind a dot that has nothing before it."""
    for name in children_of(node, _LEAF):
        before = name.prev_sibling
        if before is not None and before.type == ".":
            builder.receivers[name.start_byte] = _INFERRED


def parameter(builder: Builder, node: Node) -> bool:
    """`label name: Type`: the label is for callers, the name is bound."""
    label = node.child_by_field_name("external_name")
    if label is not None:
        builder.defined.add(label.start_byte)
    builder.bind(node.child_by_field_name("name"))
    return True


def type_parameter(builder: Builder, node: Node) -> bool:
    """`<Element: Constraint>`."""
    builder.bind(child_of("type_identifier")(node))
    return True


def implicit(name: str) -> Rule:
    """A block in which this name exists unless another is given: `catch`, `set`, `didSet`."""

    def rule(builder: Builder, node: Node) -> bool:
        owner = builder.owner
        if owner is not None:
            owner.bind(name)
        builder.bind(child_of(_LEAF)(node))
        return True

    return rule


def closure(builder: Builder, _node: Node) -> bool:
    """Every closure may speak of `$0`."""
    owner = builder.owner
    if owner is not None:
        for name in _POSITIONAL:
            owner.bind(name)
    return True


def navigation(builder: Builder, node: Node) -> bool:
    """`target.member`."""
    target, suffix = node.child_by_field_name("target"), node.child_by_field_name("suffix")
    name = suffix.child_by_field_name("suffix") if suffix is not None else None
    if target is not None and name is not None:
        builder.member(target, name)
        receiver = builder.receivers[name.start_byte]
        if receiver.startswith("\\"):
            # A key path: `\\Type.member`, or with the type left to Swift `\\.member`.
            builder.receivers[name.start_byte] = receiver[1:] or _INFERRED
    return True


def discard(builder: Builder, node: Node) -> bool:
    """`_ = value` names nothing."""
    if builder.text(node) == "_":
        builder.defined.add(node.start_byte)
    return True


def inferred_member(builder: Builder, node: Node) -> bool:
    """`.member`, of a type that is not written."""
    _infer(builder, node)
    return True


def qualified(builder: Builder, node: Node) -> bool:
    """`Outer.Inner`: each part belongs to the one before it."""
    parts = list(children_of(node, "type_identifier", _LEAF))
    for outer, inner in pairwise(parts):
        builder.member(outer, inner)
    return True


def first_name(builder: Builder, node: Node) -> bool:
    """`precedencegroup Name`, `higherThan: Group`: the first word is a name or key, not a use."""
    key = child_of(_LEAF)(node)
    if key is not None:
        builder.defined.add(key.start_byte)
    return True


def trailing_labels(builder: Builder, node: Node) -> bool:
    """`call { … } label: { … }`."""
    builder.defined.update(name.start_byte for name in node.children_by_field_name("name"))
    return True
