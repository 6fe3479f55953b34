"""Declarations of C and C++: functions, prototypes, variables, fields, typedefs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from asterism.analysis.syntax.builder import Builder, SymbolParts
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.rules import children_of, value_cut
from asterism.analysis.syntax.text import fold
from asterism.languages.c_family.damage import (
    before_macro,
    continued,
    displaced,
    enclosing_function,
    is_no_declaration,
    silence,
    swallowed,
)
from asterism.languages.c_family.declarators import (
    ACCESS,
    RECORDS,
    Declarator,
    access,
    attributes_of,
    declared,
    define_tagged,
    misread_block,
    modifiers_of,
    name_attributes,
)

if TYPE_CHECKING:
    from tree_sitter import Node

# A macro call in place of a function's name is quoted no longer than this.
MACRO_NAME_LIMIT = 60


def function(builder: Builder, node: Node) -> bool:
    """A function with its body."""
    if node.start_byte not in builder.consumed:
        define_function(builder, node, node)
    return True


def define_function(builder: Builder, outer: Node, node: Node) -> None:
    """A function, method or constructor; `outer` is the template around it, or itself."""
    silence(builder, node)
    found = before_macro(builder, node) or declared(builder, node.child_by_field_name("declarator"))
    body = node.child_by_field_name("body")
    if swallowed(builder, node):
        builder.damaged()
        return
    if found is None or not found.is_function:
        if body is not None and not _define_macro_block(builder, outer, node, found, body):
            misread_block(builder, outer, body)
        return
    kind = _callable_kind(builder, node, found)
    if kind is None and body is not None and continued(builder, node, body):
        return
    if kind is None and found.function is not None:
        # `TEST(suite, name) { … }`: the macro call is all the name there is.
        kind = "function"
        found = found._replace(name=fold(builder.text(found.function), MACRO_NAME_LIMIT))
    if kind is None:
        return
    initializers = next(children_of(node, "field_initializer_list"), None)
    _define(
        builder,
        outer,
        node,
        kind,
        found,
        body=body,
        signature_end=None if initializers is None else initializers.start_byte,
    )


def _define_macro_block(
    builder: Builder, outer: Node, node: Node, found: Declarator | None, body: Node
) -> bool:
    """`TEST(name) { … }`, which looks like a declaration of `(name)`."""
    declarator = node.child_by_field_name("declarator")
    if found is None or declarator is None or declarator.type != "parenthesized_declarator":
        return False
    head = builder.source[node.start_byte : declarator.end_byte].decode("utf-8", "replace")
    name = fold(head, MACRO_NAME_LIMIT)
    _define(builder, outer, node, "function", found._replace(name=name), body=body)
    return True


def declaration(builder: Builder, node: Node) -> bool:
    """Variables, fields, prototypes."""
    broken = enclosing_function(builder, node)
    if broken is not None:
        builder.extend(broken, node)
    if node.start_byte not in builder.consumed:
        define_declaration(builder, node, node)
    return True


def define_declaration(builder: Builder, outer: Node, node: Node) -> None:
    """One symbol per declarator; inside functions a local per declarator."""
    silence(builder, node)
    parts = node.children_by_field_name("declarator")
    if builder.level is Level.FUNCTION:
        for part in parts:
            if not _define_lambda(builder, node, node, part):
                bind_declarator(builder, part)
        return
    if is_no_declaration(builder, node):
        return
    if len(parts) == 1 and _define_lambda(builder, outer, node, parts[0]):
        return
    record = _record_in(node)
    if record is None and len(parts) == 1:
        found = (
            before_macro(builder, node)
            or displaced(builder, parts[0])
            or declared(builder, parts[0])
        )
        kind = _kind(builder, node, found)
        if found is not None and kind is not None:
            value = _value(node, parts[0])
            if found.is_function and value is not None and value.type == "initializer_list":
                # A body that does not parse looks like an initialiser.
                _define(builder, outer, node, kind, found, body=value)
            else:
                end = value_cut(node, value)
                _define(builder, outer, node, kind, found, signature_end=end)
        return
    if record is not None and record.child_by_field_name("name") is not None:
        define_tagged(builder, record, record)
    _define_parts(builder, node, parts, record, None)


def type_definition(builder: Builder, node: Node) -> bool:
    """`typedef`: a type, or a record whose name may differ from its tag."""
    parts = node.children_by_field_name("declarator")
    record = _record_in(node)
    if record is None and builder.level is Level.FUNCTION:
        for part in parts:
            bind_declarator(builder, part)
    elif record is None and len(parts) == 1:
        found = declared(builder, parts[0])
        if found is not None:
            _define(builder, node, node, "type", found)
    else:
        tag = None if record is None else record.child_by_field_name("name")
        if record is not None and tag is not None:
            define_tagged(builder, node, record)
            known = builder.text(tag)
            parts = [part for part in parts if builder.text(part) != known]
        _define_parts(builder, node, parts, record, "type")
    return True


def parameter(builder: Builder, node: Node) -> bool:
    """A parameter binds the name its declarator declares."""
    bind_declarator(builder, node.child_by_field_name("declarator"))
    return True


def bind_declarator(builder: Builder, declarator: Node | None) -> None:
    """Take the declared name as a local."""
    found = declared(builder, declarator)
    if found is not None and not found.scope:
        builder.bind(found.node)


def _define(
    builder: Builder,
    outer: Node,
    node: Node,
    kind: str,
    found: Declarator,
    **parts: Unpack[SymbolParts],
) -> Draft:
    """One declared name over the range of `outer`, with the modifiers written at `node`."""
    attributes = attributes_of(node)
    parts["name_node"], parts["owner"], parts["decorators"] = found.node, found.scope, attributes
    parts["modifiers"] = [*access(builder), *modifiers_of(builder, node, found)]
    draft = builder.define(outer, kind, found.name, **parts)
    if kind == "method" and "friend" in draft.modifiers:
        # A friend is a function of the namespace, whichever section declares it.
        draft.kind = "function"
        draft.modifiers[:] = [word for word in draft.modifiers if word not in ACCESS]
    return name_attributes(builder, draft, attributes)


def _define_parts(
    builder: Builder, node: Node, parts: list[Node], record: Node | None, kind: str | None
) -> None:
    """Several declarators of one declaration, or one after a record's closing brace."""
    holder: Draft | None = None
    nameless = record is not None and record.child_by_field_name("name") is None
    for part in parts:
        found = declared(builder, part)
        word = kind or _kind(builder, node, found)
        if found is None or word is None:
            continue
        holds = nameless and holder is None and record is not None
        draft = _define(
            builder,
            node if holds else part,
            node,
            word,
            found,
            body=record.child_by_field_name("body") if holds and record is not None else None,
            level=Level.TYPE if holds else Level.FUNCTION,
            opens=False,
        )
        draft.signature = _spelled(builder, node, part, record)
        if holds and record is not None:
            builder.consumed.add(record.start_byte)
            holder = draft
    if holder is not None:
        # Its members are read only now, so that they come after the names beside it.
        builder.extend(holder, node)


