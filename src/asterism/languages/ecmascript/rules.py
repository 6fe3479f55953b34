"""JavaScript and TypeScript, with JSX: one set of rules over three grammars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder, last_row
from asterism.analysis.syntax.draft import Comment, Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import (
    binds,
    binds_children,
    child_of,
    definition,
    marks,
    prefix,
    silent,
    value_cut,
)
from asterism.analysis.syntax.text import Conventions, first_named
from asterism.languages.ecmascript import assignments, modules, names, values
from asterism.languages.ecmascript.names import property_name
from asterism.languages.ecmascript.repairs import repaired
from asterism.types.outline import Export

if TYPE_CHECKING:
    from tree_sitter import Node

CONVENTIONS = Conventions(
    identifiers=frozenset(
        {
            *("identifier", "type_identifier", "property_identifier"),
            *("private_property_identifier", "shorthand_property_identifier"),
        }
    ),
    comments=frozenset({"comment", "html_comment", "hash_bang_line"}),
    skipped=frozenset({"string", "regex", "number", "jsx_text", "jsx_closing_element"}),
    members={
        "member_expression": ("object", "property"),
        "nested_identifier": ("object", "property"),
        "nested_type_identifier": ("module", "name"),
    },
    statements=dict.fromkeys(
        (
            *("if_statement", "for_statement", "for_in_statement", "while_statement"),
            *("do_statement", "try_statement", "switch_statement", "labeled_statement"),
            *("throw_statement", "return_statement", "statement_block", "with_statement"),
            "debugger_statement",
        ),
        "control",
    ),
    modifiers=frozenset(
        {
            *("async", "static", "abstract", "readonly", "declare", "accessor", "get", "set"),
            *("accessibility_modifier", "override_modifier"),
        }
    ),
    decorators=frozenset({"decorator"}),
    pattern_first=frozenset({"assignment_pattern", "object_assignment_pattern"}),
    pattern_last=frozenset({"pair_pattern"}),
    pattern_stops=frozenset({"type_annotation", "computed_property_name", "member_expression"}),
    doc_gap=1,
    terminators=(";", "="),
)


def _after_function(builder: Builder, node: Node, draft: Draft) -> None:
    if node.type == "generator_function_declaration":
        draft.modifiers.append("generator")


def _enum(builder: Builder, node: Node) -> bool:
    """An enum and its members, which are bare names in its body."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None:
        return True
    const = any(child.type == "const" for child in node.children)
    builder.define(
        node,
        "enum",
        builder.text(name),
        name_node=name,
        body=body,
        level=Level.TYPE,
        modifiers=("const",) if const else (),
    )
    for member in body.named_children if body is not None else ():
        if member.type == "comment":
            # The walk meets it only after the members have been read.
            row = member.start_point[0]
            builder.comments.append(
                Comment(member.start_byte, member.end_byte, row, last_row(member))
            )
            continue
        label = member.child_by_field_name("name") or member
        if label.type in ("property_identifier", "string", "computed_property_name"):
            builder.define(
                member, "enum_member", property_name(builder, label), name_node=label, opens=False
            )
    return True


def _namespace(builder: Builder, node: Node) -> bool:
    """`namespace A.B { … }` and `declare module 'x' { … }`."""
    name = node.child_by_field_name("name")
    if name is None:
        return True
    pending = [name]
    while pending:
        part = pending.pop()
        builder.defined.add(part.start_byte)
        pending.extend(part.named_children)
    builder.define(
        node,
        "namespace",
        property_name(builder, name),
        name_node=name,
        body=node.child_by_field_name("body"),
        level=Level.MODULE,
    )
    return True


def _ambient(builder: Builder, node: Node) -> bool:
    """`declare …`: a modifier of what it declares; `declare global { … }` is a namespace."""
    block = child_of("statement_block")(node)
    if block is None:
        builder.wrap(node, ("declare",))
        return True
    builder.define(
        node, "namespace", "global", body=block, level=Level.MODULE, modifiers=("declare",)
    )
    return True


def _declarator(builder: Builder, node: Node) -> bool:
    """A variable, which may be given to `module.exports` in the same breath."""
    values.declarator(builder, node)
    if builder.source.find(b"exports", node.start_byte, node.end_byte) >= 0:
        assignments.exported_variable(builder, node)
    return True


