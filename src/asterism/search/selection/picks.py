"""Which lines of a text are picked so far: what they take, and how they read with marked gaps."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from asterism.search.selection.pieces import Layout, Piece
from asterism.types.selection import Lines

SHORT_GAP = 3
"""Lines between two others that are better read than left out."""


class Excerpt(NamedTuple):
    """Some lines of a hit, and the ranges that are left out between them."""

    text: str
    gaps: tuple[Lines, ...]


def gap_mark(gap: Lines) -> str:
    """What stands in place of lines that an excerpt leaves out."""
    if gap.first == gap.last:
        return f"[1 line left out, {gap.first}]"
    return f"[{gap.last - gap.first + 1} lines left out, {gap.first}-{gap.last}]"


class Picked:
    """The lines that are in so far, and the characters that are left."""

    def __init__(self, layout: Layout, span: Lines, most: int, without: Sequence[Lines]) -> None:
        """None so far, for so many characters; lines of the file that are not wanted are barred.

        `span` is all of the text's lines, of which the layout may have the first.
        """
        self.layout, self.span = layout, span
        lines = len(layout.lines)
        # As long as any mark that this hit may need, and the end of its line.
        self.mark = len(gap_mark(Lines(self.span.last, 2 * self.span.last))) + 1
        # What is before the first line counts as being there, and so does what is behind the last
        # if all lines were read.
        self.kept = bytearray(lines + 2)
        self.kept[0] = 1
        self.kept[-1] = self.span.first + lines > self.span.last
        self.barred = frozenset(
            line - self.span.first for some in without for line in range(some.first, some.last + 1)
        )
        # A text has a line end less than it has lines. At first all of it is one gap.
        self.room = most + 1 - self.mark

    def add(self, lines: Iterable[int]) -> bool:
        """Take lines in if all of them fit."""
        new, before = [], self.room
        for line in lines:
            if self.kept[line + 1] or line in self.barred:
                continue
            # Between two that are kept a gap closes, beside one it shrinks, else one is split.
            beside = self.kept[line] + self.kept[line + 2]
            self.room -= len(self.layout.lines[line]) + 1 + self.mark * (1 - beside)
            self.kept[line + 1] = 1
            new.append(line)
            # The last line may still close a gap.
            if self.room < -self.mark:
                break
        if self.room >= 0:
            return True
        for line in new:
            self.kept[line + 1] = 0
        self.room = before
        return False

    def has_any(self, piece: Piece) -> bool:
        """Whether a line of a piece is in."""
        return 1 in self.kept[piece.start + 1 : piece.end + 1]

    def close_gaps(self) -> None:
        """Take in what is left out between lines that nearly meet."""
        for gap in self._gaps():
            if len(gap) <= SHORT_GAP:
                self.add(gap)

    def excerpt(self) -> Excerpt:
        """The lines in their order, with a mark for each gap."""
        texts: list[str] = []
        gaps: list[Lines] = []
        at, lines = 0, self.layout.lines
        for run in self._gaps():
            texts += lines[at : run.start]
            at = run.stop
            gap = Lines(self.span.first + run.start, self.span.first + run.stop - 1)
            if run.stop == len(lines):
                gap = Lines(gap.first, self.span.last)
            if self._is_worth_showing(run, gap):
                texts += lines[run.start : run.stop]
            else:
                texts.append(gap_mark(gap))
                gaps.append(gap)
        texts += lines[at:]
        return Excerpt("\n".join(texts), tuple(gaps))

    def _is_worth_showing(self, run: range, gap: Lines) -> bool:
        """Whether a gap takes no more room than its mark, and may be shown."""
        starts = self.layout.starts
        size = starts[run.stop] - starts[run.start]
        all_read = gap.last - gap.first + 1 == len(run)
        return all_read and size <= len(gap_mark(gap)) + 1 and self.barred.isdisjoint(run)

    def _gaps(self) -> list[range]:
        """The lines that are left out, by their places; what was not read is behind the last."""
        found, end = [], len(self.layout.lines)
        start = self.kept.find(0, 1)
        while 0 <= start - 1 < end or (start - 1 == end and not self.kept[-1]):
            behind = self.kept.find(1, start)
            behind = end if behind < 0 else min(behind - 1, end)
            found.append(range(start - 1, behind))
            if behind >= end:
                break
            start = self.kept.find(0, behind + 1)
        return found
