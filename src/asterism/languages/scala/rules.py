"""Scala 2 and 3: types, objects, definitions, givens, extensions, enums, packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import (
    binds,
    binds_children,
    child_of,
    children_of,
    definition,
    marks,
    root,
    value_cut,
)
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.scala import names
from asterism.languages.scala.names import laid_out
from asterism.languages.shared import (
    callback_name,
    declare_exports,
    declare_parameter,
    is_local,
    spans_lines,
)
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Node

# The grammar takes these for names; no declaration in another file is meant by them. A star that
# stands alone is the hole in a type, as in `Either[A, *]`.
_KEYWORDS = frozenset({"this", "super", "*"})

# Interpolators every file has; another one is a name that was imported.
_INTERPOLATORS = frozenset({b"s", b"f", b"raw"})

CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier", "type_identifier", "operator_identifier"}),
    comments=frozenset({"comment", "block_comment"}),
    skipped=frozenset(
        {
            *("string", "character_literal", "integer_literal", "floating_point_literal"),
            *("end_marker", "access_modifier"),
        }
    ),
    members={"field_expression": ("value", "field"), "infix_expression": ("left", "operator")},
    statements=dict.fromkeys(
        (
            *("if_expression", "match_expression", "try_expression", "for_expression"),
            *("while_expression", "do_while_expression", "throw_expression"),
        ),
        "control",
    ),
    modifiers=frozenset(
        {
            *("abstract", "case", "final", "implicit", "lazy", "override", "sealed"),
            *("access_modifier", "erased_modifier", "infix_modifier", "inline_modifier"),
            *("into_modifier", "opaque_modifier", "open_modifier", "tracked_modifier"),
            "transparent_modifier",
        }
    ),
    modifier_groups=frozenset({"modifiers"}),
    decorators=frozenset({"annotation"}),
    terminators=(";", "=", ":"),
)


def _package(builder: Builder, node: Node) -> bool:
    """`package a.b`, or with a body a namespace of its own."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None:
        return True
    if body is None:
        if builder.at_statement:
            builder.root_item(node, "package")
        return False
    builder.defined.update(part.start_byte for part in name.named_children)
    builder.define(
        node, "namespace", builder.text(name), name_node=name, body=body, level=Level.MODULE
    )
    return True


def _function_kind(builder: Builder, node: Node) -> str:
    if builder.level is not Level.TYPE:
        return "function"
    return "constructor" if builder.field_text(node, "name") == "this" else "method"


def _value(builder: Builder, node: Node) -> bool:
    """`val` and `var`: a symbol for each name, inside functions a local."""
    pattern = node.child_by_field_name("pattern") or node.child_by_field_name("name")
    if pattern is None:
        return True
    found = list(names.bound_names(pattern)) or list(children_of(node, "identifier"))
    in_block = builder.owner is not None and builder.owner.is_root
    if builder.level is Level.FUNCTION or in_block:
        names.bind_pattern(builder, pattern)
        return True
    modifiers, decorators = marks(builder, node)
    for name in found:
        builder.define(
            node,
            "property" if builder.level is Level.TYPE else "variable",
            builder.text(name),
            name_node=name,
            modifiers=modifiers,
            decorators=decorators,
            signature_end=value_cut(node, node.child_by_field_name("value")),
            opens=name == found[-1],
        )
    return True


def _class_parameter(builder: Builder, node: Node) -> bool:
    """A constructor's parameter: a property with `val` or `var` or in a case class."""
    name, owner, group = node.child_by_field_name("name"), builder.owner, node.parent
    if name is None or owner is None:
        return True
    before = group.prev_named_sibling if group is not None else None
    first = before is None or before.type != "class_parameters"
    case = first and ("case" in owner.modifiers or owner.kind == "enum_member")
    marked = any(child.type in ("val", "var") for child in node.children)
    return declare_parameter(builder, node, name, is_property=case or marked)


