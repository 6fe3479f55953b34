"""A body over the model's limit, cut at statement boundaries into parts of the same symbol."""

from collections.abc import Callable

# A line with no statement on it is the last resort for a cut.
_NO_STATEMENT = 1_000_000


def cut_lines(
    first: int,
    last: int,
    levels: dict[int, int],
    closed: Callable[[int], bool],
    size_of: Callable[[int, int], int],
    limit: int,
) -> list[tuple[int, int]]:
    """Line ranges that cover `first` to `last`, each within `limit` where a cut allows it.

    A cut is made before a line that starts a statement of the lowest nesting level available in
    the second half of what fits; never before a line for which `closed` is true, since that is
    inside a child's body, which is collapsed anyway.
    """
    parts: list[tuple[int, int]] = []
    start = first
    while start <= last:
        end = _reach(start, last, size_of, limit)
        if end < last:
            end = _cut(start, end, levels, closed)
        while end < last and closed(end + 1):
            end += 1
        parts.append((start, end))
        start = end + 1
    return parts


def _reach(start: int, last: int, size_of: Callable[[int, int], int], limit: int) -> int:
    """The furthest line that still fits, by halving; at least one line."""
    low, high = start, last
    while low < high:
        middle = (low + high + 1) // 2
        if size_of(start, middle) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def _cut(start: int, end: int, levels: dict[int, int], closed: Callable[[int], bool]) -> int:
    """The last line of a part: before the outermost statement that begins in its second half."""
    best, best_level = end, _NO_STATEMENT
    for line in range(end + 1, max(start, (start + end) // 2), -1):
        level = levels.get(line, _NO_STATEMENT)
        if level < best_level and not closed(line):
            best, best_level = line - 1, level
    return best
