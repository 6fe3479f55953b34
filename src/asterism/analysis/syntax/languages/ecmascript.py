"""JavaScript and TypeScript, with JSX: one set of rules over three grammars."""

from tree_sitter import Node

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.conventions import Conventions
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.languages import ecmascript_modules as modules
from asterism.analysis.syntax.languages import ecmascript_values as values
from asterism.analysis.syntax.rules import (
    binds,
    binds_children,
    children_of,
    definition,
    marks,
    prefix,
    silent,
    value_cut,
)

CONVENTIONS = Conventions(
    identifiers=frozenset(
        {
            "identifier",
            "type_identifier",
            "property_identifier",
            "private_property_identifier",
            "shorthand_property_identifier",
        }
    ),
    comments=frozenset({"comment", "html_comment", "hash_bang_line"}),
    skipped=frozenset({"string", "regex", "number", "jsx_text", "jsx_closing_element"}),
    members={
        "member_expression": ("object", "property"),
        "nested_identifier": ("object", "property"),
        "nested_type_identifier": ("module", "name"),
    },
    statements={
        kind: "control"
        for kind in (
            "if_statement",
            "for_statement",
            "for_in_statement",
            "while_statement",
            "do_statement",
            "try_statement",
            "switch_statement",
            "labeled_statement",
            "throw_statement",
            "return_statement",
            "statement_block",
            "with_statement",
            "debugger_statement",
        )
    },
    modifiers=frozenset(
        {
            "async",
            "static",
            "abstract",
            "readonly",
            "declare",
            "accessor",
            "get",
            "set",
            "accessibility_modifier",
            "override_modifier",
        }
    ),
    decorators=frozenset({"decorator"}),
    pattern_first=frozenset({"assignment_pattern", "object_assignment_pattern"}),
    pattern_last=frozenset({"pair_pattern"}),
    pattern_stops=frozenset({"type_annotation", "computed_property_name", "member_expression"}),
)


def _after_function(builder: Builder, node: Node, draft: Draft) -> None:
    if node.type == "generator_function_declaration":
        draft.modifiers.append("generator")


def _after_class(builder: Builder, node: Node, draft: Draft) -> None:
    if node.type.startswith("abstract_") and "abstract" not in draft.modifiers:
        draft.modifiers.append("abstract")


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
        label = member.child_by_field_name("name") or member
        if label.type in ("property_identifier", "string", "computed_property_name"):
            builder.define(
                member,
                "enum_member",
                builder.text(label).strip("\"'"),
                name_node=label,
                opens=False,
            )
    return True


def _namespace(builder: Builder, node: Node) -> bool:
    """`namespace A.B { … }` and `declare module 'x' { … }`."""
    name = node.child_by_field_name("name")
    if name is None:
        return True
    builder.defined.update(part.start_byte for part in name.named_children)
    builder.define(
        node,
        "namespace",
        builder.text(name).strip("\"'"),
        name_node=name,
        body=node.child_by_field_name("body"),
        level=Level.MODULE,
    )
    return True


def _ambient(builder: Builder, node: Node) -> bool:
    """`declare …`: a modifier of what it declares; `declare global { … }` is a namespace."""
    block = next(children_of(node, "statement_block"), None)
    if block is None:
        builder.wrap(node, ("declare",))
        return True
    builder.define(
        node, "namespace", "global", body=block, level=Level.MODULE, modifiers=("declare",)
    )
    return True


def _expression(builder: Builder, node: Node) -> bool:
    """An expression statement: sometimes a namespace or an assignment that defines something."""
    inner = node.named_children[0] if node.named_child_count else None
    if inner is not None and inner.type == "internal_module":
        builder.wrap(node)
        return True
    return values.assignment(builder, node)


def _signature_member(label: str) -> Rule:
    """A call, construct or index signature: a member without a name of its own."""

    def rule(builder: Builder, node: Node) -> bool:
        if builder.is_member:
            name = label
            if node.type == "index_signature":
                key = builder.field_text(node, "name") or ""
                name = f"[{key}]"
            builder.define(node, "signature", name)
        binds("name")(builder, node)
        return True

    return rule


def _property_signature(builder: Builder, node: Node) -> bool:
    name = node.child_by_field_name("name")
    if name is None:
        return True
    builder.defined.add(name.start_byte)
    if builder.is_member:
        modifiers, _ = marks(builder, node)
        kind = "property" if node.type == "property_signature" else "method"
        builder.define(
            node,
            kind,
            builder.text(name).strip("\"'"),
            name_node=name,
            modifiers=[*modifiers, *(["abstract"] if node.type.startswith("abstract") else [])],
            signature_end=value_cut(node, node.child_by_field_name("type")),
        )
    return True


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
        signature_end=value_cut(node, value),
    )
    return True