def _cases(builder: Builder, node: Node) -> bool:
    """`case A, B` in an enum: the cases are read when the walk reaches them."""
    modifiers, decorators = marks(builder, node)
    cases = list(children_of(node, "simple_enum_case", "full_enum_case"))
    words = [word for word in modifiers if word != "case"]
    builder.wrap(node, words, decorators, widens=len(cases) == 1)
    return True


def _given(builder: Builder, node: Node) -> bool:
    """`given name: Type with …`, `given Type = …`: an object, or a value."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if builder.level is Level.FUNCTION:
        builder.bind(name)
        return True
    kind = node.child_by_field_name("return_type")
    label = name if name is not None else kind
    if label is None:
        return True
    is_object = body is not None and body.type in ("with_template_body", "template_body")
    value = "property" if builder.level is Level.TYPE else "variable"
    modifiers, decorators = marks(builder, node)
    draft = builder.define(
        node,
        "object" if is_object else value,
        builder.text(label) if name is not None else f"given {fold(builder.text(label))}",
        name_node=name,
        body=body,
        level=Level.TYPE if is_object else Level.FUNCTION,
        modifiers=[*modifiers, "given"],
        decorators=decorators,
    )
    draft.signature = draft.signature.removesuffix(" with")
    return True


def _extension(builder: Builder, node: Node) -> bool:
    """`extension (x: T) def …`: what it extends, with its methods as members."""
    bodies = node.children_by_field_name("body")
    groups = node.children_by_field_name("parameters")
    plain = next((group for group in groups if group.type == "parameters"), None)
    receiver = child_of("parameter")(plain) if plain is not None else None
    kind = receiver.child_by_field_name("type") if receiver is not None else None
    if kind is None or not bodies:
        return True
    head = builder.text(kind).partition("[")[0]
    draft = builder.define(
        node, "extension", fold(head), level=Level.TYPE, signature_end=bodies[0].start_byte
    )
    draft.body = Span(bodies[0].start_byte, draft.end)
    return True


def _instance(builder: Builder, node: Node) -> bool:
    """`new Runnable { … }`: an anonymous class, where it has members."""
    body = child_of("template_body")(node)
    kind = node.named_children[0] if node.named_child_count else None
    if body is not None and body.named_child_count and kind is not None and kind != body:
        head = builder.text(kind).partition("[")[0].partition("(")[0]
        builder.define(node, "class", f"new {fold(head)}", body=body, level=Level.TYPE)
    return True


def _own_modifiers(builder: Builder, node: Node, draft: Draft) -> None:
    """`class A private (x: Int)`: the word behind the name is about the constructor."""
    behind = child_of("access_modifier")(node)
    if behind is not None:
        draft.modifiers.remove(builder.text(behind))


def _whole_name(_builder: Builder, _node: Node, draft: Draft) -> None:
    """`object ==: {`: the end of an operator's name looks like what ends a signature."""
    name, text = draft.name, draft.signature
    if name.endswith((":", "=")) and name not in text:
        left = next(size for size in range(len(name), -1, -1) if text.endswith(name[:size]))
        draft.signature = f"{text[: len(text) - left].rstrip()} {name}"


def _argument_block(builder: Builder, node: Node) -> bool:
    """`test("name") { … }`: a block given to a call, a symbol where it spans lines."""
    call = builder.parent
    if call is None or call.type != "call_expression" or not spans_lines(node):
        return True
    if call.child_by_field_name("arguments") != node:
        return True
    draft = builder.define(node, "function", _callback_name(builder, call), body=node)
    inner = node.named_children[0] if node.named_child_count else None
    head = ""
    if inner is not None and inner.type == "lambda_expression":
        parameters = inner.child_by_field_name("parameters")
        head = f"{builder.text(parameters)} => " if parameters is not None else ""
    draft.signature = fold(f"{{ {head}… }}")
    return True


def _lambda(builder: Builder, node: Node) -> bool:
    """A function value: a symbol if it spans lines and is an argument of a call."""
    around, parameters = node.parent, node.child_by_field_name("parameters")
    body = node.named_children[-1] if node.named_child_count else None
    if around is not None and around.type == "arguments" and body is not None:
        call = around.parent
        if call is not None and call.type == "call_expression" and spans_lines(body):
            draft = builder.define(node, "function", _callback_name(builder, call), body=body)
            draft.signature = draft.signature.rstrip("{ ")
    if parameters is not None and parameters.type == "identifier":
        builder.bind(parameters)
    return True


