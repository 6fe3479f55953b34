"""Where the statements of a file begin: the places at which an oversize body may be cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from asterism.analysis.syntax.language import ended, entry_of, has_grammar, table_of
from asterism.analysis.syntax.outlines import language_of
from asterism.analysis.syntax.parts import parts_of
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Tree

_MARGIN = re.compile(rb"^[ \t\f\v]*", re.MULTILINE)


class Statements:
    """Where the statements of one file begin; its trees are made once, at the first need.

    A file that is hard to parse may have many long bodies, and each would cost a parse.
    """

    def __init__(self, path: str, source: bytes) -> None:
        self._path = path
        self._source = source
        self._trees: list[_Parsed] | None = None

    def lines(self, span: Span) -> dict[int, int]:
        """1-based lines inside `span` on which a node begins alone, with its nesting level."""
        if self._trees is None:
            self._trees = list(_trees(self._path, self._source))
        found: dict[int, int] = {}
        for tree, source, start, rows in self._trees:
            inside = Span(max(span.start - start, 0), span.end - start)
            if inside.start < min(inside.end, len(source)):
                levels = _levels(tree, source, inside)
                found.update((line + rows, level) for line, level in levels.items())
        return found


class _Parsed(NamedTuple):
    tree: Tree
    source: bytes
    """The text that was parsed: the file, or a part of it."""
    start: int
    """Where it begins in the file."""
    rows: int
    """How many lines of the file are above it."""


def _trees(path: str, source: bytes) -> Iterator[_Parsed]:
    entry = language_of(path, source)
    texts = [(entry, source, 0)]
    if entry.parts:
        parts = parts_of(path, entry, source)
        texts = [
            (entry_of(part.key), part.text(source), part.span.start) for part in parts if part.key
        ]
    for reader, text, start in texts:
        tree = table_of(reader).parse(ended(text)) if has_grammar(reader) else None
        if tree is not None:
            yield _Parsed(tree, text, start, source.count(b"\n", 0, start))


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
