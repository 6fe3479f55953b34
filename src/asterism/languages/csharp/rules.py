"""C#: namespaces, types and their members, accessors, local functions, top-level statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from asterism.analysis.syntax.builder import Builder, SymbolParts
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import (
    binds,
    binds_children,
    child_of,
    children_of,
    marks,
    silence,
    silent,
    value_cut,
)
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.csharp import names
from asterism.languages.csharp.names import plain
from asterism.languages.shared import callback_name, declare_exports, is_local, spans_lines

if TYPE_CHECKING:
    from tree_sitter import Node

_CONTROL = (
    *("if_statement", "for_statement", "foreach_statement", "while_statement", "do_statement"),
    *("switch_statement", "try_statement", "using_statement", "lock_statement"),
    *("return_statement", "throw_statement", "block"),
)

_DIRECTIVES = (
    *("preproc_region", "preproc_endregion", "preproc_define", "preproc_undef", "preproc_pragma"),
    *("preproc_nullable", "preproc_line", "preproc_error", "preproc_warning"),
    *("extern_alias_directive", "global_attribute"),
)

CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier"}),
    comments=frozenset({"comment", "shebang_directive"}),
    skipped=frozenset(
        {
            *("string_literal", "verbatim_string_literal", "raw_string_literal"),
            *("character_literal", "integer_literal", "real_literal"),
        }
    ),
    members={
        "member_access_expression": ("expression", "name"),
        "qualified_name": ("qualifier", "name"),
        "alias_qualified_name": ("alias", "name"),
    },
    modifiers=frozenset({"modifier"}),
    decorators=frozenset({"attribute_list"}),
    doc_prefixes=("///", "/**"),
    gap_kind="directive",
    terminators=(";", "="),
)


def _attributes(builder: Builder, lists: list[Node]) -> list[str]:
    """The names in `[A, B(1)]`, each of them."""
    found = (part for group in lists for part in children_of(group, "attribute"))
    return [builder.field_text(part, "name") or "" for part in found]


def _define(
    builder: Builder, node: Node, kind: str, name: Node | str, **parts: Unpack[SymbolParts]
) -> Draft:
    parts["modifiers"], lists = marks(builder, node)
    parts["decorators"] = lists
    if not isinstance(name, str):
        parts["name_node"], name = name, builder.text(name)
    draft = builder.define(node, kind, name, **parts)
    if lists:
        draft.decorators = _attributes(builder, lists)
    return draft


def _declaration(
    kind: str,
    level: Level = Level.FUNCTION,
    label: Callable[[Builder, Node, Node | None], Node | str | None] | None = None,
) -> Rule:
    """A declaration with a name and a body, or a label made of other parts."""

    def rule(builder: Builder, node: Node) -> bool:
        found = node.child_by_field_name("name")
        name = label(builder, node, found) if label is not None else found
        if name is None or (not isinstance(name, str) and name.is_missing):
            return True
        _define(builder, node, kind, name, body=node.child_by_field_name("body"), level=level)
        if found is not None:
            builder.defined.add(found.start_byte)
        return True

    return rule


def _namespace(builder: Builder, node: Node) -> bool:
    """`namespace A.B { … }`."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is not None:
        builder.define(
            node, "namespace", builder.text(name), name_node=name, body=body, level=Level.MODULE
        )
        silence(builder, name)
    return True


def _file_namespace(builder: Builder, node: Node) -> bool:
    """`namespace A.B;`: its declarations are its siblings in the tree."""
    if builder.at_statement:
        builder.root_item(node, "package")
    name = node.child_by_field_name("name")
    if name is not None:
        silence(builder, name)
    return True


def _accessor_body(node: Node) -> Node | None:
    """The accessors, where one has code of its own, or the expression after `=>`."""
    accessors, value = node.child_by_field_name("accessors"), node.child_by_field_name("value")
    if accessors is not None:
        has_code = any(part.child_by_field_name("body") for part in accessors.named_children)
        return accessors if has_code else None
    return value if value is not None and value.type == "arrow_expression_clause" else None


