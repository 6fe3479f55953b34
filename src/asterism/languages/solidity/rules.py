"""Solidity: contracts and their members, free functions, imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import binds, definition, silent, value_cut
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.shared import declare_exports, is_local
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

_FIXED = frozenset({"constant", "immutable"})


def _import(builder: Builder, node: Node) -> bool:
    """`import "x"`, `import {A as B} from "x"`, `import * as A from "x"`."""
    source = node.child_by_field_name("source")
    if source is None:
        return True
    module = builder.text(source).strip("\"'")
    names: list[ImportedName] = []
    for index, child in enumerate(node.children):
        field = node.field_name_for_child(index)
        if field == "import_name":
            names.append(ImportedName(builder.text(child)))
        elif field == "alias" and names:
            names[-1] = ImportedName(names[-1].name, builder.text(child))
        elif field == "alias":
            names.append(ImportedName("*", builder.text(child)))
    builder.root_item(node, "import", fold(f"import:{module}"))
    builder.add_import(node, module, names or [ImportedName("*")])
    return False


def _kind(builder: Builder, _node: Node) -> str:
    return "method" if builder.level is Level.TYPE else "function"


def _keyword(kind: str) -> Rule:
    """`constructor`, `receive` and `fallback` have a keyword for a name."""
    return definition(kind, name=lambda node: node.children[0])


def _modifier(_builder: Builder, _node: Node, draft: Draft) -> None:
    draft.modifiers.insert(0, "modifier")


def _variable(builder: Builder, node: Node) -> bool:
    """A variable of a contract or a constant of a file."""
    name = node.child_by_field_name("name")
    if name is None or name.is_missing:
        return True
    modifiers = [
        builder.text(child)
        for child in node.children
        if child.type in _FIXED or child.type in CONVENTIONS.modifiers
    ]
    is_const = "constant" in modifiers or node.type == "constant_variable_declaration"
    builder.define(
        node,
        "const" if is_const else "property",
        builder.text(name),
        name_node=name,
        modifiers=modifiers,
        signature_end=value_cut(node, node.child_by_field_name("value")),
    )
    return True


def _value(builder: Builder, node: Node) -> bool:
    builder.define(node, "enum_member", builder.text(node), name_node=node)
    return False


def _exported(draft: Draft, builder: Builder) -> bool:
    return "private" not in draft.modifiers and not is_local(builder, draft)


CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier"}),
    comments=frozenset({"comment"}),
    skipped=frozenset(
        {"string", "string_literal", "number_literal", "hex_string_literal", "pragma_directive"}
    ),
    members={"member_expression": ("object", "property")},
    statements={"pragma_directive": "directive", "using_directive": "directive"},
    modifiers=frozenset(
        {"visibility", "state_mutability", "virtual", "override_specifier", "abstract"}
    ),
    doc_prefixes=("///", "/**"),
)

RULES: dict[str, Rule] = {
    "import_directive": _import,
    "contract_declaration": definition("class", level=Level.TYPE),
    "library_declaration": definition("class", level=Level.TYPE),
    "interface_declaration": definition("interface", level=Level.TYPE),
    "function_definition": definition(_kind),
    "modifier_definition": definition(_kind, after=_modifier),
    "constructor_definition": _keyword("constructor"),
    "fallback_receive_definition": _keyword("method"),
    "event_definition": definition("event"),
    "error_declaration": definition("type"),
    "enum_declaration": definition("enum", level=Level.TYPE),
    "enum_value": _value,
    "struct_declaration": definition("struct", level=Level.TYPE),
    "struct_member": definition("property"),
    "state_variable_declaration": _variable,
    "constant_variable_declaration": _variable,
    "user_defined_type_definition": definition("type"),
    "parameter": binds("name"),
    "variable_declaration": binds("name"),
    "event_parameter": silent("name"),
    "error_parameter": silent("name"),
    "call_struct_argument": silent("name"),
    "struct_field_assignment": silent("name"),
}

SOLIDITY = Language(
    "solidity",
    ("tree_sitter_solidity", "language"),
    CONVENTIONS,
    RULES,
    _exported,
    declare_exports(_exported),
)