def _define_lambda(builder: Builder, outer: Node, node: Node, part: Node) -> bool:
    """`auto name = [] { … };` is a function."""
    value = _value(node, part)
    found = declared(builder, part)
    if value is None or found is None or value.type != "lambda_expression":
        return False
    builder.consumed.add(value.start_byte)
    _define(builder, outer, node, "function", found, body=value.child_by_field_name("body"))
    return True


def _callable_kind(builder: Builder, node: Node, found: Declarator) -> str | None:
    """Function, method or constructor; None for a macro call that only looks like a prototype."""
    owner = found.scope[-1] if found.scope else None
    if owner is None and builder.level is Level.TYPE and builder.owner is not None:
        owner = builder.owner.name
    if owner is not None and found.name == owner:
        return "constructor"
    if node.child_by_field_name("type") is None and found.node.type.endswith("identifier"):
        return "method" if found.scope else None
    return "function" if owner is None else "method"


def _kind(builder: Builder, node: Node, found: Declarator | None) -> str | None:
    if found is None:
        return None
    if found.is_function:
        return _callable_kind(builder, node, found)
    kind = node.child_by_field_name("type")
    if kind is not None and node.start_byte == kind.start_byte and builder.text(kind) == "using":
        # An alias, in a class the grammar misread.
        return "type"
    if builder.level is Level.TYPE or found.scope:
        return None if _is_initializer(node) else "property"
    if kind is not None and kind.type == "class_specifier" and kind.named_child_count == 1:
        # `class EXPORT Name;`: the macro was taken for the class, the class for a variable.
        return "class"
    words = modifiers_of(builder, node, found)
    return "const" if "const" in words or "constexpr" in words else "variable"


def _is_initializer(node: Node) -> bool:
    """`x(a) {}` in a class the grammar misread: the end of a constructor's head, no field."""
    part = node.child_by_field_name("declarator")
    inner = None if part is None else part.child_by_field_name("declarator")
    is_value = part is not None and part.type == "init_declarator"
    return is_value and inner is not None and inner.type == "parenthesized_declarator"


def _record_in(node: Node) -> Node | None:
    """The record with a body that a declaration's type is."""
    kind = node.child_by_field_name("type")
    if kind is None or kind.type not in RECORDS:
        return None
    return kind if kind.child_by_field_name("body") is not None else None


def _value(node: Node, part: Node) -> Node | None:
    """What a declarator is initialised with."""
    return part.child_by_field_name("value") or (
        node.child_by_field_name("default_value") or node.child_by_field_name("value")
    )


def _spelled(builder: Builder, node: Node, part: Node, record: Node | None) -> str:
    """The declaration as if it declared this name alone, a record's body left out."""
    source = builder.source
    first = node.child_by_field_name("declarator") or part
    body = None if record is None else record.child_by_field_name("body")
    if body is None or record is None:
        lead = source[node.start_byte : first.start_byte]
    else:
        hole = b" { \xe2\x80\xa6 } " if record.child_by_field_name("name") is None else b" "
        lead = source[node.start_byte : body.start_byte].rstrip() + hole
    end = value_cut(part, part.child_by_field_name("value"))
    text = lead + source[part.start_byte : part.end_byte if end is None else end]
    return fold(text.decode("utf-8", "replace")).removesuffix("=").rstrip()
