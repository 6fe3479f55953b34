"""Where a long body may be cut: the lines on which its statements begin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.outlines import language_of
from asterism.types.outline import Span

if TYPE_CHECKING:
    # A file without oversize bodies, or in prose, needs no grammar.
    from tree_sitter import Tree

_MARGIN = re.compile(rb"^[ \t\f\v]*", re.MULTILINE)


class Statements:
    """Where the statements of one file begin; its tree is made once, at the first need.

    A file that is hard to parse may have many long bodies, and each would cost a parse.
    """

    def __init__(self, path: str, source: bytes) -> None:
        self._path = path
        self._source = source
        self._tree: Tree | None = None
        self._is_parsed = False

    def lines(self, span: Span) -> dict[int, int]:
        """1-based lines inside `span` on which a node begins alone, with its nesting level."""
        if not self._is_parsed:
            self._tree = _tree(self._path, self._source)
            self._is_parsed = True
        return {} if self._tree is None else _levels(self._tree, self._source, span)


def _tree(path: str, source: bytes) -> Tree | None:
    entry = language_of(path, source)
    if entry.home in ("text", "prose"):
        return None
    # Imported here: prose needs no grammar.
    from asterism.analysis.syntax.tables import ended, table_of

    return table_of(entry).parse(ended(source))


def _levels(tree: Tree, source: bytes, span: Span) -> dict[int, int]:
    # Where each line's text begins; asking at every node would read a long line once per node.
    begins = {found.end() for found in _MARGIN.finditer(source, span.start, span.end)}
    levels: dict[int, int] = {}
    cursor = tree.walk()
    depth = 0
    while True:
        node = cursor.node
        if node is None:
            return levels
        inside = node.end_byte > span.start and node.start_byte < span.end
        if inside and node.is_named and node.start_byte in begins:
            levels.setdefault(node.start_point[0] + 1, depth)
        if inside and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return levels
            depth -= 1
