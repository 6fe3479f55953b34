"""C and C++ that does not parse: function heads left over in broken text, names gone astray."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.rules import value_cut
from asterism.languages.c_family.declarators import (
    Declarator,
    declared,
    ends_there,
    silence_keywords,
)
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Node

# What may stand between the start of a broken function's head and its declarator.
_HEAD = frozenset(
    {
        *("primitive_type", "sized_type_specifier", "type_identifier", "storage_class_specifier"),
        *("type_qualifier", "identifier", "*", "&"),
    }
)
# Nodes that no function body contains, so that the body must have ended before them.
_OUTSIDE = frozenset(
    {
        *("function_definition", "function_declarator", "struct_specifier", "class_specifier"),
        *("enum_specifier", "namespace_definition", "template_declaration", "type_definition"),
        *("preproc_def", "preproc_function_def", "preproc_include"),
    }
)


def function_head(builder: Builder, node: Node) -> bool:
    """`int name(…) {` whose body does not parse: a function up to where it can be told to end.

    `int name(…) MACRO;` does not parse either, nor does `API int (*name)(…) MACRO;`.
    """
    if builder.level is Level.FUNCTION or not _is_loose(builder):
        return True
    brace = node.next_sibling
    found = declared(builder, node)
    if found is None:
        return True
    start = node
    while (before := start.prev_sibling) is not None and before.type in _HEAD:
        start = before
    if brace is None and ends_there(builder, node):
        _define(builder, found, start, node, node.end_byte)
    elif brace is not None and brace.type == "{" and found.is_function:
        end, following = brace, brace.next_sibling
        while following is not None and not _is_outside(following):
            end, following = following, following.next_sibling
        while following is not None and end.type in _HEAD | {"comment"}:
            # The head of the next function, or the comment above it.
            end = end.prev_sibling or brace
        _define(builder, found, start, end, brace.start_byte)
    return True


def function_pointer(builder: Builder, node: Node) -> bool:
    """`type (*name)(void) = value;`, which reads like an assignment to the result of a call."""
    inner = node.named_children[0]
    value = None
    if inner.type == "assignment_expression":
        value, inner = inner.child_by_field_name("right"), inner.named_children[0]
    called = inner.child_by_field_name("function")
    group = None if called is None else called.child_by_field_name("arguments")
    target = group.named_children[0] if group is not None and group.named_child_count == 1 else None
    if target is None or target.type != "pointer_expression":
        return False
    name = target.child_by_field_name("argument")
    if name is None or name.type != "identifier":
        return False
    silence_keywords(builder, inner.named_children[-1].named_children)
    end = value_cut(node, value)
    builder.define(node, "variable", builder.text(name), name_node=name, signature_end=end)
    return True


def _is_outside(node: Node) -> bool:
    """Where braces no longer tell, the margin does: bodies are indented, save labels and `#if`."""
    if node.type in _OUTSIDE:
        return True
    at_margin = node.start_point[1] == 0 and node.is_named
    return at_margin and node.type != "labeled_statement" and not node.type.startswith("preproc_")


def initialised_head(builder: Builder, node: Node) -> bool:
    """`name(…) { … }` read as a variable with an initialiser, in text that does not parse."""
    value = node.child_by_field_name("value")
    if builder.level is Level.FUNCTION or not _is_loose(builder) or value is None:
        return True
    found = declared(builder, node)
    if found is not None and found.is_function and value.type == "initializer_list":
        before = node.prev_sibling
        start = before if before is not None and before.type in _HEAD else node
        _define(builder, found, start, node, value.start_byte)
    return True


def _define(builder: Builder, found: Declarator, start: Node, end: Node, head_end: int) -> None:
    is_member = bool(found.scope) or builder.level is Level.TYPE
    if found.is_function:
        kind = "method" if is_member else "function"
    else:
        kind = "property" if is_member else "variable"
    draft = builder.define(
        start, kind, found.name, name_node=found.node, owner=found.scope, opens=False
    )
    draft.signature = builder.signature(start, start.start_byte, head_end)
    builder.extend(draft, end)


def enclosing_function(builder: Builder, node: Node) -> Draft | None:
    """The broken function whose range, though not its node, contains a declaration."""
    last = builder.drafts[-1] if builder.drafts else None
    if last is None or builder.level is not Level.MODULE or last.kind not in ("function", "method"):
        return None
    return last if last.end > node.start_byte and last.body is None else None


def swallowed(builder: Builder, node: Node) -> bool:
    """Whether the grammar, lost over a macro, took a block of other code for a function's head."""
    return any(
        child.type == "ERROR" and b"{" in builder.source[child.start_byte : child.end_byte]
        for child in node.named_children
    )


def before_macro(builder: Builder, node: Node) -> Declarator | None:
    """`int name() LOCKS(x)`, where the macro was taken for the name and the name for an error."""
    declarator = node.child_by_field_name("declarator") if node.has_error else None
    error = None if declarator is None else declarator.prev_sibling
    if error is None or error.type != "ERROR" or error.named_child_count != 1:
        return None
    head = error.named_children[0]
    if head.type not in ("init_declarator", "function_declarator"):
        return None
    found = declared(builder, head)
    return None if found is None else found._replace(is_function=True)


def continued(builder: Builder, node: Node, body: Node) -> bool:
    """`int name() const LOCKS(x) { … }`, where the grammar ends a prototype before the macro."""
    head = node.prev_named_sibling
    last = builder.drafts[-1] if builder.drafts else None
    if head is None or last is None or last.end != head.end_byte or last.body is not None:
        return False
    if not head.child_count or not head.children[-1].is_missing:
        return False
    builder.extend(last, node)
    last.body = Span(body.start_byte, body.end_byte)
    return True


def silence(builder: Builder, node: Node) -> None:
    """Pass over the keywords in the broken parts of a declaration's head."""
    for part in node.named_children if node.has_error else ():
        if part.type == "ERROR":
            silence_keywords(builder, part.named_children)
        elif part.type == "type_identifier":
            silence_keywords(builder, [part])


def is_no_declaration(builder: Builder, node: Node) -> bool:
    """Macros on lines of their own, and friends in a class that was read as code."""
    kind, name = node.child_by_field_name("type"), node.child_by_field_name("declarator")
    if kind is None or name is None or kind.type != "type_identifier":
        return False
    if kind.end_point[0] < name.start_point[0] and node.children[-1].is_missing:
        # A function's name may stand on a line of its own as well, but is not written like this.
        is_word = name.type in ("identifier", "field_identifier", "init_declarator")
        return is_word or builder.text(name).partition("(")[0].isupper()
    return builder.text(kind) == "friend"


def displaced(builder: Builder, part: Node) -> Declarator | None:
    """`MACRO int name;`, where the type was taken for the name and the name for an error."""
    after = part.next_sibling
    if part.named_child_count or after is None or after.type != "ERROR":
        return None
    name = after.named_children[0] if after.named_child_count == 1 else None
    return declared(builder, name) if name is not None and name.type == "identifier" else None


def _is_loose(builder: Builder) -> bool:
    """Whether the current node hangs in broken text rather than in a declaration."""
    return builder.frames[-1].depth == builder.depth - 1
