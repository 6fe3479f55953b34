"""Swift: types, extensions and protocols with their members, properties, functions, macros."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import (
    binds,
    child_of,
    children_of,
    definition,
    marks,
    root,
    share_comment,
    value_cut,
)
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.shared import NAME_LIMIT, spans_lines
from asterism.languages.swift import bindings
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

_HIDDEN = ("private", "fileprivate")


def _function_kind(builder: Builder, _node: Node) -> str:
    return "method" if builder.level is Level.TYPE else "function"


def _type(builder: Builder, node: Node) -> bool:
    """`class`, `struct`, `enum`, `actor` and `extension` are one node in the grammar."""
    name = node.child_by_field_name("name")
    word = builder.field_text(node, "declaration_kind") or "class"
    if name is None or name.is_missing:
        return True
    modifiers, decorators = marks(builder, node)
    # `@unchecked` before a protocol it conforms to is not an attribute of the type.
    decorators = [mark for mark in decorators if mark.start_byte < name.start_byte]
    draft = builder.define(
        node,
        word,
        # `extension List<Int>` extends `List`; for which of its types the signature says.
        fold(builder.text(name).partition("<")[0]),
        # An extension's name is a use of the type it extends.
        name_node=None if word == "extension" else name,
        body=node.child_by_field_name("body"),
        level=Level.TYPE,
        modifiers=modifiers,
        decorators=decorators,
    )
    draft.name_offset = name.start_byte
    return True


def _nameless(kind: str, label: str) -> Rule:
    """`deinit` and `subscript`, which are their own names."""

    def rule(builder: Builder, node: Node) -> bool:
        modifiers, decorators = marks(builder, node)
        body = node.child_by_field_name("body") or child_of("computed_property")(node)
        builder.define(node, kind, label, body=body, modifiers=modifiers, decorators=decorators)
        return True

    return rule


def _macro(builder: Builder, node: Node) -> bool:
    """`macro name(…) = #externalMacro(…)`."""
    name = child_of("simple_identifier")(node)
    if name is None:
        return True
    modifiers, decorators = marks(builder, node)
    builder.define(
        node,
        "macro",
        builder.text(name),
        name_node=name,
        modifiers=modifiers,
        decorators=decorators,
        signature_end=value_cut(node, node.child_by_field_name("definition")),
    )
    return True


def _enum_case(builder: Builder, node: Node) -> bool:
    """`case a, b(label: Type)`: one symbol per name."""
    names = node.children_by_field_name("name")
    names = [name for name in names if name.type == "simple_identifier"]
    modifiers, decorators = marks(builder, node)
    first: Draft | None = None
    for name in names:
        draft = builder.define(
            node,
            "enum_member",
            builder.text(name),
            name_node=name,
            modifiers=modifiers,
            decorators=decorators,
            opens=name == names[-1],
        )
        first = share_comment(draft, first)
    for labels in children_of(node, "enum_type_parameters"):
        builder.defined.update(part.start_byte for part in children_of(labels, "simple_identifier"))
    return True


def _property(builder: Builder, node: Node) -> bool:
    """`let` and `var`: properties of types, constants and variables of files, locals elsewhere."""
    names = [leaf for name in node.children_by_field_name("name") for leaf in bindings.names(name)]
    value = node.child_by_field_name("value")
    closure = value if value is not None and value.type == "lambda_literal" else None
    code = closure or _called_closure(value)
    is_function = closure is not None and len(names) == 1 and builder.level is not Level.TYPE
    if builder.level is Level.FUNCTION and not is_function:
        for name in names:
            builder.bind(name)
        return True
    if code is not None:
        builder.consumed.add(code.start_byte)
    modifiers, decorators = marks(builder, node)
    first: Draft | None = None
    for name in names:
        draft = builder.define(
            node,
            "function" if is_function else _property_kind(builder, node),
            builder.text(name),
            name_node=name,
            body=_accessors(node) or _inside(code),
            modifiers=modifiers,
            decorators=decorators,
            signature_end=None if code is not None else _property_end(node, value),
            opens=name == names[-1],
        )
        if code is not None:
            draft.signature = _without_braces(draft.signature)
        first = share_comment(draft, first)
    return True


def _property_kind(builder: Builder, node: Node) -> str:
    if builder.level is Level.TYPE:
        return "property"
    keyword = child_of("value_binding_pattern")(node)
    is_constant = keyword is not None and builder.text(keyword) == "let"
    return "const" if is_constant else "variable"


def _accessors(node: Node) -> Node | None:
    """The braces of a computed property or of its observers."""
    return child_of("computed_property", "willset_didset_block")(node)


def _property_end(node: Node, value: Node | None) -> int | None:
    return None if _accessors(node) is not None else value_cut(node, value)


def _called_closure(value: Node | None) -> Node | None:
    """`= { … }()`: a value worked out by a closure of several lines."""
    if value is None or value.type != "call_expression" or not value.named_children:
        return None
    inner = value.named_children[0]
    return inner if inner.type == "lambda_literal" and spans_lines(inner) else None


def _protocol_property(builder: Builder, node: Node) -> bool:
    """`var name: Type { get }`, a requirement without a body."""
    modifiers, decorators = marks(builder, node)
    for pattern in node.children_by_field_name("name"):
        for name in bindings.names(pattern):
            builder.define(
                node,
                "property",
                builder.text(name),
                name_node=name,
                modifiers=modifiers,
                decorators=decorators,
            )
    return True


def _closure(builder: Builder, node: Node) -> bool:
    """A closure given to a call is a symbol where it has lines of its own."""
    if node.start_byte in builder.consumed or not spans_lines(node):
        return bindings.closure(builder, node)
    suffix = node.parent
    while suffix is not None and suffix.type in ("value_argument", "value_arguments"):
        suffix = suffix.parent
    call = suffix.parent if suffix is not None and suffix.type == "call_suffix" else None
    statements = child_of("statements")(node)
    callee = call.named_children[0] if call is not None else None
    if suffix is None or callee is None or callee.has_error or statements is None:
        return bindings.closure(builder, node)
    head = _callee_name(builder, callee)
    draft = builder.define(
        node, "function", f"{head}({_title(builder, suffix)}) callback", body=statements
    )
    draft.signature = _without_braces(draft.signature) or head
    return bindings.closure(builder, node)


def _callee_name(builder: Builder, callee: Node) -> str:
    """The call as written; of a chain over several lines only its last link."""
    text = builder.text(callee)
    suffix = callee.child_by_field_name("suffix")
    if suffix is not None and "\n" in text:
        text = builder.text(suffix).lstrip(".")
    is_macro = callee.parent is not None and callee.parent.type == "macro_invocation"
    return fold(f"#{text}" if is_macro else text, NAME_LIMIT)


def _inside(closure: Node | None) -> Node | None:
    """A closure's statements; its parameters stand inside the braces but belong to its head."""
    return None if closure is None else child_of("statements")(closure) or closure


