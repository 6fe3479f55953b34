"""The C preprocessor: includes, macros, conditionals that only group what stands in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Level
from asterism.analysis.syntax.rules import value_cut
from asterism.analysis.syntax.text import fold
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
    """`#if` and its kin: what they hold stands where they stand."""
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
