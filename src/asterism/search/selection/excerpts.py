"""The lines of a long hit that matter to a question: whole lines, every gap marked."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from asterism.search.ranking.words import asked_stems
from asterism.search.selection.pieces import (
    CODE,
    COMMENT,
    Layout,
    Mentions,
    Piece,
    layout_of,
    mentions,
)
from asterism.types.index import Chunk
from asterism.types.search import Hit, Lines, Question

SHORT_GAP = 3
"""Lines between two others that are better read than left out."""


class Excerpt(NamedTuple):
    """Some lines of a hit, and the ranges that are left out between them."""

    text: str
    gaps: tuple[Lines, ...]


def gap_mark(gap: Lines) -> str:
    """The text that replaces lines that an excerpt leaves out."""
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
        self.space = most + 1 - self.mark

    def add(self, lines: Iterable[int]) -> bool:
        """Take lines in if all of them fit."""
        new, before = [], self.space
        for line in lines:
            if self.kept[line + 1] or line in self.barred:
                continue
            # Between two that are kept a gap closes, beside one it shrinks, else one is split.
            beside = self.kept[line] + self.kept[line + 2]
            self.space -= len(self.layout.lines[line]) + 1 + self.mark * (1 - beside)
            self.kept[line + 1] = 1
            new.append(line)
            # The last line may still close a gap.
            if self.space < -self.mark:
                break
        if self.space >= 0:
            return True
        for line in new:
            self.kept[line + 1] = 0
        self.space = before
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
        """Whether a gap is no longer than its mark, and may be shown."""
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


WORTH_OPENING = 240
"""Characters that have to be left for a piece to be shown in part: about six lines."""
MOST_OPENED = 2
"""Pieces of a level that are shown in part: more of them leave little of each."""
DEEPEST = 5
"""Levels that are looked into, one below the other."""
MOST_WORDS = 24
"""Words that are looked for, the longest first: a piece of code or a trace has hundreds."""
READ_CHARACTERS = 30_000
"""So much of a hit is looked at, some 800 lines, which takes about a millisecond; the members of a
longer one are hits of their own."""
HEAD_LINES = 8
"""A head that goes on for longer is a list of parameters, of which the first few will do."""


Excerpts: TypeAlias = Callable[[Hit, int, Sequence[Lines]], Excerpt | None]
"""From a hit, the characters there are and the lines that are not wanted, to an excerpt.

