"""Where a long body may be cut: the lines on which its statements begin."""

import re

from asterism.analysis.syntax.outlines import language_of
from asterism.domain.outline import Span

_MARGIN = re.compile(rb"^[ \t\f\v]*", re.MULTILINE)


def statement_lines(path: str, source: bytes, span: Span) -> dict[int, int]:
    """1-based lines inside `span` on which a node begins alone, with its nesting level."""
    entry = language_of(path, source)
    if entry.home in ("text", "prose"):
        return {}
    # Imported here: prose needs no grammar.
    from asterism.analysis.syntax.tables import ended, table_of

    # Where each line's text begins; asking at every node would read a long line once per node.
    begins = {found.end() for found in _MARGIN.finditer(source, span.start, span.end)}
    tree = table_of(entry).parse(ended(source))
    levels: dict[int, int] = {}
    if tree is None:
        return levels
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