def _signature_member(label: str) -> Rule:
    """A call, construct or index signature: a member without a name of its own."""

    def rule(builder: Builder, node: Node) -> bool:
        key = node.child_by_field_name("name")
        if key is not None:
            builder.defined.add(key.start_byte)
        is_mapped = key is None and child_of("mapped_type_clause")(node) is not None
        if (builder.is_member or _in_class_body(builder)) and not is_mapped:
            modifiers, _ = marks(builder, node)
            name = label if key is None else f"[{builder.text(key)}]"
            builder.define(node, "signature", name, modifiers=modifiers)
        return True

    return rule


def _member_signature(builder: Builder, node: Node) -> bool:
    """A property or method without a body, in an interface, an object type or a class."""
    name = node.child_by_field_name("name")
    if name is None:
        return True
    builder.defined.add(name.start_byte)
    if builder.is_member or (builder.level is Level.TYPE and _in_class_body(builder)):
        modifiers, decorators = marks(builder, node)
        text = property_name(builder, name)
        kind = "property" if node.type == "property_signature" else "method"
        if text == "constructor" and _in_class_body(builder):
            kind = "constructor"
        builder.define(
            node,
            kind,
            text,
            name_node=name,
            modifiers=modifiers,
            decorators=decorators,
            signature_end=value_cut(node, node.child_by_field_name("type")),
        )
    return True


def _in_class_body(builder: Builder) -> bool:
    return builder.parent is not None and builder.parent.type == "class_body"