There is no excerpt where only the head of the hit fits: its signature says as much."""


def excerpts_for(question: Question) -> Excerpts:
    """Excerpts that show what a query asks for; a hit is read once, for all lengths."""
    words = sorted(asked_stems(question), key=lambda word: (-len(word), word))[:MOST_WORDS]
    read: dict[tuple[str, str, str, int, tuple[int, ...]], Reading] = {}

    def excerpt(hit: Hit, most: int, without: Sequence[Lines] = ()) -> Excerpt | None:
        chunk = hit.chunk
        # All that a reading depends on; the same symbol may come as of another moment.
        key = (chunk.full_source, chunk.signature, chunk.name, chunk.start_line, hit.lines)
        if key not in read:
            read[key] = read_for(hit, words)
        return excerpt_of(read[key], most, without)

    return excerpt


LONGEST_LINE = 120
"""Characters that are shown of one line by itself."""


def matching_lines(text: str, question: Question, most: int) -> list[tuple[int, str]]:
    """The lines of a text, below its first, that say most of a query, by their places from 0.

    A rare word says more than a frequent one, and a comment half of what code does.
    """
    words = sorted(asked_stems(question), key=lambda word: (-len(word), word))[:MOST_WORDS]
    layout = layout_of(_beginning(text))
    said = mentions(layout, "\n".join(layout.lines), words)
    worth: defaultdict[int, float] = defaultdict(float)
    for line, word in {*zip(said.lines, said.words, strict=True)}:
        worth[line] += said.worth[word] * (0.5 if layout.sorts[line] == COMMENT else 1.0)
    code = [line for line, sort in enumerate(layout.sorts) if sort == CODE]
    head = _end_of_head(layout, code[0] if code else 0)
    best = sorted((line for line in worth if line > head), key=lambda one: (-worth[one], one))
    return [(line, _at_most(layout.lines[line].strip())) for line in sorted(best[:most])]


def _at_most(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


class Reading(NamedTuple):
    """A hit as excerpts are made of it."""

    layout: Layout
    said: Mentions
    head: range
    """The lines that name it."""
    doc: int | None
    """The line where its doc begins to say what it is for."""
    span: Lines
    """All of its lines, of which some may be too many to be read."""


def read_for(hit: Hit, words: Collection[str]) -> Reading:
    """Read a hit for what it says of these words; lines that are known to match say most."""
    chunk, text = hit.chunk, _beginning(hit.chunk.full_source)
    layout = layout_of(text)
    matching = [line - chunk.start_line for line in hit.lines]
    doc = (chunk.docstring or chunk.jsdoc or "").strip().partition("\n")[0]
    at = text.find(doc) if doc else -1
    return Reading(
        layout,
        mentions(layout, text, words, matching),
        _head(chunk, text, layout),
        layout.line_at(at) if at >= 0 else None,
        Lines(chunk.start_line, max(chunk.end_line, chunk.start_line + len(layout.lines) - 1)),
    )


def excerpt_of(reading: Reading, most: int, without: Sequence[Lines] = ()) -> Excerpt | None:
    """The lines that say most, within so many characters.

    First the head and what the doc begins with, then the pieces that say most, of a piece that is
    too long the pieces inside it, and the space that is left goes to the pieces behind the head.
    """
    picked = Picked(reading.layout, reading.span, most, without)
    head, body = reading.head, Piece(reading.head.stop, len(reading.layout.lines))
    if not picked.add(head):
        return None
    if reading.doc is not None:
        picked.add([reading.doc])
    _fill(picked, reading.said, body, DEEPEST)
    _fill(picked, reading.said, Piece(0, head.start), 1)
    picked.close_gaps()
    _fill_from_the_top(picked, body, DEEPEST)
    return picked.excerpt() if picked.has_any(body) else None


def _beginning(source: str) -> str:
    """As much of a source as is read, in whole lines."""
    if len(source) <= READ_CHARACTERS:
        return source
    return source[: max(0, source.rfind("\n", 0, READ_CHARACTERS))]


def _fill(picked: Picked, said: Mentions, part: Piece, levels: int) -> None:
    """Take in the pieces of a part that matter, those that say most first."""
    if part.start >= part.end or not levels or picked.space <= 0:
        return
    pieces = picked.layout.pieces(*part)
    scores = {piece: said.score(picked.layout, piece) for piece in pieces}
    opened = 0
    for piece in sorted(filter(scores.__getitem__, pieces), key=lambda one: -scores[one]):
        if picked.add(range(*piece)) or opened == MOST_OPENED or picked.space < WORTH_OPENING:
            continue
        head = picked.layout.head(piece)
        if head + 1 < piece.end and picked.add([head]):
            opened += 1
            _fill(picked, said, Piece(head + 1, piece.end), levels - 1)


def _fill_from_the_top(picked: Picked, part: Piece, levels: int) -> None:
    """Add pieces from the beginning of a part until the space is used up."""
    if part.start >= part.end or not levels:
        return
    for piece in picked.layout.pieces(*part):
        if picked.add(range(*piece)):
            continue
        head = picked.layout.head(piece)
        if picked.space >= WORTH_OPENING and head + 1 < piece.end and picked.add([head]):
            _fill_from_the_top(picked, Piece(head + 1, piece.end), levels - 1)
        return


def _head(chunk: Chunk, text: str, layout: Layout) -> range:
    """The lines that name the chunk: comments and decorators may stand above them."""
    first = 0
    for needle in (chunk.signature.partition("(")[0].partition("\n")[0], chunk.name):
        if needle and (at := text.find(needle)) >= 0:
            first = layout.line_at(at)
            break
    return range(first, _end_of_head(layout, first) + 1)


def _end_of_head(layout: Layout, first: int) -> int:
    """The line that closes the list of parameters that the first one opens."""
    last, depth = first, _opened(layout.lines[first])
    while depth > 0 and last - first < HEAD_LINES - 1 and last + 1 < len(layout.lines):
        last += 1
        depth += _opened(layout.lines[last])
    return last


def _opened(line: str) -> int:
    return line.count("(") - line.count(")")