def _callback_name(builder: Builder, call: Node) -> str:
    callee, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    while callee is not None and callee.type == "call_expression":
        arguments = callee.child_by_field_name("arguments")
        callee = callee.child_by_field_name("function")
    if callee is None:
        return callback_name("", "")
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    title = builder.text(first) if first is not None and first.type == "string" else ""
    receiver = ""
    if callee.type == "field_expression":
        receiver = builder.field_text(callee, "value") or ""
        callee = callee.child_by_field_name("field") or callee
    return callback_name(receiver, builder.text(callee), title)


def _path(builder: Builder, node: Node) -> bool:
    """`a.b.C` in a type or pattern: the last name is looked up on what comes before."""
    if node.named_child_count > 1:
        builder.member(node.named_children[0], node.named_children[-1])
    return True


def _interpolated(builder: Builder, node: Node) -> bool:
    interpolator = node.child_by_field_name("interpolator")
    if interpolator is not None and interpolator.text in _INTERPOLATORS:
        builder.defined.add(interpolator.start_byte)
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    """Public unless private or protected, in whatever scope, or inside a function."""
    hidden = any(word.startswith(("private", "protected")) for word in draft.modifiers)
    return not hidden and not is_local(builder, draft)


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        if draft.parent is None:
            for word in _KEYWORDS:
                draft.bind(word)
        if draft.body is not None and draft.body.end > draft.end:
            # An indented body reaches to the next token, past the blank lines after it.
            draft.body = Span(draft.body.start, draft.end)
    declare_exports(_exported)(builder)


_CASE = definition("enum_member", level=Level.TYPE)
_FUNCTION = definition(_function_kind, after=_whole_name)

RULES: dict[str, Rule] = {
    "package_clause": _package,
    "import_declaration": names.import_declaration,
    "export_declaration": names.export_declaration,
    "using_directive": root("directive"),
    "class_definition": definition("class", level=Level.TYPE, after=_own_modifiers),
    "trait_definition": definition("trait", level=Level.TYPE),
    "object_definition": definition("object", level=Level.TYPE, after=_whole_name),
    "package_object": definition("object", level=Level.TYPE),
    "enum_definition": definition("enum", level=Level.TYPE),
    "enum_case_definitions": _cases,
    "simple_enum_case": _CASE,
    "full_enum_case": _CASE,
    "function_definition": _FUNCTION,
    "function_declaration": _FUNCTION,
    "val_definition": _value,
    "val_declaration": _value,
    "var_definition": _value,
    "var_declaration": _value,
    "type_definition": definition("type"),
    "given_definition": _given,
    "extension_definition": _extension,
    "instance_expression": _instance,
    "block": _argument_block,
    "case_block": _argument_block,
    "lambda_expression": _lambda,
    "class_parameter": _class_parameter,
    "parameter": binds("name"),
    "binding": binds("name"),
    "type_parameters": binds_children,
    "covariant_type_parameter": binds("name"),
    "contravariant_type_parameter": binds("name"),
    "case_clause": names.case_clause,
    "enumerator": names.enumerator,
    "self_type": names.self_type,
    "arguments": names.arguments,
    "stable_identifier": _path,
    "stable_type_identifier": _path,
    "projected_type": _path,
    "interpolated_string_expression": _interpolated,
}

for _kind in (
    *("package_clause", "class_definition", "trait_definition", "object_definition"),
    *("package_object", "enum_definition", "enum_case_definitions", "simple_enum_case"),
    *("full_enum_case", "function_definition", "val_definition", "var_definition"),
    *("given_definition", "extension_definition", "instance_expression", "lambda_expression"),
    "type_definition",
):
    RULES[_kind] = laid_out(RULES[_kind])

SCALA = Language("scala", ("tree_sitter_scala", "language"), CONVENTIONS, RULES, _exported, _finish)
