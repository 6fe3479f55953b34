"""Where an indented definition ends: before the comments that belong to what follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft
from asterism.analysis.syntax.language import Rule

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMENTS = frozenset({"comment", "block_comment"})


def laid_out(rule: Rule) -> Rule:
    """The rule, its definitions cut off before comments that stand no deeper than they do.

    The grammar lets an indented body reach to the next token, over the comment above that token.
    """

    def trimmed(builder: Builder, node: Node) -> bool:
        count = len(builder.drafts)
        descend = rule(builder, node)
        for draft in builder.drafts[count:]:
            if _may_end_in_comment(builder.source, draft):
                _trim(builder, node, draft)
        return descend

    return trimmed


def _may_end_in_comment(source: bytes, draft: Draft) -> bool:
    line = source.rfind(b"\n", draft.start, draft.end) + 1
    return (
        source.endswith(b"*/", draft.start, draft.end) or source.find(b"//", line, draft.end) >= 0
    )


def _trim(builder: Builder, node: Node, draft: Draft) -> None:
    last = _last_token(node, node.start_point[1])
    if last.end_byte >= draft.end or last.end_byte <= node.start_byte:
        return
    draft.end, draft.end_row = last.end_byte, last.end_point[0]
    frame = builder.frames[-1]
    around = builder.frames[-2] if frame.draft is draft else frame
    around.last_end = draft.end


def _last_token(node: Node, column: int) -> Node:
    """The last thing in a node, comments as far left as `column` aside."""
    while node.child_count:
        for position in range(node.child_count - 1, -1, -1):
            child = node.child(position)
            if child is None or child.start_byte == child.end_byte:
                continue
            if child.type not in _COMMENTS or child.start_point[1] > column:
                break
        else:
            return node
        node = child
    return node
