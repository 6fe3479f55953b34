"""Exact mode: every place where the words, phrases or the pattern of a question stand.

A match is a line of a file. The line belongs to the innermost chunk that holds the match and passes
the filter: a method is found and its class, whose source contains the method's, is not counted as
another place. Several words or phrases must all occur in one chunk.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from asterism.search.exact.needles import Needle, needles_of
from asterism.search.exact.patterns import Matcher, guarded
from asterism.search.exact.places import Found, Segment, claim, segments_of
from asterism.search.exact.worker import Span
from asterism.store.chunk_table import ChunkSnapshot, Source
from asterism.types.chunk import Chunk
from asterism.types.deadlines import check_deadline
from asterism.types.filters import NO_FILTER, Filter
from asterism.types.search import Question


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
