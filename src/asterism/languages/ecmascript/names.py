"""How JavaScript and TypeScript name things: keys, callbacks, code behind wrappers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.text import first_child, first_named, fold
from asterism.languages.shared import callback_name

if TYPE_CHECKING:
    from tree_sitter import Node


def element(builder: Builder, node: Node) -> bool:
    """Markup: the function around it may be a component; a lower-case tag is no reference."""
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


FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})

# Syntax around a value that does not change what it is.
AROUND = frozenset(
    {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"}
)

# Words of a target that say how a thing is reached, not what it belongs to.
PATHLESS = frozenset({"prototype", "this", "self", "exports", "module"})

# React's own wrappers: what they are given is what they return, as far as a reader is concerned.
_WRAPPERS = frozenset({"forwardRef", "memo", "useCallback"})
_NAMESPACE = "React."

# A receiver longer than this, or one with code in it, says less than the method's name alone.
_RECEIVER_LIMIT = 40

# The title of a test case, the path of a route.
_STRINGS = frozenset({"string", "template_string"})


def string_value(builder: Builder, node: Node | None) -> str:
    """A string literal's text without its quotes."""
    return "" if node is None else builder.text(node)[1:-1]


def property_name(builder: Builder, name: Node) -> str:
    """A key as it would be accessed: without quotes, computed keys with their brackets."""
    return string_value(builder, name) if name.type == "string" else builder.text(name)


def unwrapped(value: Node) -> Node:
    """A value without the parentheses and casts around it."""
    while value.type in AROUND and value.named_children:
        value = value.named_children[0]
    return value


def callable_value(builder: Builder, value: Node | None) -> Node | None:
    """The function or class a value is, through parentheses, casts, wrappers and assignments."""
    while value is not None:
        kind = value.type
        if kind in FUNCTIONS or kind == "class":
            return value
        if kind == "call_expression":
            value = _wrapped(builder, value)
        elif kind in AROUND:
            value = first_named(value)
        elif kind == "assignment_expression":
            value = value.child_by_field_name("right")
        else:
            return None
    return None


def _wrapped(builder: Builder, call: Node) -> Node | None:
    function = first_child(call)
    if function is None or function.type not in ("identifier", "member_expression"):
        return None
    if builder.text(function).removeprefix(_NAMESPACE) not in _WRAPPERS:
        return None
    arguments = call.child_by_field_name("arguments")
    return None if arguments is None else first_named(arguments)


def is_block(builder: Builder, function: Node) -> bool:
    """Whether a function has statements on lines of their own."""
    body = function.child_by_field_name("body")
    return (
        body is not None
        and body.type == "statement_block"
        and builder.source.find(b"\n", body.start_byte, body.end_byte) >= 0
    )


def keys_above(builder: Builder) -> list[str]:
    """The object keys between the current node and its symbol: `users` of `api.users.list`.

    An object given to something belongs to it: `Stack.prototype = { pop() {} }`.
    """
    keys: list[str] = []
    steps = builder.depth - builder.frames[-1].depth - 1
    for here in reversed(builder.ancestors[-steps:] if steps > 0 else ()):
        if here.type == "pair":
            key = here.child_by_field_name("key")
            if key is not None:
                keys.append(property_name(builder, key))
        elif here.type == "assignment_expression":
            left = here.child_by_field_name("left")
            if left is not None and left.type == "member_expression":
                words = "".join(builder.text(left).split()).split(".")
                keys.extend(word for word in reversed(words) if word not in PATHLESS)
    return keys[::-1]


def name_of_callback(builder: Builder, arguments: Node) -> str:
    """`describe("parser") callback`: the call it is passed to, and the string before it."""
    around = builder.ancestors[-2:-1]
    receiver, callee = _callee(builder, around[0]) if around else ("", "")
    first = first_named(arguments)
    titled = first is not None and first.type in _STRINGS
    title = f'"{string_value(builder, first)}"' if titled else ""
    return callback_name(receiver, callee, title)


def _callee(builder: Builder, call: Node) -> tuple[str, str]:
    """What is called, and on what: (`app`, `get`), (`…`, `then`), (``, `new Promise`)."""
    if call.type == "new_expression":
        return "", f"new {builder.field_text(call, 'constructor') or ''}"
    function = call.child_by_field_name("function")
    calls = ""
    while function is not None and function.type == "call_expression":
        # `test.each(table)("adds", …)`: the table would hide what is called.
        function, calls = function.child_by_field_name("function"), "()"
    if function is None:
        return "", ""
    if function.type == "member_expression":
        receiver = function.child_by_field_name("object")
        name = builder.field_text(function, "property") or ""
        text = builder.text(receiver) if receiver is not None else ""
        plain = len(text) <= _RECEIVER_LIMIT and "\n" not in text and "{" not in text
        return text if plain else "…", f"{name}{calls}"
    if function.type == "parenthesized_expression":
        inner = first_named(function)
        if inner is not None and inner.type in FUNCTIONS:
            return "", "(function)"
    return "", f"{fold(builder.text(function), _RECEIVER_LIMIT)}{calls}"


def pattern_leaves(pattern: Node) -> Iterator[Node]:
    """The names a destructuring pattern binds, in source order."""
    pending = [pattern]
    while pending:
        here = pending.pop()
        kind = here.type
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            yield here
        elif kind in ("assignment_pattern", "object_assignment_pattern"):
            pending.append(here.named_children[0])
        elif kind == "pair_pattern":
            pending.append(here.named_children[-1])
        elif kind in ("object_pattern", "array_pattern", "rest_pattern"):
            pending.extend(reversed(here.named_children))
