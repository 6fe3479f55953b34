"""C: functions, prototypes, records, typedefs, globals, macros, includes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import binds_children, prefix, skip, transparent, value_cut
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.c_family import damage, declarations, declarators
from asterism.languages.shared import declare_exports
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Node


# A conditional's line is named by its text, as root items are.
_NAME_LIMIT = 60

_CONTINUED = re.compile(r" ?\\(?: |$)")


def include(builder: Builder, node: Node) -> bool:
    """`#include "x.h"` and `#include <x.h>`; it binds no names that the file could tell."""
    path = node.child_by_field_name("path")
    if path is None:
        return True
    module = builder.text(path).strip('"<>')
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module}")
    builder.add_import(node, module)
    return path.type == "identifier"


def macro(builder: Builder, node: Node) -> bool:
    """`#define`, with or without parameters; its text is not parsed."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    parameters = node.child_by_field_name("parameters")
    head = node.named_children[0] if node.named_child_count else None
    if head is not None and head.type == "ERROR" and head.named_child_count:
        # A comment within a continued line: the grammar takes the word behind it for the name.
        name, *rest = head.named_children
        parameters = next((part for part in rest if part.type == "preproc_params"), None)
    if name is None:
        return False
    draft = builder.define(
        node,
        "macro",
        builder.text(name),
        name_node=name,
        signature_end=value_cut(node, value) if parameters is None else parameters.end_byte,
    )
    if parameters is not None and value is not None:
        start = parameters.end_byte
        text = builder.source[start : node.end_byte]
        draft.body = Span(start + len(text) - len(text.lstrip(b" \t\\\n")), node.end_byte)
    # On one line a continued line needs no backslash.
    draft.signature = _CONTINUED.sub(" ", draft.signature).strip()
    return False


def conditional(builder: Builder, node: Node) -> bool:
    """`#if` and its kin: their contents are treated as siblings of the directive."""
    if builder.level is Level.FUNCTION:
        return True
    if builder.at_statement:
        condition = node.child_by_field_name("condition") or node.child_by_field_name("name")
        if condition is not None:
            directive_line(builder, node, condition)
    builder.transparent()
    return True


def directive_line(builder: Builder, node: Node, condition: Node) -> None:
    """A root item for the line of the condition, which else would be taken for a statement."""
    line = builder.source[node.start_byte : condition.end_byte].decode("utf-8", "replace")
    draft = builder.root_item(condition, "directive", fold(line, _NAME_LIMIT))
    draft.start = min(draft.start, node.start_byte)
    draft.signature = fold(line)
    # The item is the line alone: what follows in the node is not inside it.
    builder.frames.pop()


IDENTIFIERS = frozenset({"identifier", "type_identifier", "field_identifier"})

SKIPPED = frozenset(
    {"string_literal", "char_literal", "number_literal", "system_lib_string", "preproc_arg"}
)

STATEMENTS = {
    "preproc_call": "directive",
    "if_statement": "control",
    "for_statement": "control",
    "while_statement": "control",
    "do_statement": "control",
    "switch_statement": "control",
    "return_statement": "control",
    "compound_statement": "control",
    "labeled_statement": "control",
    "goto_statement": "control",
}

_CLOSING = ord(")")

# Neither language has doc comments of its own: what stands directly above documents.
CONVENTIONS = Conventions(
    identifiers=IDENTIFIERS,
    comments=frozenset({"comment"}),
    skipped=SKIPPED,
    members={"field_expression": ("argument", "field")},
    statements=STATEMENTS,
    doc_prefixes=("",),
    gap_kind="directive",
    terminators=(";", "="),
)


def linkage(builder: Builder, node: Node) -> bool:
    """`extern "C"`: a block only groups, before one declaration it is part of it."""
    body = node.child_by_field_name("body")
    if body is not None and body.type == "declaration_list":
        builder.claimed = True
    else:
        builder.wrap(node, ("extern",))
    return True


def statement(builder: Builder, node: Node) -> bool:
    """A lone `;` says nothing; a macro call without one marks the function below it."""
    if not node.named_child_count:
        builder.claimed = True
    elif builder.level is not Level.MODULE or damage.function_pointer(builder, node):
        return True
    elif builder.source[node.end_byte - 1] == _CLOSING:
        below = node.next_named_sibling
        if (
            below is not None
            and below.type in ("function_definition", "declaration", "template_declaration")
            and below.start_point[0] == node.end_point[0] + 1
        ):
            return prefix(builder, node)
    return True


def block(builder: Builder, node: Node) -> bool:
    """`TEST(a, b) { … }` and `main() { … }`: a function whose head was read as a call."""
    around = builder.parent
    if around is not None and around.type == "compound_statement":
        return True
    head = node.prev_named_sibling if builder.level is Level.MODULE else None
    if head is None or builder.source[head.end_byte - 1] != _CLOSING:
        return True
    call = head.named_children[0] if head.type == "expression_statement" else head
    if call.type != "call_expression" or head.end_point[0] + 1 < node.start_point[0]:
        return True
    arguments = call.child_by_field_name("arguments")
    bare = arguments is None or not arguments.named_child_count
    name = builder.field_text(call, "function") if bare else None
    text = fold(builder.text(call), declarations.MACRO_NAME_LIMIT)
    draft = builder.define(node, "function", name or text, body=node)
    draft.signature = text
    draft.start = min(draft.start, head.start_byte)
    draft.start_row = head.start_point[0]
    draft.first_row = min(draft.first_row, draft.start_row)
    return True


def labeled(builder: Builder, node: Node) -> bool:
    """In a class the grammar misread, `public:` and its like look like labels."""
    owner = builder.owner
    label = builder.field_text(node, "label")
    if builder.level is Level.TYPE and owner is not None and label in declarators.ACCESS:
        owner.section = label
    return True


def exported(draft: Draft, builder: Builder) -> bool:
    """Whatever is not `static`, nor inside something that is, nor inside a function."""
    if draft.name.startswith(declarators.NAMELESS):
        return False
    while True:
        if "static" in draft.modifiers and draft.level is not Level.TYPE:
            return False
        if draft.parent is None:
            return True
        draft = builder.drafts[draft.parent]
        if draft.level is Level.FUNCTION:
            return False


RULES: dict[str, Rule] = {
    "preproc_include": include,
    "preproc_def": macro,
    "preproc_function_def": macro,
    "preproc_if": conditional,
    "preproc_ifdef": conditional,
    "preproc_elif": conditional,
    "preproc_elifdef": conditional,
    "preproc_else": conditional,
    "linkage_specification": linkage,
    "declaration_list": transparent,
    "function_definition": declarations.function,
    "function_declarator": damage.function_head,
    "pointer_declarator": damage.function_head,
    "init_declarator": damage.initialised_head,
    "declaration": declarations.declaration,
    "field_declaration": declarations.declaration,
    "type_definition": declarations.type_definition,
    "struct_specifier": declarators.record,
    "union_specifier": declarators.record,
    "enum_specifier": declarators.record,
    "enumerator": declarators.enumerator,
    "parameter_declaration": declarations.parameter,
    "parameter_list": binds_children,
    "expression_statement": statement,
    "labeled_statement": labeled,
    "compound_statement": block,
    "attribute_specifier": skip,
}

C = Language(
    "c", ("tree_sitter_c", "language"), CONVENTIONS, RULES, exported, declare_exports(exported)
)
