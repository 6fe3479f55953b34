"""Positions of symbols and chunks in a file, also after an edit; offsets as compilers count."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from asterism.analysis.chunks.units import units_of
from asterism.analysis.resolve.scopes import FileScope
from asterism.types.index import Chunk
from asterism.types.outline import ROOT_KINDS, Item, Outline
from asterism.types.search import Lines
from asterism.types.structure import CALLABLE, Connections, Fact, Gap, SymbolPlace


class SymbolTarget(NamedTuple):
    """A symbol whose connections are wanted."""

    path: str
    """Relative to the repository."""
    name: str
    """Qualified, as `TokenService.validateToken`."""
    line: int
    """Any line of it, from 1; of two with one name it says which."""
    offset: int | None = None
    """Of its name in the decoded text, where known: it tells even two apart on one line."""


def find_item(outline: Outline, target: SymbolTarget) -> int | None:
    """The index of the item that is meant; one that moved is found if its name is unique."""
    named = [index for index, item in outline.symbols() if item.qualified_name == target.name]
    if not named:
        return None
    return min(named, key=lambda index: _distance(outline.items[index], target))


def unknown(target: SymbolTarget, why: str) -> Connections:
    """Nothing but the name, and why."""
    place = SymbolPlace(target.name, target.path, target.line)
    return Connections(symbol=place, kind="", signature="", gaps=(Gap(tuple(Fact), why),))


def _distance(item: Item, target: SymbolTarget) -> tuple[bool, int, int]:
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


_LINE_END = re.compile(r"\r\n|\r|\n")
_MARK = "\ufeff"


class SourceUnits:
    """Both ways of counting over one text, exactly, whatever its characters and line ends."""

    def __init__(self, text: str) -> None:
        """`text` is as the compiler holds it, with its line ends and perhaps a byte-order mark."""
        plain = text.isascii() and "\r" not in text
        self._same = plain
        # One character per unit, surrogates apart, so that slices count as the compiler does.
        self.units = text if text.isascii() else _apart(text)
        self.decoded = _normal(text).encode("utf-8", "replace")
        self._unit_lines = [0, *(found.end() for found in _LINE_END.finditer(self.units))]
        self._byte_lines = [0, *(found.end() for found in re.finditer(b"\n", self.decoded))]
        self._skipped = 1 if text.startswith(_MARK) else 0

    def text(self, start: int, end: int) -> str:
        """The text between two units."""
        return together(self.units[start:end])

    def line_of(self, unit: int) -> int:
        """The line of a unit, from 1."""
        return bisect_right(self._unit_lines, unit)

    def to_bytes(self, unit: int) -> int:
        """The byte offset of a unit."""
        if self._same:
            return unit
        line = bisect_right(self._unit_lines, unit) - 1
        start = self._start_of(line)
        before = _LINE_END.sub("\n", self.units[start:unit])
        return self._byte_lines[line] + len(_encoded(before))

    def to_units(self, offset: int) -> int:
        """The unit at a byte offset."""
        if self._same:
            return offset
        line = bisect_right(self._byte_lines, offset) - 1
        before = self.decoded[self._byte_lines[line] : offset].decode("utf-8", "replace")
        return self._start_of(line) + len(_apart(before))

    def column_of(self, unit: int) -> int:
        """The column of a unit in its line, from 0, in units."""
        return unit - self._unit_lines[bisect_right(self._unit_lines, unit) - 1]

    def unit_at(self, line: int, column: int) -> int:
        """The unit at a line and a column in units, both from 0."""
        if line >= len(self._unit_lines):
            return len(self.units)
        return min(self._unit_lines[line] + column, len(self.units))

    def _start_of(self, line: int) -> int:
        return self._unit_lines[line] + (self._skipped if line == 0 else 0)


def together(units: str) -> str:
    """Text of which surrogates were taken apart, made whole; half a pair becomes a mark."""
    if units.isascii():
        return units
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _apart(text: str) -> str:
    if text.isascii():
        return text
    return "".join(map(chr, array("H", text.encode("utf-16-le", "surrogatepass"))))


def _normal(text: str) -> str:
    return _LINE_END.sub("\n", text.removeprefix(_MARK))


def _encoded(units: str) -> bytes:
    return together(units).encode("utf-8", "replace")


def with_overloads(scope: FileScope, targets: tuple[int, ...]) -> tuple[int, ...]:
    """A function with the heads of its overloads: declarations in a row of which one has code."""
    items = scope.outline.items
    item = items[targets[0]]
    if len(targets) > 1 or item.kind not in CALLABLE:
        return targets
    beside = [number for number, other in enumerate(items) if other.parent == item.parent]
    at = beside.index(targets[0])
    first = last = at
    while first and items[beside[first - 1]].path == item.path:
        first -= 1
    while last + 1 < len(beside) and items[beside[last + 1]].path == item.path:
        last += 1
    row = beside[first : last + 1]
    bodies = sum(items[number].body is not None for number in row)
    return tuple(row) if bodies == 1 else targets


def with_same_text(scope: FileScope, chunk: Chunk) -> Lines | None:
    """The lines of a chunk's whole text in a changed file; the nearest if there are several."""
    lines = scope.source.decode("utf-8", "replace").split("\n")
    found = [
        Lines(unit.first_line, unit.end_line)
        for unit in units_of(scope.outline.items)
        if "\n".join(lines[unit.first_line - 1 : unit.end_line]) == chunk.full_source
    ]
    return min(found, key=lambda place: abs(place.first - chunk.start_line), default=None)


def with_same_name(scope: FileScope, chunk: Chunk) -> tuple[int, ...]:
    """The item of a chunk's name in a changed file; none where it is not a symbol or is gone."""
    if chunk.node_kind in ROOT_KINDS:
        return ()
    target = SymbolTarget(chunk.relative_path, chunk.qualified_name, chunk.start_line)
    found = find_item(scope.outline, target)
    return () if found is None else (found,)


# The text right before a function that is returned, and the last line of one that returns a name.
_RETURNED_HERE = re.compile(rb"(?:\breturn|=>)\s*+(?:async\s+)?\(?\s*+$")


def is_returned(source: bytes, around: Item, inner: Item) -> bool:
    """Whether a function returns a function that is declared in it, as a factory does."""
    if around.kind not in CALLABLE or inner.kind not in CALLABLE:
        return False
    start = inner.span.start
    if _RETURNED_HERE.search(source, max(around.span.start, start - 40), start):
        return True
    name = re.escape(inner.name.encode())
    after = source[inner.span.end : around.span.end]
    by_name = rb"\breturn\s+" + name + rb"\s*(?:$|[;\n}])|\n[ \t]*" + name + rb"\s*\}?\s*$"
    return re.search(by_name, after) is not None
