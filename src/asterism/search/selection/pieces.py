"""A text in pieces, by its indentation: what belongs together, in whatever language."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

PIECE_LINES = 6
"""Lines from which a piece ends at the next statement: shorter ones, each with a gap before and
behind it, are harder to read than the few lines that they save."""
EVERYWHERE = 100
"""A word that so many lines say tells none of them apart."""
MATCHING = ""
"""The key of the lines that match; it is no word of a query."""
CONTINUING = re.compile(r"""[})\]{]|\*/|\"{3}|'{3}|(?:end|then|else)\b""")
"""How a line begins that belongs to what stands above it, though it is not indented more."""
COMMENTING = ("/", "*", "#", "--", "@", ";", "%")
"""How a line begins that speaks of the one below it."""


class Piece(NamedTuple):
    """Consecutive lines by their places, from 0, the end not included."""

    start: int
    end: int


BLANK, CONTINUED, COMMENT, CODE = range(4)
"""What a line is; numbers, as they are compared for every line of every long hit."""


class Layout(NamedTuple):
    """A text's lines: where each begins, how far it is indented, and what it is."""

    lines: Sequence[str]
    starts: Sequence[int]
    """With one more, where a further line would begin."""
    indents: Sequence[int]
    sorts: Sequence[int]

    def line_at(self, place: int) -> int:
        """The line that a character is in."""
        return min(bisect_right(self.starts, place), len(self.lines)) - 1

    def pieces(self, start: int, end: int) -> list[Piece]:
        """Those lines in pieces, each a few statements with all that stands under them.

        A piece ends where a line begins that is indented least, if the piece is long enough or a
        blank line stands between; never between a comment and what it is about.
        """
        indents, sorts = self.indents, self.sorts
        least = self._least(start, end)
        pieces, first, is_open = [], start, True
        for line in [one for one in range(start, end) if indents[one] == least]:
            if sorts[line] < COMMENT:
                continue
            may_end = line - first >= PIECE_LINES or sorts[line - 1] == BLANK
            if may_end and not is_open:
                pieces.append(Piece(first, line))
                first = line
            is_open = sorts[line] == COMMENT
        pieces.append(Piece(first, end))
        return pieces

    def head(self, piece: Piece) -> int:
        """The line that a piece begins with, comments aside."""
        code = (line for line in range(*piece) if self.sorts[line] == CODE)
        return next(code, piece.start)

    def _least(self, start: int, end: int) -> int:
        """The indent at which statements begin; directives may stand further to the left."""
        sorts, indents = self.sorts[start:end], self.indents[start:end]
        code = [one for one, sort in zip(indents, sorts, strict=True) if sort == CODE]
        return min(code or indents, default=0)


def layout_of(text: str) -> Layout:
    """The layout of a text."""
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    bare = [line.lstrip() for line in lines]
    indents = [len(line) - len(rest) for line, rest in zip(lines, bare, strict=True)]
    return Layout(lines, starts, indents, list(map(_sort_of, bare)))


def _sort_of(line: str) -> int:
    if not line:
        return BLANK
    if CONTINUING.match(line):
        return CONTINUED
    return COMMENT if line.startswith(COMMENTING) else CODE


class Mentions(NamedTuple):
    """Which line says which word, by line, and what each word is worth."""

    lines: Sequence[int]
    words: Sequence[str]
    worth: dict[str, float]

    def score(self, layout: Layout, piece: Piece) -> float:
        """How much a piece says, each word once; a long piece says more without meaning more."""
        first, behind = (bisect_left(self.lines, line) for line in piece)
        said = set(self.words[first:behind])
        if not said:
            return 0.0
        size = layout.starts[piece.end] - layout.starts[piece.start]
        # In whatever order a set is, this sum is the same.
        return math.fsum(self.worth[word] for word in said) / math.sqrt(size)


def mentions(
    layout: Layout, text: str, words: Collection[str], matching: Iterable[int] = ()
) -> Mentions:
    """Where a text says these words, in whatever case; the rarer a word, the more it is worth.

    Lines that match for another reason are worth more than all words.
    """
    lowered = text.lower()
    # A few letters are longer in lower case, and would shift the text after them.
    if len(lowered) != len(text):
        lowered = text
    found = [(line, MATCHING) for line in matching if 0 <= line < len(layout.lines)]
    worth = {MATCHING: 1.0 + len(words)}
    for word in words:
        lines = _lines_with(layout, lowered, word)
        if len(lines) < EVERYWHERE:
            found += ((line, word) for line in lines)
            worth[word] = 1 / math.sqrt(1 + len(lines))
    found.sort()
    return Mentions([line for line, _ in found], [word for _, word in found], worth)


def _lines_with(layout: Layout, text: str, word: str) -> list[int]:
    """The lines that say a word, up to as many as tell anything."""
    lines: list[int] = []
    at = text.find(word)
    while at >= 0 and len(lines) < EVERYWHERE:
        lines.append(layout.line_at(at))
        at = text.find(word, layout.starts[lines[-1] + 1])
    return lines
