"""OCaml: values, functions, types, modules, signatures, classes; `.ml` and `.mli`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import (
    binds_children,
    child_of,
    children_of,
    definition,
    skip,
    value_cut,
)
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.shared import declare_exports, is_local
from asterism.types.outline import ImportedName, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"fun_expression", "function_expression"})
_PATHS = frozenset({"module_path", "extended_module_path", "module_type_path"})
_NAMES = ("value_name", "parenthesized_operator")


def _group(part: str) -> Rule:
    """`let rec f = … and g = …`: the first name has the keyword, the others only themselves."""

    def rule(builder: Builder, node: Node) -> bool:
        first = child_of(part)(node)
        if first is not None:
            several = sum(1 for _ in children_of(node, part)) > 1
            end = first.end_byte if several else node.end_byte
            claimed = builder.claimed
            builder.wrap(node, span=Span(node.start_byte, end))
            builder.claimed = claimed
            if builder.at_statement and not _is_root(first):
                builder.claimed = True
        return True

    return rule


def _is_root(binding: Node) -> bool:
    """`let () = …` and `let a, b = …` name no single value."""
    if binding.type != "let_binding":
        return False
    pattern = binding.child_by_field_name("pattern")
    return pattern is None or pattern.type not in _NAMES


def _binding(builder: Builder, node: Node) -> bool:
    """A function, a value, or a local."""
    name, body = node.child_by_field_name("pattern"), node.child_by_field_name("body")
    if name is None or name.is_missing or name.type not in _NAMES:
        return True
    is_function = child_of("parameter")(node) is not None
    is_function = is_function or (body is not None and body.type in _FUNCTIONS)
    if builder.level is Level.FUNCTION and not is_function:
        builder.bind(name)
        return True
    if name.type == "parenthesized_operator":
        for part in name.named_children:
            builder.defined.add(part.start_byte)
    builder.define(
        node,
        "function" if is_function else "const",
        builder.text(name),
        name_node=name,
        body=body if is_function else None,
        signature_end=None if is_function else value_cut(node, body),
    )
    return True


def _import(builder: Builder, node: Node) -> bool:
    """`open M` and `include M`, in code and in an interface."""
    module = node.child_by_field_name("module") or node.child_by_field_name("module_type")
    while module is not None and module.type not in _PATHS:
        module = module.named_children[0] if module.named_child_count else None
    if module is None:
        return True
    text = builder.text(module)
    if builder.at_statement:
        builder.root_item(node, "import", fold(f"import:{text}"))
    is_include = node.type.startswith("include")
    builder.add_import(node, text, [ImportedName("*")], reexport=is_include)
    return False


def _module(builder: Builder, node: Node) -> bool:
    """`module M = struct … end`, and `module M = Other.M`, which is an import too."""
    name, body = child_of("module_name")(node), node.child_by_field_name("body")
    if name is None or name.is_missing:
        return True
    builder.define(
        node,
        "module",
        builder.text(name),
        name_node=name,
        body=body if body is not None and body.type in ("structure", "signature") else None,
        level=Level.MODULE,
    )
    if body is not None and body.type == "module_path":
        builder.add_import(node, builder.text(body), [ImportedName("*", builder.text(name))])
    return True


def _type(builder: Builder, node: Node) -> bool:
    name = node.child_by_field_name("name")
    if name is None or name.is_missing or name.type != "type_constructor":
        # `type M.t += …` adds to the type of another module.
        return True
    body = node.child_by_field_name("body")
    parts = body.type if body is not None else ""
    builder.define(
        node,
        "type",
        builder.text(name),
        name_node=name,
        body=body if parts in ("variant_declaration", "record_declaration") else None,
        level=Level.TYPE,
    )
    return True


def _path(builder: Builder, node: Node) -> bool:
    """`Shop.Cart.add`: the last name is a member of the modules before it."""
    if node.named_child_count > 1:
        builder.member(node.named_children[0], node.named_children[-1])
    return True


def _field(builder: Builder, node: Node) -> bool:
    """`cart.size`."""
    record, path = node.child_by_field_name("record"), node.child_by_field_name("field")
    if record is not None and path is not None and path.named_child_count:
        builder.member(record, path.named_children[-1])
    return True


def _pattern(builder: Builder, node: Node) -> bool:
    if builder.owner is not None and not builder.owner.is_root:
        builder.bind(node)
    builder.defined.add(node.start_byte)
    return False


def _first(*kinds: str) -> Callable[[Node], Node | None]:
    return child_of(*kinds)


def _exported(draft: Draft, builder: Builder) -> bool:
    hidden = draft.name.startswith("_") or "private" in draft.modifiers
    return not hidden and not is_local(builder, draft)


_case = definition("constructor", name=_first("constructor_name"))


def _constructor(builder: Builder, node: Node) -> bool:
    """A case of a type; an exception is a symbol of its own."""
    around = builder.parent
    if around is not None and around.type == "exception_definition":
        return True
    return _case(builder, node)


# What may follow a definition, on the same line or the next.
_END = re.compile(rb"\s*;;")


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        found = _END.match(builder.source, draft.end)
        above = builder.drafts[draft.parent] if draft.parent is not None else None
        if found is not None and (above is None or found.end() <= above.end):
            draft.end_row += builder.source.count(b"\n", draft.end, found.end())
            draft.end = found.end()
    for draft in builder.drafts:
        # Members of a type, a class or a signature are as visible as it is.
        if draft.kind in ("type", "class", "interface", "module"):
            draft.level = Level.MODULE
    declare_exports(_exported)(builder)


def _declared(node: Node) -> Node | None:
    """The name in `exception Empty of string`."""
    inner = child_of("constructor_declaration")(node)
    return child_of("constructor_name")(inner) if inner is not None else None


CONVENTIONS = Conventions(
    identifiers=frozenset(
        {
            *("value_name", "value_pattern", "module_name", "module_type_name", "class_name"),
            *("constructor_name", "type_constructor", "field_name", "method_name"),
            *("instance_variable_name", "class_type_name"),
        }
    ),
    comments=frozenset({"comment"}),
    skipped=frozenset({"string", "number", "character", "quoted_string", "type_variable"}),
    members={"method_invocation": ("object", "method")},
    statements={"toplevel_directive": "directive", "floating_attribute": "directive"},
    modifiers=frozenset({"rec", "private", "mutable", "virtual", "nonrec"}),
    doc_prefixes=("(**",),
    line_comment="(*",
    terminators=("=", ";;", "|", ":", "sig", "struct"),
)

RULES: dict[str, Rule] = {
    "open_module": _import,
    "open_module_signature": _import,
    "include_module": _import,
    "include_module_type": _import,
    "value_definition": _group("let_binding"),
    "let_binding": _binding,
    "type_definition": _group("type_binding"),
    "type_binding": _type,
    "constructor_declaration": _constructor,
    "field_declaration": definition("property", name=_first("field_name")),
    "exception_definition": definition("type", name=_declared, level=Level.FUNCTION),
    "module_definition": _group("module_binding"),
    "module_binding": _module,
    "module_parameter": binds_children,
    "module_type_definition": definition(
        "interface", name=_first("module_type_name"), level=Level.TYPE
    ),
    "value_specification": definition("signature", name=_first(*_NAMES)),
    "external": definition("function", name=_first(*_NAMES)),
    "class_definition": _group("class_binding"),
    "class_binding": definition("class", name=_first("class_name"), level=Level.TYPE),
    "class_type_definition": _group("class_type_binding"),
    "class_type_binding": definition("interface", name=_first("class_type_name"), level=Level.TYPE),
    "method_definition": definition("method", name=_first("method_name")),
    "method_specification": definition("signature", name=_first("method_name")),
    "instance_variable_definition": definition(
        "property", name=_first("instance_variable_name"), body=lambda _node: None
    ),
    "value_path": _path,
    "constructor_path": _path,
    "type_constructor_path": _path,
    "module_path": _path,
    "module_type_path": _path,
    "extended_module_path": _path,
    "class_path": _path,
    "field_path": _path,
    "field_get_expression": _field,
    "value_pattern": _pattern,
    "attribute_id": skip,
}


def _language(function: str) -> Language:
    return Language(
        "ocaml", ("tree_sitter_ocaml", function), CONVENTIONS, RULES, _exported, _finish
    )


OCAML = _language("language_ocaml")
INTERFACE = _language("language_ocaml_interface")
