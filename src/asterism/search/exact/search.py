"""Exact mode: every place where the words, phrases or the pattern of a question stand.

A match is a line of a file. The line belongs to the innermost chunk that holds the match and passes
the filter: a method is found and its class, whose source contains the method's, is not counted as
another place. Several words or phrases must all occur in one chunk.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from asterism.analysis.terms import terms_of
from asterism.search.exact.patterns import Matcher, guarded
from asterism.search.exact.worker import Span
from asterism.search.query.text import content_text, quotes_in, without_quotes
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot, Source
from asterism.types.deadlines import check_deadline
from asterism.types.errors import UsageError
from asterism.types.index import Chunk
from asterism.types.search import NO_FILTER, Filter, Question

# A pasted page of code is found by its first lines.
MAX_NEEDLES = 50


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text to find in the source literally."""

    text: str
    any_case: bool

    def spans(self, source: str, folded: str) -> Iterator[Span]:
        """The lines on which it begins and ends."""
        text, wanted = (folded, self.text.casefold()) if self.any_case else (source, self.text)
        height = wanted.count("\n")
        line, behind = 0, 0
        at = text.find(wanted)
        while at >= 0:
            line += text.count("\n", behind, at)
            yield line, line + height
            # Further matches on this line are the same place.
            behind = at
            following = text.find("\n", at)
            at = text.find(wanted, following) if following >= 0 else -1


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word, or a part that an identifier is made of, whatever its case."""

    text: str

    def spans(self, source: str, folded: str) -> Iterator[Span]:
        """The lines that contain it."""
        wanted = self.text.casefold()
        lines = source.split("\n")
        for line, _ in Phrase(wanted, any_case=True).spans(source, folded):
            if wanted in terms_of(lines[line]):
                yield line, line


Needle = Phrase | Keyword


def needles_of(question: Question) -> tuple[Needle, ...]:
    """Everything that has to occur.

    A phrase with a capital is case-sensitive, one without is not. Of a piece of code every line is
    looked for as it is written, but for its indentation. Else each word of the question is one
    keyword, stop words aside where enough others remain.
    """
    if question.is_code:
        lines = dict.fromkeys(filter(None, map(str.strip, question.text.splitlines())))
        return tuple(Phrase(line, any_case=False) for line in lines)[:MAX_NEEDLES]
    phrases = [Phrase(text, any_case=text == text.lower()) for text in question.phrases]
    rest = without_quotes(question.text, quotes_in(question.text))
    words = dict.fromkeys(word.casefold() for word in re.findall(r"\w+", content_text(rest)))
    found = (*phrases, *map(_keyword, words))[:MAX_NEEDLES]
    if not found:
        raise UsageError(
            "Exact search needs a word, a phrase in quotes, or `regex:` and a pattern."
        )
    return found


def _keyword(word: str) -> Needle:
    # Scripts without blanks have no words; their terms are single characters and pairs.
    return Keyword(word) if word in terms_of(word) else Phrase(word, any_case=True)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactOptions:
    """How much a pattern may cost."""

    batch_characters: int = 1_000_000
    """Text that is matched at once; a file's text is never divided."""
    batch_seconds: float = 5.0
    """What a batch may take: some hundred times what an ordinary pattern takes for a megabyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactAnswer:
    """All that was found, by repository, path and line."""

    found: tuple[Found, ...]
    looked_for: tuple[str, ...]
    """The words and phrases that had to occur, or the pattern."""

    @property
    def total_matches(self) -> int:
        """How many lines there are; exact."""
        return sum(len(found.lines) for found in self.found)


def find_exact(
    snapshot: ChunkSnapshot,
    question: Question,
    where: Filter = NO_FILTER,
    options: ExactOptions = ExactOptions(),  # noqa: B008 - immutable
) -> ExactAnswer:
    """Every match of a question in the source, as it stands there."""
    if question.pattern is not None:
        with guarded(question.pattern, options.batch_seconds) as matcher:
            found = tuple(_with_pattern(snapshot.sources(where), matcher, options))
        return ExactAnswer(found=found, looked_for=(question.pattern,))
    needles = needles_of(question)
    found = tuple(_with_needles(snapshot.sources(where), needles))
    return ExactAnswer(found=found, looked_for=tuple(needle.text for needle in needles))


def chunks_found(snapshot: ChunkSnapshot, found: Sequence[Found]) -> list[tuple[Chunk, Found]]:
    """The chunks of a page, each with what was found in it."""
    chunks = snapshot.chunks([one.key for one in found])
    by_key = {(chunk.repo, chunk.id): chunk for chunk in chunks}
    return [(by_key[one.key], one) for one in found if one.key in by_key]


def _files(sources: Iterable[Source]) -> Iterator[list[Source]]:
    """The chunks of each file; a scan brings them together."""
    for _, file in groupby(sources, key=lambda source: (source.key.repo, source.path)):
        check_deadline()
        yield list(file)


def _with_needles(sources: Iterable[Source], needles: Sequence[Needle]) -> Iterator[Found]:
    for file in _files(sources):
        matches: list[list[Span]] = []
        segments = [(segment, segment.text.casefold()) for segment in segments_of(file)]
        for needle in needles:
            spans = [
                (segment.start_line + first, segment.start_line + last)
                for segment, folded in segments
                for first, last in needle.spans(segment.text, folded)
            ]
            if not spans:
                break
            matches.append(spans)
        else:
            yield from claim(file, matches)


def _with_pattern(
    sources: Iterable[Source], matcher: Matcher, options: ExactOptions
) -> Iterator[Found]:
    batch: list[tuple[list[Source], list[Segment]]] = []
    size = 0
    for file in _files(sources):
        segments = segments_of(file)
        batch.append((file, segments))
        size += sum(len(segment.text) for segment in segments)
        if size >= options.batch_characters:
            yield from _matched(batch, matcher)
            batch, size = [], 0
    yield from _matched(batch, matcher)


def _matched(
    batch: Sequence[tuple[list[Source], list[Segment]]], matcher: Matcher
) -> Iterator[Found]:
    if not batch:
        return
    answers = iter(matcher([segment.text for _, segments in batch for segment in segments]))
    for file, segments in batch:
        spans = [
            (segment.start_line + first, segment.start_line + last)
            for segment in segments
            for first, last in next(answers)
        ]
        if spans:
            yield from claim(file, [spans])
