"""Where a source is not valid in its language."""

from tree_sitter import Node

from asterism.analysis.syntax.signatures import fold
from asterism.domain.outline import Problem

# A file in the wrong language breaks on every line; fifty places say as much as fifty thousand.
PROBLEM_LIMIT = 50

QUOTE_LIMIT = 40


def problems_in(root: Node, source: bytes) -> tuple[Problem, ...]:
    """Each place the grammar could not follow, outermost first, in source order."""
    found: list[Problem] = []
    pending = [root]
    while pending and len(found) < PROBLEM_LIMIT:
        node = pending.pop()
        if node.is_missing:
            found.append(_problem(node, f"missing {node.type}"))
        elif node.is_error:
            text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
            found.append(_problem(node, f"unexpected {fold(text, QUOTE_LIMIT) or 'end of file'}"))
        else:
            pending.extend(child for child in reversed(node.children) if child.has_error)
    return tuple(found)


def _problem(node: Node, message: str) -> Problem:
    row, column = node.start_point
    return Problem(row + 1, column, message)
