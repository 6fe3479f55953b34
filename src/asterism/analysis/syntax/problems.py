"""Where a source is not valid in its language."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asterism.analysis.syntax.draft import Draft
from asterism.analysis.syntax.text import fold
from asterism.types.outline import Problem, Span

if TYPE_CHECKING:
    from tree_sitter import Node


def nest(drafts: Sequence[Draft], source: bytes) -> None:
    """Make every item lie within its parent, on the rows where its text is.

    In damaged code grammars report nodes on rows where they are not, and rules meet parts of a
    declaration outside of it: such an item belongs to the next parent that it does lie in.
    """
    starts = _row_starts(source)
    size = len(source)
    tails: dict[int, tuple[str, ...]] = {}
    for draft in drafts:
        parent = None if draft.parent is None else drafts[draft.parent]
        while parent is not None and (draft.end <= parent.start or draft.start >= parent.end):
            # Names below a parent that moves change too.
            tails = tails or {other.index: _tail(other, drafts) for other in drafts}
            parent = _move_up(draft, parent, drafts)
        if parent is None:
            low, high, draft.depth = 0, size, 0
        else:
            low, high, draft.depth = parent.start, parent.end, parent.depth + 1
        if tails:
            draft.path = (*_scope(parent), *tails[draft.index])
        draft.start = min(max(draft.start, low), high)
        draft.end = max(min(draft.end, high), draft.start)
        if draft.body is not None:
            start = min(max(draft.body.start, draft.start), draft.end)
            draft.body = Span(start, max(min(draft.body.end, draft.end), start))
        first = bisect_right(starts, draft.start) - 1
        last = bisect_right(starts, max(draft.end - 1, draft.start)) - 1
        draft.first_row, draft.end_row = first, last
        draft.start_row = min(max(draft.start_row, first), last)


def _move_up(draft: Draft, parent: Draft, drafts: Sequence[Draft]) -> Draft | None:
    """Make an item a sibling of its parent; returns its new parent."""
    parent.children.remove(draft.index)
    draft.parent = parent.parent
    above = None if parent.parent is None else drafts[parent.parent]
    if above is not None:
        above.children.append(draft.index)
        above.children.sort()
    return above


def _tail(draft: Draft, drafts: Sequence[Draft]) -> tuple[str, ...]:
    """The end of an item's path that its parent does not give."""
    scope = _scope(None if draft.parent is None else drafts[draft.parent])
    is_below = len(draft.path) > len(scope) and draft.path[: len(scope)] == scope
    return draft.path[len(scope) :] if is_below else (draft.name,)


def _scope(parent: Draft | None) -> tuple[str, ...]:
    return () if parent is None or parent.is_root else parent.path


def _row_starts(source: bytes) -> list[int]:
    starts, at = [0], source.find(b"\n")
    while at >= 0:
        starts.append(at + 1)
        at = source.find(b"\n", at + 1)
    return starts


# A file in the wrong language breaks on every line; fifty places say as much as fifty thousand.
PROBLEM_LIMIT = 50

QUOTE_LIMIT = 40


def problems_in(root: Node, source: bytes) -> tuple[Problem, ...]:
    """Each place the grammar could not follow, outermost first, in source order.

    `source` ends with a newline; what is missing at its very end is missed in the last line.
    """
    found: list[Problem] = []
    last_line = max(source.count(b"\n"), 1)
    pending = [root]
    while pending and len(found) < PROBLEM_LIMIT:
        node = pending.pop()
        if node.is_missing:
            found.append(_problem(node, last_line, f"missing {node.type}"))
        elif node.is_error:
            text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
            quote = fold(text, QUOTE_LIMIT) or "end of file"
            found.append(_problem(node, last_line, f"unexpected {quote}"))
        else:
            pending.extend(child for child in reversed(node.children) if child.has_error)
    return tuple(found)


def damage(root: Node) -> int:
    """How many bytes the grammar could not follow; what it misses counts as one byte each."""
    total = 0
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_missing:
            total += 1
        elif node.is_error:
            total += max(node.end_byte - node.start_byte, 1)
        else:
            pending.extend(child for child in node.children if child.has_error)
    return total


def _problem(node: Node, last_line: int, message: str) -> Problem:
    row, column = node.start_point
    return Problem(min(row + 1, last_line), column, message)
