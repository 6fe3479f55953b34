"""Where a source is not valid in its language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.text import fold
from asterism.types.outline import Problem

if TYPE_CHECKING:
    from tree_sitter import Node

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


def _problem(node: Node, last_line: int, message: str) -> Problem:
    row, column = node.start_point
    return Problem(min(row + 1, last_line), column, message)
