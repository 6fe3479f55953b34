"""Nix: attributes, functions, what `let` binds, imports by path."""

from __future__ import annotations

import re
from posixpath import basename
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import binds, child_of, value_cut
from asterism.analysis.syntax.text import Conventions
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

_VALUES = (
    *("apply_expression", "list_expression", "if_expression", "binary_expression"),
    *("unary_expression", "has_attr_expression", "formals"),
)
_SETS = frozenset({"attrset_expression", "rec_attrset_expression"})


def _around(builder: Builder, node: Node) -> bool:
    """What surrounds the attributes of a file or of an attribute."""
    if builder.at_statement:
        builder.root_item(node, "expression")
    return True


def _value(builder: Builder, node: Node) -> bool:
    """A call, a list or an operation: attributes inside it are not those of the file."""
    if builder.at_statement:
        builder.root_item(node, "expression")
    if builder.level is not Level.FUNCTION:
        builder.scope(Level.FUNCTION)
    return True


def _function(builder: Builder, node: Node) -> bool:
    """`{ lib, ... }: …` at the top takes the file's arguments; elsewhere it has locals."""
    _around(builder, node)
    universal = node.child_by_field_name("universal")
    if universal is not None:
        builder.bind(universal)
    return True


def _body(function: Node) -> Node | None:
    """What `x: y: body` returns in the end."""
    body = function.child_by_field_name("body")
    while body is not None and body.type == "function_expression":
        body = body.child_by_field_name("body")
    return body


def _attributes(builder: Builder, path: Node | None) -> list[tuple[str, Node]]:
    """The names in `services.shop."my key"`; empty where one is computed."""
    found: list[tuple[str, Node]] = []
    for part in path.named_children if path is not None else ():
        if part.type == "interpolation" or child_of("interpolation")(part) is not None:
            return []
        found.append((builder.text(part).strip('"'), part))
    return found


def _binding(builder: Builder, node: Node) -> bool:
    """`a.b = value;`: a function, an attribute, or a local."""
    value = node.child_by_field_name("expression")
    names = _attributes(builder, node.child_by_field_name("attrpath"))
    if not names or value is None or not names[-1][0]:
        return True
    for _, part in names:
        builder.defined.add(part.start_byte)
    around = builder.ancestors[-2].type if len(builder.ancestors) > 1 else ""
    is_let = around == "let_expression"
    is_function = value.type == "function_expression"
    if _imported(builder, node, value, names) and is_let:
        return True
    if builder.level is Level.FUNCTION:
        if is_let and len(names) == 1:
            builder.bind(names[0][1])
        if not is_let or not is_function:
            return True
    holds = value.type in _SETS
    body = _body(value) if is_function else value if holds else None
    builder.define(
        node,
        "function" if is_function else "const" if is_let else "property",
        names[-1][0],
        name_node=names[-1][1],
        body=body,
        level=Level.TYPE if holds else Level.FUNCTION,
        owner=[name for name, _ in names[:-1]],
        modifiers=("let",) if is_let else (),
        signature_end=value_cut(node, value) if body is None else None,
    )
    return True


def _imported(builder: Builder, node: Node, value: Node, names: list[tuple[str, Node]]) -> bool:
    """`lib = import ./lib.nix;` binds the attributes of the file."""
    call: Node | None = value
    while call is not None and call.type == "apply_expression":
        function = call.child_by_field_name("function")
        argument = call.child_by_field_name("argument")
        is_path = argument is not None and argument.type == "path_expression"
        if is_path and function is not None and builder.text(function) == "import":
            assert argument is not None
            builder.consumed.add(argument.start_byte)
            module = builder.text(argument)
            builder.add_import(node, module, [ImportedName("*", names[-1][0])])
            return True
        call = function
    return False


def _path(builder: Builder, node: Node) -> bool:
    """A path of a Nix file or of a folder is an import, wherever it is written."""
    text = builder.text(node)
    is_source = text.endswith(".nix") or "." not in basename(text)
    if is_source and node.start_byte not in builder.consumed and "$" not in text:
        builder.add_import(node, text, side_effect=True)
    return True


def _select(builder: Builder, node: Node) -> bool:
    """`pkgs.lib.mkIf`: each name is a member of what is before it."""
    first, path = node.child_by_field_name("expression"), node.child_by_field_name("attrpath")
    if first is not None and path is not None:
        for part in path.named_children:
            if part.type == "identifier":
                start = first.start_byte
                before = builder.slice(start, part.start_byte).strip().removesuffix(".")
                builder.receivers[part.start_byte] = before if len(before) <= _LONGEST else "…"
    return True


_LONGEST = 80


def _inherit(builder: Builder, node: Node) -> bool:
    """`inherit (lib) mkIf;` uses members of `lib`, and binds them in a `let`."""
    source, names = node.child_by_field_name("expression"), node.child_by_field_name("attrs")
    for part in names.named_children if names is not None else ():
        if source is not None and part.type == "identifier":
            builder.member(source, part)
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    at: Draft | None = draft
    while at is not None:
        inside = at is not draft and not at.is_root and at.level is Level.FUNCTION
        if "let" in at.modifiers or inside:
            return False
        at = builder.drafts[at.parent] if at.parent is not None else None
    return True


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        above = builder.drafts[draft.parent] if draft.parent is not None else None
        at_top = above is None or above.is_root
        if at_top and not draft.is_root and _exported(draft, builder):
            builder.declare_export(draft.path[0], draft)


# The grammar does not know the comma behind the last argument: `{ lib, pkgs, }:`.
_LAST_COMMA = re.compile(rb",(?=\s*(?:#[^\n]*\n\s*)*\})")

CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier"}),
    comments=frozenset({"comment"}),
    skipped=frozenset({"string_fragment", "path_fragment", "spath_expression", "uri_expression"}),
    doc_prefixes=("",),
    line_comment="#",
    terminators=(";", "=", ":"),
)

RULES: dict[str, Rule] = {
    "function_expression": _function,
    "let_expression": _around,
    "with_expression": _around,
    "assert_expression": _around,
    "parenthesized_expression": _around,
    **dict.fromkeys(_SETS, _around),
    **dict.fromkeys(_VALUES, _value),
    "binding": _binding,
    "inherit_from": _inherit,
    "path_expression": _path,
    "select_expression": _select,
    "formal": binds("name"),
}

NIX = Language(
    "nix",
    ("tree_sitter_nix", "language"),
    CONVENTIONS,
    RULES,
    _exported,
    _finish,
    lambda source: _LAST_COMMA.sub(b" ", source),
)
