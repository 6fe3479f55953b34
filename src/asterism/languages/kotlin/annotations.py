"""Kotlin's annotations where the grammar takes them, and what follows them, for expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Level
from asterism.analysis.syntax.rules import child_of, children_of
from asterism.analysis.syntax.text import decorator_names, fold
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


# What a keyword declares where the grammar reads `actual class Name` as an infix call.
_DECLARED = {
    b"class": "class",
    b"interface": "interface",
    b"object": "object",
    b"typealias": "type",
    b"fun": "function",
}

# A first constructor on a line of its own, and what stands before it.
_BEFORE = rb"@[\w.]+(?:\([^\n()]*\))?|public|protected|private|internal|actual|expect"
_ONE_BEFORE = re.compile(_BEFORE)
_CONSTRUCTOR = re.compile(
    rb"(\bclass\s+\w+(?:<[^\n(){}]*>)?[ \t]*\n\s*)((?:(?:" + _BEFORE + rb")\s+)+)(?=constructor\b)"
)

# Modifiers and accessors that a line begins with as if they were names.
_NAMED_SO = re.compile(
    rb"(?m)^([ \t]*)(abstract|external|final|get|infix|inline|internal|lateinit|open|override"
    rb"|private|protected|public|sealed|set|tailrec)(?=[ \t]*(?:[-+*/%]?=(?!=)|\??\.\w|\[|!!))"
)

# How many annotations a declaration can have; looking on without end would be quadratic.
_NEAR = 32

# Modifiers that make a class something else.
_CLASSES = {"annotation": "annotation", "enum": "enum"}

_DECLARATIONS = frozenset(
    {
        *("class_declaration", "function_declaration", "object_declaration"),
        *("property_declaration", "type_alias"),
    }
)


def readable(source: bytes) -> bytes:
    """The source as the grammar can read it, byte by byte in the same places.

    Of several modifiers and annotations of such a constructor one is left: with more the grammar
    ends the class before it. Words that are modifiers elsewhere become names where a statement
    begins with them as names: `open = true`, `set.add(1)`. Else it reads nothing of what follows.
    """
    if b"constructor" in source:
        source = _CONSTRUCTOR.sub(_first_alone, source)
    return _NAMED_SO.sub(lambda found: found[1] + b"x" * len(found[2]), source)


def _first_alone(found: re.Match[bytes]) -> bytes:
    head, before = found.groups()
    first = _ONE_BEFORE.match(before)
    end = first.end() if first else 0
    return head + before[:end] + _ONE_BEFORE.sub(lambda one: b" " * len(one[0]), before[end:])


def annotated(builder: Builder, node: Node) -> bool:
    """`@A(x)` before a declaration: the grammar may read it as an expression of its own."""
    inner = _innermost(node)
    if _mistaken(inner) is not None:
        _declare(builder, node, inner)
    elif inner.type == "parenthesized_expression" and _is_followed(node):
        builder.prefix(node, decorator_names(builder.source, _annotations(node)))
    return True


def assignment(builder: Builder, node: Node) -> bool:
    """`@A(x) actual typealias Name = Other`, read as an assignment."""
    left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and left.type == "annotated_expression":
        inner = _innermost(left)
        if _mistaken(inner) is not None:
            _declare(builder, node, inner, value)
    return True


def infix(builder: Builder, node: Node) -> bool:
    """A declaration behind a modifier that is also a name."""
    if _mistaken(node) is not None:
        _declare(builder, node, node)
    return True


def _declare(builder: Builder, node: Node, inner: Node, value: Node | None = None) -> None:
    """The declaration in `inner`, with the annotations and the value that are around it."""
    name = _mistaken(inner)
    if name is None or inner.start_byte in builder.consumed:
        return
    builder.consumed.add(inner.start_byte)
    modifier, keyword, rest = inner.named_children
    builder.defined.update((modifier.start_byte, keyword.start_byte))
    word = builder.text(modifier)
    kind = _CLASSES.get(word) or _DECLARED[keyword.text or b""]
    lambda_ = child_of("annotated_lambda")(rest)
    body = lambda_.named_children[0] if lambda_ is not None else None
    if body is not None:
        builder.consumed.add(body.start_byte)
    is_function = kind == "function"
    left = node.child_by_field_name("left") or node
    builder.define(
        node,
        "method" if is_function and builder.level is Level.TYPE else kind,
        builder.text(name),
        name_node=name,
        body=value if is_function else body,
        level=Level.FUNCTION if is_function or kind == "type" else Level.TYPE,
        modifiers=(word,),
        decorators=list(_annotations(left)),
    )


def _innermost(node: Node) -> Node:
    """The node after the annotations."""
    for _ in range(_NEAR):
        if node.type != "annotated_expression" or not node.named_child_count:
            break
        node = node.named_children[-1]
    return node


def _annotations(node: Node) -> Iterator[Node]:
    while node.type == "annotated_expression":
        yield from children_of(node, "annotation")
        node = node.named_children[-1]


def _mistaken(node: Node) -> Node | None:
    """The name in `actual class Name { … }` where the grammar reads an infix call of `class`."""
    parts = node.named_children if node.type == "infix_expression" else []
    if len(parts) != 3 or parts[1].text not in _DECLARED:
        return None
    name = parts[2]
    if name.type == "call_expression":
        name = name.named_children[0]
    is_plain = parts[0].type == "identifier" and name.type == "identifier"
    return name if is_plain else None


def _is_followed(node: Node) -> bool:
    """Whether a declaration comes next: then the parentheses are the annotation's arguments."""
    following = node.next_named_sibling
    return following is not None and following.type in _DECLARATIONS
