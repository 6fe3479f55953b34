"""Names for functions without one: by the call they are passed to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.text import fold

if TYPE_CHECKING:
    from tree_sitter import Node

# A callback's name quotes the call it is passed to; a long chain says no more than its last link.
NAME_LIMIT = 60


def callback_name(receiver: str, callee: str, title: str = "") -> str:
    """`suite.test("parser") callback`: what is called on what, and the string that comes first."""
    head = fold(f"{receiver}.{callee}" if receiver else callee)
    if len(head) > NAME_LIMIT:
        head = f"….{callee}" if receiver else fold(callee, NAME_LIMIT)
    return f"{head}({fold(title, NAME_LIMIT)}) callback"


def spans_lines(body: Node) -> bool:
    """Whether a function has statements on lines of their own."""
    return body.end_point[0] > body.start_point[0]
