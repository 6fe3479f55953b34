"""Which symbol is meant: a name and a line found again in a file that may have changed since."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from asterism.types.outline import Item, Outline
from asterism.types.structure import Connections, Fact, Gap, SymbolPlace


class Target(NamedTuple):
    """A symbol somebody wants to know more of."""

    path: str
    """Relative to the repository."""
    name: str
    """Qualified, as `TokenService.validateToken`."""
    line: int
    """Any line of it, from 1; of two with one name it says which."""
    offset: int | None = None
    """Of its name in the decoded text, where known: it tells even two apart on one line."""


def find_item(outline: Outline, target: Target) -> int | None:
    """The index of the item that is meant; one that moved is found if its name is unique."""
    named = [index for index, item in outline.symbols() if item.qualified_name == target.name]
    if not named:
        return None
    return min(named, key=lambda index: _distance(outline.items[index], target))


def unknown(target: Target, why: str) -> Connections:
    """Nothing but the name, and why."""
    place = SymbolPlace(target.name, target.path, target.line)
    return Connections(symbol=place, kind="", signature="", gaps=(Gap(tuple(Fact), why),))


def _distance(item: Item, target: Target) -> tuple[bool, int, int]:
    """How far an item is from a target: at its offset, around its line, or near it."""
    if item.first_line <= target.line <= item.end_line:
        away = 0
    else:
        away = min(abs(item.first_line - target.line), abs(item.end_line - target.line))
    size = item.end_line - item.first_line
    return (item.name_offset != target.offset, away, size)


class Enclosing:
    """Finds the innermost symbol around an offset, for one outline."""

    def __init__(self, items: Sequence[Item]) -> None:
        # The text as a row of stretches, each with the symbol that is innermost there.
        self._starts: list[int] = []
        self._inner: list[int | None] = []
        open_spans: list[tuple[int, int]] = []
        spans = [(it.span.start, -it.span.end, i) for i, it in enumerate(items) if it.is_symbol]
        for start, end, index in sorted(spans):
            self._close(open_spans, start)
            open_spans.append((-end, index))
            self._begin(start, index)
        self._close(open_spans, None)

    def _close(self, open_spans: list[tuple[int, int]], until: int | None) -> None:
        while open_spans and (until is None or open_spans[-1][0] <= until):
            end, _ = open_spans.pop()
            self._begin(end, open_spans[-1][1] if open_spans else None)

    def _begin(self, start: int, index: int | None) -> None:
        self._starts.append(start)
        self._inner.append(index)

    def at(self, offset: int) -> int | None:
        """The index of the symbol, or None outside of all."""
        place = bisect_right(self._starts, offset) - 1
        return self._inner[place] if place >= 0 else None