def _property(builder: Builder, node: Node) -> bool:
    """A property, an indexer or an event with accessors."""
    name: Node | str | None = node.child_by_field_name("name")
    if node.type == "indexer_declaration":
        name = "this[]"
    if name is None:
        return True
    kind = "event" if node.type == "event_declaration" else "property"
    body = _accessor_body(node)
    end = value_cut(node, node.child_by_field_name("value")) if body is None else None
    draft = _define(builder, node, kind, name, body=body, signature_end=end)
    draft.bind("value")
    return True


def _operator_name(builder: Builder, node: Node, _name: Node | None) -> str | None:
    """`operator +`, `operator int`."""
    kind = builder.field_text(node, "operator")
    if node.type == "conversion_operator_declaration":
        kind = builder.field_text(node, "type")
    return f"operator {fold(kind)}" if kind else None


def _destructor_name(builder: Builder, _node: Node, name: Node | None) -> str | None:
    return f"~{builder.text(name)}" if name is not None else None


def _declarators(node: Node) -> list[Node]:
    declaration = child_of("variable_declaration")(node)
    return list(children_of(declaration, "variable_declarator")) if declaration else []


def _field(builder: Builder, node: Node) -> bool:
    """A field or event: a symbol, or one for each of several declarators."""
    found = _declarators(node)
    if len(found) == 1:
        name = found[0].child_by_field_name("name")
        if name is not None:
            value = found[0].named_children[-1]
            end = value_cut(node, value if value != name else None)
            _define(builder, node, _field_kind(node), name, signature_end=end)
    return True


def _field_kind(node: Node) -> str:
    if node.type == "event_field_declaration":
        return "event"
    constant = any(part.text == b"const" for part in children_of(node, "modifier"))
    return "const" if constant else "property"


def _declarator(builder: Builder, node: Node) -> bool:
    """One variable: a local in code; of several fields in one declaration, a symbol."""
    name = node.child_by_field_name("name")
    if name is None or builder.level is not Level.TYPE:
        target = name or child_of("tuple_pattern")(node)
        if target is not None and target.start_byte not in builder.defined:
            builder.bind(target)
        return True
    declaration = node.parent
    statement = declaration.parent if declaration is not None else None
    if declaration is None or statement is None:
        return True
    modifiers, lists = marks(builder, statement)
    draft = builder.define(
        node, _field_kind(statement), builder.text(name), name_node=name, modifiers=modifiers
    )
    draft.decorators = _attributes(builder, lists)
    kind = declaration.child_by_field_name("type")
    end = kind.end_byte if kind is not None else declaration.start_byte
    text = builder.signature(statement, statement.start_byte, end, lists)
    draft.signature = f"{text} {draft.signature}"
    return True


def _parameter(builder: Builder, node: Node) -> bool:
    """A parameter binds a local; in a record's header it is a property."""
    name, owner = node.child_by_field_name("name"), builder.owner
    if name is None:
        return True
    if owner is not None and owner.kind == "record" and builder.level is Level.TYPE:
        _define(builder, node, "property", name)
    else:
        builder.bind(name)
    return True


def _global_statement(builder: Builder, node: Node) -> bool:
    """A top-level statement: a function, a variable, or a root item."""
    inner = node.named_children[0] if node.named_child_count else None
    if inner is None or not builder.at_statement:
        return True
    if inner.type == "local_function_statement":
        builder.wrap(node)
        return True
    found = _declarators(inner) if inner.type == "local_declaration_statement" else []
    labels = [name for part in found if (name := part.child_by_field_name("name")) is not None]
    for name in labels:
        builder.define(
            node,
            "variable",
            builder.text(name),
            name_node=name,
            signature_end=value_cut(node, found[-1].named_children[-1]),
            opens=name == labels[-1],
        )
    if not labels:
        builder.root_item(node, "control" if inner.type in _CONTROL else "expression")
    return True


def _lambda(builder: Builder, node: Node) -> bool:
    """A function value: a symbol where it is a block given to a call."""
    body = node.child_by_field_name("body") or child_of("block")(node)
    argument = node.parent
    if body is None or body.type != "block" or not spans_lines(body) or argument is None:
        return True
    group = argument.parent if argument.type == "argument" else None
    if group is not None and group.type == "argument_list" and group.parent is not None:
        name = _callback_name(builder, group.parent, group)
        modifiers, _ = marks(builder, node)
        builder.define(node, "function", name, body=body, modifiers=modifiers)
    return True