def _without_braces(signature: str) -> str:
    """`let f = { (x: Int) -> Int in` up to its body, which the brace and `in` open."""
    head, _, takes = signature.partition("{")
    return f"{head.strip()} {takes.strip().removesuffix('in').strip()}".strip(" =")


def _title(builder: Builder, suffix: Node) -> str:
    """The string a call begins with, as in `it("works") { … }`."""
    arguments = child_of("value_arguments")(suffix)
    first = child_of("value_argument")(arguments) if arguments is not None else None
    value = first.child_by_field_name("value") if first is not None else None
    if value is None or value.type != "line_string_literal":
        return ""
    return fold(builder.text(value), NAME_LIMIT)


def _import(builder: Builder, node: Node) -> bool:
    """`import Module`, `import struct Module.Type`, `@_exported import Module`."""
    path = child_of("identifier")(node)
    if path is None:
        return False
    module = builder.text(path)
    modifiers = child_of("modifiers")(node)
    public = modifiers is not None and "@_exported" in builder.text(modifiers)
    at_top = builder.at_statement
    if at_top:
        word = "re-export" if public else "import"
        builder.root_item(node, word, f"{word}:{module}")
    names = [ImportedName("*", module.partition(".")[0])]
    if any(child.type in _IMPORT_KINDS for child in node.children):
        module, _, name = module.rpartition(".")
        names = [ImportedName(name)]
    builder.add_import(node, module, names, reexport=public)
    if public:
        builder.add_export(names[0].name, names[0].name, node, module)
    return False


