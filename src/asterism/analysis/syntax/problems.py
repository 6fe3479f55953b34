"""Where a source is not valid in its language."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from asterism.analysis.syntax.catalogue import entry_of
from asterism.analysis.syntax.draft import Draft
from asterism.analysis.syntax.outlines import language_of
from asterism.analysis.syntax.text import fold
from asterism.types.outline import Problem, Span

if TYPE_CHECKING:
    from tree_sitter import Node, Tree


_MARGIN = re.compile(rb"^[ \t\f\v]*", re.MULTILINE)


class Statements:
    """Where the statements of one file begin; its tree is made once, at the first need.

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
        # Imported here, as below: prose needs no grammar.
        from asterism.analysis.syntax.parts import parts_of

        parts = parts_of(path, entry, source)
        texts = [
            (entry_of(part.key), part.text(source), part.span.start) for part in parts if part.key
        ]
    for reader, text, start in texts:
        if not reader.has_grammar:
            continue
        from asterism.analysis.syntax.language import ended, table_of

        tree = table_of(reader).parse(ended(text))
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


def _problem(node: Node, last_line: int, message: str) -> Problem:
    row, column = node.start_point
    return Problem(min(row + 1, last_line), column, message)