def _callback_name(builder: Builder, call: Node, group: Node) -> str:
    callee = call.child_by_field_name("function") or call.child_by_field_name("type")
    first = group.named_children[0].named_children
    title = builder.text(first[0]) if first and first[0].type == "string_literal" else ""
    if callee is None:
        return callback_name("", "new" if call.type.startswith("implicit") else "base", title)
    receiver = ""
    if callee.type == "member_access_expression":
        receiver = builder.field_text(callee, "expression") or ""
        callee = callee.child_by_field_name("name") or callee
    return callback_name(receiver, builder.text(callee), title)


def _exported(draft: Draft, builder: Builder) -> bool:
    """Public by keyword, or by default as members of interfaces and enums are."""
    if is_local(builder, draft):
        return False
    if "public" in draft.modifiers or draft.kind in ("enum_member", "namespace"):
        return True
    owner = builder.drafts[draft.parent] if draft.parent is not None else None
    if owner is None:
        return False
    if owner.kind == "record" and draft.kind == "property":
        # Members that the record's header declares, not its body.
        return owner.body is None or draft.end <= owner.body.start
    hidden = {"private", "protected", "internal"}
    return owner.kind == "interface" and not hidden.intersection(draft.modifiers)


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        if draft.doc is not None:
            draft.doc = plain(draft.doc)
    declare_exports(_exported)(builder)


RULES: dict[str, Rule] = {
    "using_directive": names.using_directive,
    **dict.fromkeys(_DIRECTIVES, names.directive),
    "preproc_if": names.conditional,
    "preproc_elif": names.conditional,
    "preproc_else": names.conditional,
    "namespace_declaration": _namespace,
    "file_scoped_namespace_declaration": _file_namespace,
    "class_declaration": _declaration("class", Level.TYPE),
    "struct_declaration": _declaration("struct", Level.TYPE),
    "record_declaration": _declaration("record", Level.TYPE),
    "interface_declaration": _declaration("interface", Level.TYPE),
    "enum_declaration": _declaration("enum", Level.TYPE),
    "enum_member_declaration": _declaration("enum_member"),
    "delegate_declaration": _declaration("delegate"),
    "method_declaration": _declaration("method"),
    "constructor_declaration": _declaration("constructor"),
    "destructor_declaration": _declaration("method", label=_destructor_name),
    "operator_declaration": _declaration("method", label=_operator_name),
    "conversion_operator_declaration": _declaration("method", label=_operator_name),
    "local_function_statement": _declaration("function"),
    "property_declaration": _property,
    "indexer_declaration": _property,
    "event_declaration": _property,
    "field_declaration": _field,
    "event_field_declaration": _field,
    "variable_declarator": _declarator,
    "global_statement": _global_statement,
    "lambda_expression": _lambda,
    "anonymous_method_expression": _lambda,
    "implicit_parameter": names.implicit_parameter,
    "parameter": _parameter,
    "parameter_list": names.parameter_list,
    "type_parameter": binds("name"),
    "catch_declaration": binds("name"),
    "foreach_statement": binds("left"),
    "declaration_expression": binds("name"),
    "declaration_pattern": binds("name"),
    "recursive_pattern": binds("name"),
    "var_pattern": binds_children,
    "parenthesized_variable_designation": binds_children,
    "tuple_pattern": binds_children,
    "from_clause": binds("name"),
    "let_clause": names.binds_first,
    "join_clause": names.binds_first,
    "join_into_clause": names.binds_first,
    "argument": silent("name"),
    "attribute_argument": silent("name"),
    "tuple_element": silent("name"),
    "subpattern": names.silent_first,
    "with_initializer": names.silent_first,
    "labeled_statement": names.silent_first,
    "goto_statement": names.silent_first,
    "conditional_access_expression": names.conditional_access,
}

CSHARP = Language(
    "csharp", ("tree_sitter_c_sharp", "language"), CONVENTIONS, RULES, _exported, _finish
)
