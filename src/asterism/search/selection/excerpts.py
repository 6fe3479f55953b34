"""The lines of a long hit that matter to a question: whole lines, every gap marked."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, TypeAlias

from asterism.search.ranking.words import asked_stems
from asterism.search.selection.picks import Excerpt, Picked
from asterism.search.selection.pieces import Layout, Mentions, Piece, layout_of, mentions
from asterism.types.chunk import Chunk
from asterism.types.search import Hit, Question
from asterism.types.selection import Lines

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

There is none where the room holds no more than the head of the hit: its signature says as much."""


def excerpts_for(question: Question) -> Excerpts:
    """Excerpts that show what a question asks for; a hit is read once, whatever the room."""
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
    too long the pieces inside it, and what room is left goes to the pieces behind the head.
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
    if part.start >= part.end or not levels or picked.room <= 0:
        return
    pieces = picked.layout.pieces(*part)
    scores = {piece: said.score(picked.layout, piece) for piece in pieces}
    opened = 0
    for piece in sorted(filter(scores.__getitem__, pieces), key=lambda one: -scores[one]):
        if picked.add(range(*piece)) or opened == MOST_OPENED or picked.room < WORTH_OPENING:
            continue
        head = picked.layout.head(piece)
        if head + 1 < piece.end and picked.add([head]):
            opened += 1
            _fill(picked, said, Piece(head + 1, piece.end), levels - 1)


def _fill_from_the_top(picked: Picked, part: Piece, levels: int) -> None:
    """Take in what a part begins with, until the room is used up."""
    if part.start >= part.end or not levels:
        return
    for piece in picked.layout.pieces(*part):
        if picked.add(range(*piece)):
            continue
        head = picked.layout.head(piece)
        if picked.room >= WORTH_OPENING and head + 1 < piece.end and picked.add([head]):
            _fill_from_the_top(picked, Piece(head + 1, piece.end), levels - 1)
        return


def _head(chunk: Chunk, text: str, layout: Layout) -> range:
    """The lines that name the chunk: comments and decorators may stand above them."""
    first = 0
    for needle in (chunk.signature.partition("(")[0].partition("\n")[0], chunk.name):
        if needle and (at := text.find(needle)) >= 0:
            first = layout.line_at(at)
            break
    last, depth = first, _opened(layout.lines[first])
    while depth > 0 and last - first < HEAD_LINES - 1 and last + 1 < len(layout.lines):
        last += 1
        depth += _opened(layout.lines[last])
    return range(first, last + 1)


def _opened(line: str) -> int:
    return line.count("(") - line.count(")")
