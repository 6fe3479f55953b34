"""Rust: items with their attributes, impl blocks, traits, modules, macros, `use` trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import (
    binds,
    child_of,
    definition,
    marks,
    member,
    never_local,
    transparent,
    variable,
)
from asterism.analysis.syntax.text import (
    Conventions,
    attached_doc,
    clean_comment,
    decorator_names,
    fold,
)
from asterism.languages.rust import uses
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Node

# An impl of a tuple or a function type is named by that type's text.
_TYPE_NAME_LIMIT = 60

# Inside functions an attribute may also stand before a statement, which is no item.
_ITEMS = frozenset(
    {
        *("function_item", "struct_item", "enum_item", "union_item", "trait_item", "impl_item"),
        *("type_item", "mod_item", "macro_definition", "attribute_item"),
        *uses.COMMENTS,
    }
)

# Items that are symbols wherever they stand.
_NAMED = frozenset(
    {"function_item", "struct_item", "enum_item", "union_item", "trait_item", "mod_item"}
)

# Parts of a pattern that are values, types or paths and bind nothing.
_PATTERN_STOPS = frozenset(
    {
        *("scoped_identifier", "scoped_type_identifier", "generic_type", "range_pattern"),
        *("const_block", "macro_invocation", "type_identifier", "field_identifier"),
    }
)


def _function_kind(builder: Builder, _node: Node) -> str:
    return "method" if builder.level is Level.TYPE else "function"


def _module(builder: Builder, node: Node) -> bool:
    """`mod name { … }` is a namespace; `mod name;` says that a module lies in another file."""
    kind = "module" if node.child_by_field_name("body") is None else "namespace"
    return definition(kind, level=Level.MODULE, after=_inner_doc)(builder, node)


def _inner_doc(builder: Builder, node: Node, draft: Draft) -> None:
    """`//!` at the head of a module's body documents the module."""
    body = node.child_by_field_name("body")
    texts = []
    for child in body.named_children if body is not None else ():
        text = builder.text(child).rstrip()
        if child.type not in uses.COMMENTS or not text.startswith(("//!", "/*!")):
            break
        texts.append(text)
    draft.doc = draft.doc or clean_comment("\n".join(texts)) or None


def _impl(builder: Builder, node: Node) -> bool:
    """`impl Type` and `impl Trait for Type`, both under the type's name."""
    shape = node.child_by_field_name("type")
    if shape is None:
        return True
    modifiers, _ = marks(builder, node)
    draft = builder.define(
        node,
        "impl",
        _type_name(builder, shape),
        body=node.child_by_field_name("body"),
        level=Level.TYPE,
        modifiers=modifiers,
    )
    draft.name_offset = shape.start_byte
    return True


def _type_name(builder: Builder, shape: Node) -> str:
    """The name of a type without arguments, path and reference; its text where it has none."""
    inner: Node | None = shape
    while inner is not None and inner.type in (
        "generic_type",
        "reference_type",
        "scoped_type_identifier",
    ):
        inner = inner.child_by_field_name("type") or inner.child_by_field_name("name")
    return fold(builder.text(inner or shape), _TYPE_NAME_LIMIT)


def _macro(builder: Builder, node: Node) -> bool:
    """`macro_rules! name { … }`."""
    name = node.child_by_field_name("name")
    opener = next((child for child in node.children if child.type in ("{", "(", "[")), None)
    if name is None:
        return True
    draft = builder.define(
        node,
        "macro",
        builder.text(name),
        name_node=name,
        signature_end=opener.start_byte if opener is not None else None,
    )
    if opener is not None:
        draft.body = Span(opener.start_byte, node.end_byte)
    return True


def _foreign(builder: Builder, node: Node) -> bool:
    """`extern "C" { … }`: what it declares is found under its own name."""
    if not builder.at_statement:
        return transparent(builder, node)
    body = node.child_by_field_name("body")
    end = body.start_byte if body is not None else node.end_byte
    head = builder.source[node.start_byte : end].decode("utf-8", "replace")
    builder.root_item(node, "directive", fold(head))
    return True


def _inner_attribute(builder: Builder, node: Node) -> bool:
    """`#![name(…)]`, about the file or the block around it."""
    if builder.at_statement:
        builder.root_item(node, "directive")
    return False


def _attribute(builder: Builder, node: Node) -> bool:
    """`#[name(…)]` before an item; only `derive` lists names that are used."""
    names = decorator_names(builder.source, [node])
    attribute = child_of("attribute")(node)
    tokens = attribute.child_by_field_name("arguments") if attribute is not None else None
    if tokens is not None and names != ["derive"]:
        _hide(builder, tokens)
    following = node.next_named_sibling
    if builder.level is Level.FUNCTION and (following is None or following.type not in _ITEMS):
        return True
    builder.prefix(node, names, _doc_below(builder, following))
    return True


def _hide(builder: Builder, node: Node) -> None:
    """Words in an attribute's arguments are its own, not names of the program."""
    pending = [node]
    while pending:
        here = pending.pop()
        builder.defined.add(here.start_byte)
        pending.extend(here.named_children)


def _doc_below(builder: Builder, node: Node | None) -> str | None:
    """Documentation that stands between an attribute and its item."""
    texts = []
    while node is not None and node.type in uses.COMMENTS:
        texts.append(builder.text(node).rstrip())
        node = node.next_named_sibling
    return attached_doc(texts, builder.conventions) if texts else None


