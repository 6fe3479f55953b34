"""A file's text in UTF-16 units, as compilers count, and in bytes of decoded text, as we do."""

import re
from array import array
from bisect import bisect_right

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
