"""Closures of PHP: symbols where they are given to a call, named by that call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.rules import marks
from asterism.languages.shared import NAME_LIMIT, callback_name, spans_lines

if TYPE_CHECKING:
    from tree_sitter import Node

# A chain of calls broken over lines reads as if it had been written on one.
_BROKEN_CHAIN = re.compile(r"(?<!\s)\s++(\??->|::)")

CLOSURES = frozenset({"anonymous_function", "arrow_function"})


def closure(builder: Builder, node: Node) -> bool:
    """A closure of several lines given to a call is a symbol named by that call."""
    body = node.child_by_field_name("body")
    if node.start_byte in builder.consumed or body is None or not spans_lines(body):
        return True
    argument = node.parent
    if argument is None or argument.type != "argument" or argument.parent is None:
        return True
    modifiers, _ = marks(builder, node)
    name = _callback_name(builder, argument.parent)
    builder.define(node, "function", name, body=body, modifiers=modifiers)
    return True


def _callback_name(builder: Builder, arguments: Node) -> str:
    """`$app->get("/path") callback`: the call it is passed to, and the string before it."""
    call = arguments.parent
    first = arguments.named_children[0]
    value = first.named_children[-1] if first.named_child_count else first
    is_title = value.type in ("string", "encapsed_string")
    title = f'"{builder.text(value)[1:-1]}"' if is_title else ""
    if call is None:
        return callback_name("", "", title)
    if call.type == "object_creation_expression":
        return callback_name("", builder.text(call.named_children[0]), title)
    name = call.child_by_field_name("function") or call.child_by_field_name("name")
    if name is None:
        return callback_name("", "", title)
    head = builder.source[call.start_byte : name.end_byte].decode("utf-8", "replace")
    head = _BROKEN_CHAIN.sub(r"\1", head)
    if len(head) > NAME_LIMIT and name.start_byte > call.start_byte:
        head = f"…->{builder.text(name)}"
    return callback_name("", head, title)
