"""Kotlin's function values: lambdas behind and inside a call's parentheses, anonymous functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.rules import child_of
from asterism.analysis.syntax.text import fold
from asterism.languages.shared import callback_name, spans_lines

if TYPE_CHECKING:
    from tree_sitter import Node

# What may stand between a lambda and the call it is given to.
_BETWEEN = frozenset(
    {"annotated_lambda", "value_argument", "value_arguments", "labeled_expression"}
)


def function_value(builder: Builder, node: Node) -> bool:
    """A function value: a symbol where it spans lines and is given to a call."""
    if node.start_byte in builder.consumed:
        return True
    call = _call_around(builder)
    parameters = child_of("lambda_parameters")(node)
    if call is not None and spans_lines(node):
        if node.type == "anonymous_function":
            body = child_of("function_body")(node)
            builder.define(node, "function", _lambda_name(builder, call), body=body)
        else:
            draft = builder.define(node, "function", _lambda_name(builder, call), body=node)
            head = f"{builder.text(parameters)} -> " if parameters is not None else ""
            draft.signature = fold(f"{{ {head}… }}")
    if parameters is None and node.type == "lambda_literal" and builder.owner is not None:
        builder.owner.bind("it")
    return True


def _call_around(builder: Builder) -> Node | None:
    """The call a function value is an argument of, in its parentheses or behind them."""
    around = next((node for node in reversed(builder.ancestors) if node.type not in _BETWEEN), None)
    return around if around is not None and around.type == "call_expression" else None


def _lambda_name(builder: Builder, call: Node) -> str:
    callee, arguments = call.named_children[0], child_of("value_arguments")(call)
    while callee.type == "call_expression":
        arguments = child_of("value_arguments")(callee) or arguments
        callee = callee.named_children[0]
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    value = first.named_children[0] if first is not None and first.named_children else None
    title = builder.text(value) if value is not None and value.type == "string_literal" else ""
    receiver = ""
    if callee.type == "navigation_expression":
        receiver, callee = builder.text(callee.named_children[0]), callee.named_children[-1]
    return callback_name(receiver, builder.text(callee), title)
