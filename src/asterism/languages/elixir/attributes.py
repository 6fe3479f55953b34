"""Elixir's `@` attributes: constants, types, callbacks, and what documents the next definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Level
from asterism.analysis.syntax.rules import value_cut
from asterism.analysis.syntax.text import clean_docstring
from asterism.languages.elixir.heads import (
    arguments_of,
    bind_pattern,
    callee,
    name_of,
    operator_of,
    without_guard,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = {"type": (), "typep": ("private",), "opaque": ("opaque",)}

_CALLBACKS = frozenset({"callback", "macrocallback"})

_DOCS = frozenset({"doc", "typedoc"})

# Attributes about the definition below them.
_PREFIXES = frozenset(
    {
        "decorate",
        "deprecated",
        "derive",
        "describetag",
        "dialyzer",
        "doc",
        "enforce_keys",
        "impl",
        "since",
        "spec",
        "tag",
        "typedoc",
    }
)

# Attributes that speak to the compiler or a framework rather than name a value.
_RESERVED = _PREFIXES | {
    "after_compile",
    "after_verify",
    "before_compile",
    "behaviour",
    "compile",
    "external_resource",
    "file",
    "moduledoc",
    "moduletag",
    "nifs",
    "on_definition",
    "on_load",
    "optional_callbacks",
    "vsn",
}

# How many attributes a definition can have above it; looking on without end would be quadratic.
_NEAR = 32

_SPECS = frozenset({"spec"})


def attribute(builder: Builder, node: Node) -> bool:
    """`@name` is a use, `@name value` a declaration."""
    operand = node.child_by_field_name("operand")
    if operand is None or operator_of(node) != "@":
        return True
    if operand.type == "identifier":
        # The sign is part of the constant's name, so the use keeps it.
        builder.receivers[operand.start_byte] = "@"
        return True
    target = operand.child_by_field_name("target")
    values = arguments_of(operand) if operand.type == "call" else []
    if target is None or target.type != "identifier" or not values:
        return True
    name = builder.text(target)
    builder.defined.add(target.start_byte)
    builder.consumed.add(operand.start_byte)
    if name in _TYPES:
        _type(builder, node, values[0], _TYPES[name])
    elif name in _CALLBACKS:
        _callback(builder, node, values[0])
    elif name in _RESERVED:
        if name in _SPECS:
            _silence_labels(builder, values[0])
        doc = _doc_text(builder, values[0]) if name in _DOCS else None
        if name in _PREFIXES and _precedes_definition(builder, node):
            decorators = () if name in _DOCS or name in _SPECS else (name,)
            builder.prefix(node, decorators, doc)
        elif name == "doc" and doc is not None:
            # Constants may stand between a function and its documentation.
            builder.notes[_waiting_doc(builder)] = doc
    elif builder.level is Level.TYPE:
        builder.define(
            node, "const", f"@{name}", name_node=target, signature_end=value_cut(node, values[0])
        )
    return True


def _type(builder: Builder, node: Node, value: Node, modifiers: tuple[str, ...]) -> None:
    """`@type t(a) :: …`."""
    head = _left_of_colons(value)
    target = head.child_by_field_name("target") or head
    name = name_of(builder, target)
    if not name:
        return
    builder.define(
        node,
        "type",
        name,
        name_node=target,
        modifiers=modifiers,
        signature_end=value_cut(node, value.child_by_field_name("right")),
    )
    for parameter in arguments_of(head):
        bind_pattern(builder, parameter)


def _callback(builder: Builder, node: Node, value: Node) -> None:
    """`@callback f(a :: term) :: term`."""
    head = _left_of_colons(without_guard(value))
    target = head.child_by_field_name("target") or head
    name = name_of(builder, target)
    if name:
        builder.define(node, "signature", name, name_node=target)
    _silence_labels(builder, value)


def _left_of_colons(node: Node) -> Node:
    if node.type == "binary_operator":
        return node.child_by_field_name("left") or node
    return node


def _silence_labels(builder: Builder, value: Node) -> None:
    """In `@spec f(x :: integer) :: t when t: var` neither `f` nor `x` is used."""
    head = _left_of_colons(without_guard(value))
    target = head.child_by_field_name("target") or head
    builder.defined.add(target.start_byte)
    for argument in arguments_of(head):
        if argument.type == "binary_operator" and operator_of(argument) == "::":
            label = argument.child_by_field_name("left")
            if label is not None:
                builder.defined.add(label.start_byte)


def take_waiting_doc(builder: Builder) -> str | None:
    """The `@doc` of this module that has not met its function yet."""
    return builder.notes.pop(_waiting_doc(builder), None)


def _waiting_doc(builder: Builder) -> tuple[str, int | None]:
    return ("doc", builder.frames[-1].index)


def _doc_text(builder: Builder, value: Node) -> str | None:
    """A string or sigil; `@doc false` and `@doc since: …` say nothing."""
    if value.type not in ("string", "sigil"):
        return None
    return clean_docstring(builder.text(value))


def _precedes_definition(builder: Builder, node: Node) -> bool:
    """Whether what follows, other attributes aside, is something the attribute can be about."""
    following = node.next_named_sibling
    for _ in range(_NEAR):
        if following is None or following.type not in ("comment", "unary_operator"):
            break
        operand = following.child_by_field_name("operand")
        if operand is not None:
            name = callee(builder, operand) if operand.type == "call" else None
            if name in _TYPES or name in _CALLBACKS:
                return True
            if name not in _PREFIXES:
                return False
        following = following.next_named_sibling
    if following is None or following.type != "call":
        return False
    name = callee(builder, following)
    is_block = following.named_child_count and following.named_children[-1].type == "do_block"
    return name is not None and (name.startswith("def") or bool(is_block))