def _let(builder: Builder, node: Node) -> bool:
    """`let pattern = value`: locals, or a function where the value is a closure."""
    pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    if pattern is None or pattern.type != "identifier" or value is None:
        return _binds_pattern(builder, node)
    if value.type != "closure_expression":
        return _binds_pattern(builder, node)
    modifiers, _ = marks(builder, value)
    builder.define(
        node,
        "function",
        builder.text(pattern),
        name_node=pattern,
        body=value.child_by_field_name("body"),
        modifiers=modifiers,
    )
    return True


def _binds_pattern(builder: Builder, node: Node) -> bool:
    """A node with a pattern: `let`, `if let`, `for`, a match arm, a parameter."""
    pattern = node.child_by_field_name("pattern")
    if pattern is not None:
        _bind(builder, pattern)
    return True


def _closure_parameters(builder: Builder, node: Node) -> bool:
    for child in node.named_children:
        if child.type != "parameter":
            _bind(builder, child)
    return True


def _bind(builder: Builder, pattern: Node) -> None:
    """Bind a pattern's names; those with a capital are constants and variants, as rustc warns."""
    pending = [pattern]
    while pending:
        here = pending.pop()
        kind = here.type
        if kind in ("identifier", "shorthand_field_identifier"):
            if not builder.text(here)[:1].isupper():
                builder.bind(here)
        elif kind == "closure_expression" or kind in _PATTERN_STOPS:
            continue
        else:
            apart = [here.child_by_field_name(name) for name in ("type", "condition")]
            pending.extend(child for child in here.named_children if child not in apart)


def _struct_expression(builder: Builder, node: Node) -> bool:
    """`Type { field: value }`: the fields belong to the type."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is not None and body is not None:
        for part in body.named_children:
            label = part.child_by_field_name("field")
            if part.type == "field_initializer" and label is not None:
                builder.member(name, label)
    return True


def _token_tree(builder: Builder, node: Node) -> bool:
    """A macro's arguments are bare tokens; `a.b` and `a::b` are still members."""
    children = node.children
    for at in range(2, len(children)):
        receiver, dot, name = children[at - 2 : at + 1]
        if name.type == "identifier" and dot.type in (".", "::") and receiver.is_named:
            builder.member(receiver, name)
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    """`pub` in any form; variants and trait members are as public as what they belong to."""
    if any(word.startswith("pub") for word in draft.modifiers):
        return True
    if draft.kind == "macro":
        return "macro_export" in draft.decorators
    owner = builder.drafts[draft.parent] if draft.parent is not None else None
    if owner is None or owner.kind not in ("trait", "enum", "enum_member"):
        return False
    return _exported(owner, builder)


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        if draft.depth == 0 and not draft.is_root and _exported(draft, builder):
            builder.declare_export(draft.name, draft)
    builder.exports.sort(key=lambda export: export.line)


CONVENTIONS = Conventions(
    identifiers=frozenset(
        {"identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"}
    ),
    comments=frozenset(uses.COMMENTS),
    skipped=frozenset(
        {"string_literal", "raw_string_literal", "char_literal", "lifetime", "label"}
    ),
    members={
        "field_expression": ("value", "field"),
        "scoped_identifier": ("path", "name"),
        "scoped_type_identifier": ("path", "name"),
    },
    statements={"shebang": "directive"},
    modifiers=frozenset(
        {
            *("visibility_modifier", "extern_modifier", "mutable_specifier", "async", "const"),
            *("default", "move", "static", "unsafe"),
        }
    ),
    modifier_groups=frozenset({"function_modifiers"}),
    doc_prefixes=("///", "/**"),
    inner_doc_prefixes=("//!", "/*!"),
    terminators=(";", ","),
)

_FIELDS = child_of("field_declaration_list")
_NO_BODY = child_of()

RULES: dict[str, Rule] = {
    "inner_attribute_item": _inner_attribute,
    "attribute_item": _attribute,
    "use_declaration": uses.use,
    "extern_crate_declaration": uses.extern_crate,
    "mod_item": _module,
    "function_item": definition(_function_kind),
    "function_signature_item": definition(_function_kind),
    "struct_item": definition("struct", body=_FIELDS, level=Level.TYPE),
    "union_item": definition("union", level=Level.TYPE),
    "enum_item": definition("enum", level=Level.TYPE),
    "enum_variant": member("enum_member", body=_NO_BODY, level=Level.TYPE),
    "field_declaration": member("property", body=_NO_BODY),
    "trait_item": definition("trait", level=Level.TYPE),
    "impl_item": _impl,
    "type_item": definition("type"),
    "associated_type": definition("type"),
    "const_item": variable("const"),
    "static_item": variable("variable"),
    "macro_definition": _macro,
    "foreign_mod_item": _foreign,
    "scoped_identifier": never_local("path"),
    "scoped_type_identifier": never_local("path"),
    "let_declaration": _let,
    "let_condition": _binds_pattern,
    "for_expression": _binds_pattern,
    "match_arm": _binds_pattern,
    "parameter": _binds_pattern,
    "closure_parameters": _closure_parameters,
    "type_parameter": binds("name"),
    "const_parameter": binds("name"),
    "struct_expression": _struct_expression,
    "token_tree": _token_tree,
}

RUST = Language("rust", ("tree_sitter_rust", "language"), CONVENTIONS, RULES, _exported, _finish)