def _type_alias(builder: Builder, node: Node) -> bool:
    """A type; where it is an object type its members are symbols, as an interface's are."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None:
        return True
    members = value is not None and value.type == "object_type"
    builder.define(
        node,
        "type",
        builder.text(name),
        name_node=name,
        level=Level.TYPE if members else Level.FUNCTION,
        # A long object type is listed by its members; any other type is its own signature.
        signature_end=value_cut(node, value) if members else None,
    )
    return True


def _decorator(builder: Builder, node: Node) -> bool:
    """In a class body a decorator stands before its member, elsewhere inside what it marks."""
    return prefix(builder, node) if _in_class_body(builder) else True


def _empty(builder: Builder, _node: Node) -> bool:
    """A stray semicolon is part of the line it stands on."""
    builder.claimed = True
    return False


def _loop(builder: Builder, node: Node) -> bool:
    """`for (const x of y)` binds `x`; `for (x of y)` only uses it."""
    if builder.at_statement:
        builder.root_item(node, "control")
    if node.child_by_field_name("kind") is not None:
        builder.bind(node.child_by_field_name("left"))
    return True


def _class(builder: Builder, node: Node) -> bool:
    """A class, unless its export statement has been taken for it already."""
    return True if node.start_byte in builder.consumed else _PLAIN_CLASS(builder, node)


def _type_query(builder: Builder, node: Node) -> bool:
    """`typeof a.b.c`: here the grammar mixes up which part of a member access is which."""
    inner = first_named(node)
    while inner is not None and inner.type == "member_expression":
        receiver, name = first_named(inner), inner.named_child(inner.named_child_count - 1)
        if receiver is not None and name is not None:
            builder.member(receiver, name)
        inner = receiver
    return modules.import_type(builder, node)


def _infer(builder: Builder, node: Node) -> bool:
    """`infer T extends U` binds `T`."""
    builder.bind(first_named(node))
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    if "exported" in draft.modifiers:
        return True
    if draft.name in builder.public and (draft.depth == 0 or _in_exports(draft, builder)):
        draft.modifiers.insert(0, "exported")
        return True
    return False


def _in_exports(draft: Draft, builder: Builder) -> bool:
    """Whether a method stands directly in `module.exports = { … }`."""
    parent = builder.drafts[draft.parent] if draft.parent is not None else None
    return parent is not None and parent.kind == "export" and len(draft.path) == 1


# What may hold code without being code: its signature ends before its value.
_VALUES = frozenset({"const", "variable", "property"})


def _finish(builder: Builder) -> None:
    """Exports of declarations, components, and signatures without the code of children."""
    listed = {(export.name, export.line) for export in builder.exports}
    named = {export.name for export in builder.exports if export.module is None}
    for draft in builder.drafts:
        if draft.depth == 0 and "exported" in draft.modifiers:
            name = "default" if "default" in draft.modifiers else draft.name
            line = draft.start_row + 1
            # Overloads and merged declarations are one export.
            if name not in named and ("=", line) not in listed and (name, line) not in listed:
                builder.declare_export(name, draft)
                named.add(name)
        if draft.kind in ("function", "class"):
            heritage = draft.signature.partition(" extends ")[2] if draft.kind == "class" else ""
            if (draft.jsx and draft.name[:1].isupper()) or "Component" in heritage:
                draft.tags.append("component")
        elif draft.children and draft.body is None and draft.kind in _VALUES:
            draft.signature = draft.signature.partition(" = ")[0]
    unique: dict[tuple[str, str, str | None], Export] = {}
    for export in builder.exports:
        unique.setdefault((export.name, export.local, export.module), export)
    builder.exports[:] = sorted(unique.values(), key=lambda export: export.line)


_PLAIN_CLASS = definition("class", level=Level.TYPE)
_FUNCTION = definition("function", after=_after_function)

RULES: dict[str, Rule] = {
    "import_statement": modules.import_statement,
    "import_alias": modules.import_alias,
    "export_statement": modules.export_statement,
    "call_expression": modules.call_expression,
    "function_declaration": _FUNCTION,
    "generator_function_declaration": _FUNCTION,
    "function_signature": modules.function_signature,
    "class_declaration": _class,
    "abstract_class_declaration": _class,
    "interface_declaration": definition("interface", level=Level.TYPE),
    "type_alias_declaration": _type_alias,
    "enum_declaration": _enum,
    "internal_module": _namespace,
    "module": _namespace,
    "ambient_declaration": _ambient,
    "expression_statement": assignments.statement,
    "empty_statement": _empty,
    "lexical_declaration": values.declaration,
    "variable_declaration": values.declaration,
    "using_declaration": values.declaration,
    "variable_declarator": _declarator,
    "method_definition": values.method_definition,
    "public_field_definition": values.field_definition,
    "field_definition": values.field_definition,
    "method_signature": _member_signature,
    "abstract_method_signature": _member_signature,
    "property_signature": _member_signature,
    "call_signature": _signature_member("()"),
    "construct_signature": _signature_member("new()"),
    "index_signature": _signature_member("[]"),
    "pair": values.pair,
    "arrow_function": values.arrow,
    "function_expression": values.function,
    "generator_function": values.function,
    "class": values.class_expression,
    "class_static_block": values.scope,
    "nested_type_identifier": modules.import_type,
    "nested_identifier": modules.import_type,
    "decorator": _decorator,
    "required_parameter": values.parameter,
    "optional_parameter": values.parameter,
    "formal_parameters": values.parameters,
    "rest_pattern": binds_children,
    "catch_clause": binds("parameter"),
    "for_in_statement": _loop,
    "type_parameter": binds("name"),
    "mapped_type_clause": binds("name"),
    "type_query": _type_query,
    "infer_type": _infer,
    "pair_pattern": silent("key"),
    "export_specifier": silent("alias"),
    "labeled_statement": silent("label"),
    "jsx_element": names.element,
    "jsx_self_closing_element": names.element,
    "jsx_attribute": names.attribute,
    "jsx_namespace_name": names.namespaced,
}


# In TypeScript every parameter has a node of its own, so there is nothing to look for in the list.
_TYPED_RULES = {kind: rule for kind, rule in RULES.items() if kind != "formal_parameters"}


def _language(
    name: str, package: str, function: str, rules: dict[str, Rule] = _TYPED_RULES
) -> Language:
    return Language(
        name, (package, function), CONVENTIONS, rules, _exported, _finish, repaired=repaired
    )


JAVASCRIPT = _language("javascript", "tree_sitter_javascript", "language", RULES)
TYPESCRIPT = _language("typescript", "tree_sitter_typescript", "language_typescript")
TSX = _language("typescript", "tree_sitter_typescript", "language_tsx")
