"""Lines no statement claims: standalone comments, directives, loose text become root items."""

from collections.abc import Iterator, Sequence

from asterism.analysis.syntax.draft import Comment
from asterism.analysis.syntax.windows import is_blank, line_offsets, root_item
from asterism.types.outline import Item


def fill_gaps(
    source: bytes, items: tuple[Item, ...], comments: Sequence[Comment], gap_kind: str
) -> tuple[Item, ...]:
    """Add root items for every line that is not blank and in no top-level item."""
    lines = source.split(b"\n")
    free = bytearray(map(bool, map(bytes.strip, lines)))
    for item in items:
        if item.parent is None:
            free[item.first_line - 1 : item.end_line] = bytes(item.end_line - item.first_line + 1)
    if 1 not in free:
        return items
    in_comment = bytearray(len(lines))
    for comment in comments:
        rows = b"\1" * (comment.end_row - comment.start_row + 1)
        in_comment[comment.start_row : comment.end_row + 1] = rows
        if free[comment.start_row]:
            # Blank lines inside one comment do not end it.
            free[comment.start_row : comment.end_row + 1] = rows
    offsets = line_offsets(lines)
    gaps = [
        root_item(
            "comment" if in_comment[first] else gap_kind,
            lines[first : last + 1],
            first,
            offsets[first],
        )
        for first, last in _runs(free, in_comment)
        if not is_blank(lines[first : last + 1])
    ]
    # Last in the list, so that the indices by which items know each other stay true.
    return (*items, *gaps)


def _runs(free: bytearray, in_comment: bytearray) -> Iterator[tuple[int, int]]:
    """Contiguous free rows, broken where comment meets other text."""
    row = free.find(1)
    while row >= 0:
        last = row
        while last + 1 < len(free) and free[last + 1] and in_comment[last + 1] == in_comment[row]:
            last += 1
        yield row, last
        row = free.find(1, last + 1)
