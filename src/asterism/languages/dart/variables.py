"""Variables of Dart: fields, and declarations at the top that are several nodes side by side."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.rules import children_of, marks, share_comment, value_cut
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Node

LISTS = ("initialized_identifier_list", "static_final_declaration_list")
_NAMES = ("initialized_identifier", "static_final_declaration")

# Where the declaration that is being read at the top began.
_HEAD = "head of a declaration"

# Keywords without a node of their own before the type: `late final int x`.
_KEYWORDS = re.compile(rb"(?:\b(?:late|external|static|augment)\s+)+$")
# At the top these have no node, so that a cut could not take them out with their declaration.
_TOP = re.compile(rb"^(?:(?:late|external|augment)[ \t]+)+", re.MULTILINE)
_MODIFIERS = re.compile(r"\b(?:const|final|late|external|static|augment|covariant)\b")


def head(builder: Builder, node: Node) -> bool:
    """`const`, `final`, `var` or a type: at the top they are siblings of what they declare."""
    if builder.at_statement:
        builder.claimed = True
        began = _began(builder, node.start_byte)
        builder.notes[_HEAD] = str(widened(builder, began))
    return True


def type_name(builder: Builder, node: Node) -> bool:
    """A use of a type; at the top it may begin a declaration."""
    head(builder, node)
    start = node.start_byte
    if start not in builder.defined and start < node.end_byte:
        builder.free.add(start)
        builder.mention(builder.text(node), start, builder.receivers.get(start))
    return True


def _began(builder: Builder, start: int) -> int:
    """Where the declaration at `start` began, if something of it was read already."""
    noted = int(builder.notes.get(_HEAD, start))
    between = builder.source[noted:start]
    return noted if b";" not in between and b"}" not in between else start


def widened(builder: Builder, start: int) -> int:
    """The start of the keywords before a declaration."""
    found = _KEYWORDS.search(builder.source, max(0, start - 80), start)
    return found.start() if found else start


def top_level(builder: Builder, node: Node) -> bool:
    """The names of a declaration at the top."""
    if not builder.at_statement:
        return True
    start = widened(builder, _began(builder, node.start_byte))
    end = node.end_byte
    stop = builder.source.find(b";", end)
    if stop >= 0 and not builder.source[end:stop].strip():
        end = stop + 1
    words = tuple(_MODIFIERS.findall(builder.slice(start, node.start_byte)))
    builder.wrap(node, words, span=Span(start, end))
    return True


def top_level_name(builder: Builder, node: Node) -> bool:
    """One name of a declaration at the top; in code a local."""
    name = node.named_children[0] if node.named_child_count else None
    if name is None or name.start_byte in builder.defined or builder.level is Level.TYPE:
        return True
    if builder.level is Level.FUNCTION:
        builder.bind(name)
        return True
    draft = builder.define(
        node,
        "variable",
        builder.text(name),
        name_node=name,
        signature_end=value_cut(node, _value(node)),
    )
    if "const" in draft.modifiers:
        draft.kind = "const"
    return True


def fields(builder: Builder, node: Node, names: Node) -> bool:
    """`static const int a = 1, b = 2;` in a type."""
    first: Draft | None = None
    modifiers, decorators = marks(builder, node)
    found = [each for each in children_of(names, *_NAMES) if each.named_child_count]
    for each in found:
        name = each.named_children[0]
        draft = builder.define(
            node,
            "const" if "const" in modifiers else "property",
            builder.text(name),
            name_node=name,
            modifiers=modifiers,
            decorators=decorators,
            signature_end=value_cut(node, _value(each)),
            opens=each == found[-1],
        )
        first = share_comment(draft, first)
    return True


def _value(node: Node) -> Node | None:
    return node.named_children[1] if node.named_child_count > 1 else None


def without_keywords(source: bytes) -> bytes:
    """The source with the keywords that have no node blanked, byte for byte."""
    return _TOP.sub(lambda found: b" " * len(found.group()), source)
