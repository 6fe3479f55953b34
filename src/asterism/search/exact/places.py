"""Which chunk a match belongs to: the innermost one that holds it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from asterism.search.exact.worker import Span
from asterism.store.chunk_table import ChunkKey, Source


class Segment(NamedTuple):
    """Lines of a file that follow each other without a gap."""

    start_line: int
    text: str


class Found(NamedTuple):
    """A chunk with the lines on which something was found."""

    key: ChunkKey
    path: str
    lines: tuple[int, ...]
    start_line: int = 0
    """Where the chunk begins."""


@dataclass(slots=True)
class _Mark:
    """What begins on a line: which needles, and where the longest of their matches ends."""

    last: int
    needles: set[int] = field(default_factory=set)


def segments_of(sources: Sequence[Source]) -> list[Segment]:
    """The text that chunks of a file cover, each line once, though parents repeat their children's.

    Lines between two segments are blank, or belong to chunks that a filter has left out.
    """
    found: list[tuple[int, list[str]]] = []
    end = 0
    for source in sorted(sources, key=lambda source: (source.start_line, -source.end_line)):
        if source.end_line <= end:
            continue
        lines = source.text.split("\n")
        if not found or source.start_line > end + 1:
            found.append((source.start_line, lines))
        else:
            found[-1][1].extend(lines[end + 1 - source.start_line :])
        end = source.end_line
    return [Segment(start, "\n".join(lines)) for start, lines in found]


def claim(sources: Sequence[Source], matches: Sequence[Iterable[Span]]) -> list[Found]:
    """Give every line to one chunk; `matches` has for each needle the lines it was found on.

    The smallest chunks choose first. A chunk takes the lines that are left in it if all needles
    occur on them, so a method that has everything is found and its class is not, unless the
    class has everything once more. A match that no chunk holds whole goes by its first line.
    """
    marks: dict[int, _Mark] = {}
    for needle, spans in enumerate(matches):
        for first, last in spans:
            mark = marks.setdefault(first, _Mark(last))
            mark.last = max(mark.last, last)
            mark.needles.add(needle)
    order = sorted(sources, key=lambda one: (one.end_line - one.start_line, -one.depth, one))
    taken: dict[ChunkKey, list[int]] = {}
    for whole in (True, False):
        for source, lines in _choices(order, marks, len(matches), whole):
            taken.setdefault(source.key, []).extend(lines)
            for line in lines:
                del marks[line]
    places = {source.key: source for source in sources}
    found = [
        Found(key, places[key].path, tuple(sorted(lines)), places[key].start_line)
        for key, lines in taken.items()
    ]
    return sorted(found, key=lambda one: (one.lines, one.key))


def _choices(
    order: Sequence[Source], marks: dict[int, _Mark], needles: int, whole: bool
) -> Iterator[tuple[Source, list[int]]]:
    left = sorted(marks)
    for source in order:
        if not left:
            return
        reach = left[bisect_left(left, source.start_line) : bisect_right(left, source.end_line)]
        lines = [line for line in reach if not whole or marks[line].last <= source.end_line]
        if lines and len(set().union(*(marks[line].needles for line in lines))) == needles:
            yield source, lines
            gone = set(lines)
            left = [line for line in left if line not in gone]