def _jsx(builder: Builder, node: Node) -> bool:
    """Markup: whoever contains it may be a component; a lower-case tag is no reference."""
    for frame in builder.frames:
        if frame.draft is not None:
            frame.draft.jsx = True
    opening = node.child_by_field_name("open_tag") or node
    name = opening.child_by_field_name("name")
    if name is not None and name.type == "identifier" and builder.text(name)[:1].islower():
        builder.defined.add(name.start_byte)
    return True


def _jsx_attribute(builder: Builder, node: Node) -> bool:
    if node.named_children and node.named_children[0].type == "property_identifier":
        builder.defined.add(node.named_children[0].start_byte)
    return True


def _decorator(builder: Builder, node: Node) -> bool:
    """In a class body a decorator stands before its member; elsewhere it is inside what it marks."""
    return prefix(builder, node) if builder.is_member else True


def _arrow(builder: Builder, node: Node) -> bool:
    values.callback(builder, node)
    builder.bind(node.child_by_field_name("parameter"))
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    if "exported" in draft.modifiers:
        return True
    if draft.depth == 0 and draft.name in builder.public:
        draft.modifiers.insert(0, "exported")
        return True
    return False


def _finish(builder: Builder) -> None:
    """Exports of declarations, and which functions and classes are components."""
    listed = {(export.name, export.line) for export in builder.exports}
    for draft in builder.drafts:
        if draft.depth == 0 and "exported" in draft.modifiers:
            name = "default" if "default" in draft.modifiers else draft.name
            line = draft.start_row + 1
            if (name, line) not in listed and ("=", line) not in listed:
                builder.declare_export(name, draft)
        is_code = draft.kind in ("function", "class")
        if is_code and draft.jsx and draft.name[:1].isupper():
            draft.tags.append("component")
        elif draft.kind == "class" and "Component" in draft.signature.partition("extends")[2]:
            draft.tags.append("component")
    builder.exports.sort(key=lambda export: export.line)


_CLASS = definition("class", level=Level.TYPE, after=_after_class)
_FUNCTION = definition("function", after=_after_function)

RULES: dict[str, Rule] = {
    "import_statement": modules.import_statement,
    "import_alias": modules.import_alias,
    "export_statement": modules.export_statement,
    "call_expression": modules.call_expression,
    "function_declaration": _FUNCTION,
    "generator_function_declaration": _FUNCTION,
    "function_signature": _FUNCTION,
    "class_declaration": _CLASS,
    "abstract_class_declaration": _CLASS,
    "interface_declaration": definition("interface", level=Level.TYPE),
    "type_alias_declaration": _type_alias,
    "enum_declaration": _enum,
    "internal_module": _namespace,
    "module": _namespace,
    "ambient_declaration": _ambient,
    "expression_statement": _expression,
    "lexical_declaration": values.declaration,
    "variable_declaration": values.declaration,
    "variable_declarator": values.declarator,
    "method_definition": values.method_definition,
    "public_field_definition": values.field_definition,
    "field_definition": values.field_definition,
    "method_signature": _property_signature,
    "abstract_method_signature": _property_signature,
    "property_signature": _property_signature,
    "call_signature": _signature_member("()"),
    "construct_signature": _signature_member("new()"),
    "index_signature": _signature_member("[]"),
    "pair": values.pair,
    "arrow_function": _arrow,
    "function_expression": values.callback,
    "generator_function": values.callback,
    "class": values.callback,
    "decorator": _decorator,
    "required_parameter": binds("pattern"),
    "optional_parameter": binds("pattern"),
    "formal_parameters": binds_children,
    "rest_pattern": binds_children,
    "catch_clause": binds("parameter"),
    "for_in_statement": binds("left"),
    "type_parameter": binds("name"),
    "pair_pattern": silent("key"),
    "export_specifier": silent("alias"),
    "labeled_statement": silent("label"),
    "jsx_element": _jsx,
    "jsx_self_closing_element": _jsx,
    "jsx_attribute": _jsx_attribute,
}


def _language(name: str, package: str, function: str) -> Language:
    return Language(name, (package, function), CONVENTIONS, RULES, _exported, _finish)


JAVASCRIPT = _language("javascript", "tree_sitter_javascript", "language")
TYPESCRIPT = _language("typescript", "tree_sitter_typescript", "language_typescript")
TSX = _language("typescript", "tree_sitter_typescript", "language_tsx")