_IMPORT_KINDS = frozenset(
    {"typealias", "struct", "class", "enum", "protocol", "let", "var", "func"}
)


def _directive(builder: Builder, node: Node) -> bool:
    """`#if …`, `#error(…)`: nodes between two directives are treated as siblings of them."""
    root("directive")(builder, node)
    return False


def _precedence_group(builder: Builder, node: Node) -> bool:
    bindings.first_name(builder, node)
    return root("directive")(builder, node)


def _attribute(builder: Builder, node: Node) -> bool:
    """`@name(argument)`: the arguments are words of the attribute."""
    builder.defined.update(child.start_byte for child in children_of(node, "simple_identifier"))
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    """Visible in the module: neither it nor anything around it is private or inside code."""
    here: Draft | None = draft
    while here is not None:
        if any(word in _HIDDEN for word in here.modifiers):
            return False
        here = builder.drafts[here.parent] if here.parent is not None else None
        if here is not None and here.level is not Level.TYPE:
            return False
    return True


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        is_name = draft.depth == 0 and not draft.is_root and draft.kind != "extension"
        if is_name and _exported(draft, builder):
            builder.declare_export(draft.name, draft)
    builder.exports.sort(key=lambda export: export.line)


CONVENTIONS = Conventions(
    identifiers=frozenset({"simple_identifier", "type_identifier"}),
    comments=frozenset({"comment", "multiline_comment"}),
    skipped=frozenset(
        {
            *("line_str_text", "multi_line_str_text", "regex_literal", "value_argument_label"),
            "statement_label",
        }
    ),
    statements={
        "shebang_line": "directive",
        **dict.fromkeys(
            (
                *("if_statement", "guard_statement", "for_statement", "while_statement"),
                *("repeat_while_statement", "switch_statement", "do_statement"),
                "control_transfer_statement",
            ),
            "control",
        ),
    },
    modifiers=frozenset(
        {
            *("visibility_modifier", "inheritance_modifier", "property_modifier"),
            *("ownership_modifier", "member_modifier", "property_behavior_modifier"),
            *("mutation_modifier", "function_modifier", "indirect", "async"),
        }
    ),
    modifier_groups=frozenset({"modifiers"}),
    decorators=frozenset({"attribute"}),
    doc_prefixes=("///", "/**"),
    terminators=(";", "="),
)

RULES: dict[str, Rule] = {
    "import_declaration": _import,
    "attribute": _attribute,
    "class_declaration": _type,
    "protocol_declaration": definition("protocol", level=Level.TYPE),
    "function_declaration": definition(_function_kind),
    "protocol_function_declaration": definition("method"),
    "init_declaration": definition("constructor"),
    "deinit_declaration": _nameless("method", "deinit"),
    "subscript_declaration": _nameless("method", "subscript"),
    "typealias_declaration": definition("type"),
    "associatedtype_declaration": definition("type"),
    "macro_declaration": _macro,
    "directive": _directive,
    "diagnostic": _directive,
    "operator_declaration": root("directive"),
    "precedence_group_declaration": _precedence_group,
    "enum_entry": _enum_case,
    "property_declaration": _property,
    "protocol_property_declaration": _protocol_property,
    "lambda_literal": _closure,
    "lambda_parameter": binds("name"),
    "parameter": bindings.parameter,
    "type_parameter": bindings.type_parameter,
    "capture_list_item": binds("name"),
    "pattern": bindings.pattern,
    "if_statement": bindings.condition,
    "guard_statement": bindings.condition,
    "while_statement": bindings.condition,
    "catch_block": bindings.implicit("error"),
    "computed_setter": bindings.implicit("newValue"),
    "willset_clause": bindings.implicit("newValue"),
    "didset_clause": bindings.implicit("oldValue"),
    "directly_assignable_expression": bindings.discard,
    "navigation_expression": bindings.navigation,
    "prefix_expression": bindings.inferred_member,
    "user_type": bindings.qualified,
    "identifier": bindings.qualified,
    "precedence_group_attribute": bindings.first_name,
    "call_suffix": bindings.trailing_labels,
}

SWIFT = Language("swift", ("tree_sitter_swift", "language"), CONVENTIONS, RULES, _exported, _finish)
