"""Which lines of a long hit are worth showing, and which words in them answer the question."""

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from asterism.analysis.terms import terms_of
from asterism.search.exact.patterns import Matcher, guarded
from asterism.search.exact.search import Phrase, needles_of
from asterism.search.query.text import STOP_WORDS
from asterism.search.ranking.words import stem_of
from asterism.types.errors import UsageError, WorkerDied
from asterism.types.index import Chunk
from asterism.types.search import Hit, Mode, Question

# A match this near to the signature is shown with all that lies between.
NEAR_LINES = 3
# Lines above a signature that may be shown with it: documentation and decorators.
LEAD_LINES = 3
# What marking may take, for one line and for all lines together: a line takes a millisecond, and
# the user waits for the rest of the reply.
MARK_SECONDS = 2.0

_WORD = re.compile(r"\w+")
_NAMES_A_BREAK = re.compile(r"\n|\\n|\(\?[a-zA-Z]*s")


class Mark(NamedTuple):
    """A part of a line that answers the question."""

    start: int
    end: int
    word: str
    """What it answers; equal for all forms of a word."""


Marker: TypeAlias = Callable[[str], list[Mark]]
"""From a line to its marks, in order and without overlaps."""


@contextmanager
def marking(question: Question, mode: Mode) -> Iterator[Marker]:
    """Marks lines for a query while its reply is printed; a pattern is matched in a process."""
    if question.pattern is None:
        yield marker_for(question, mode)
        return
    with ExitStack() as ending:
        across = _NAMES_A_BREAK.search(question.pattern)
        yield _no_marks if across else _PatternMarker(question.pattern, ending)


def marker_for(question: Question, mode: Mode) -> Marker:
    """Marks lines for a query without a pattern; a query of code has no marks."""
    if question.symbol is not None:
        return _by_words(terms_of(re.split(r"\W+", question.symbol.strip())[-1]))
    if question.is_code:
        return _no_marks
    if mode is Mode.exact:
        try:
            needles = needles_of(question)
        except UsageError:
            return _no_marks
        literal = [needle.text for needle in needles if isinstance(needle, Phrase)]
        words = [needle.text for needle in needles if not isinstance(needle, Phrase)]
        return _both(_by_text(literal), _by_words(words))
    telling = [term for term in question.terms if term not in STOP_WORDS]
    return _both(_by_text(question.phrases), _by_words(telling or question.terms))


def shown_lines(hit: Hit, marker: Marker, most: int) -> list[int]:
    """The lines of a hit to show, counted from 0: what names it, and where it says the most."""
    chunk = hit.chunk
    lines = chunk.full_source.split("\n")
    # One line that is left out is not worth the mark that says so.
    if len(lines) <= most + 1:
        return [*range(len(lines))]
    head = _signature_line(chunk, lines)
    weights = _weights(hit, lines, marker, _prose(chunk, lines, head))
    best = _window(weights, most - 1)
    if best <= head + NEAR_LINES or not any(weights):
        # What is above a signature is shown with it, or not at all: not from its middle.
        start = 0 if head <= LEAD_LINES else head
        if any(weights[:start]):
            start = 0 if best <= LEAD_LINES else min(best, head)
        return _trimmed(lines, range(start, start + most))
    return [head, *_trimmed(lines, range(best, best + most - 1))]


def _trimmed(lines: Sequence[str], window: range) -> list[int]:
    """Without blank lines at the end; and to the end, where only one more line is there."""
    shown = [at for at in window if at < len(lines)]
    while len(shown) > 1 and not lines[shown[-1]].strip():
        shown.pop()
    if shown[-1] == len(lines) - 2:
        shown.append(len(lines) - 1)
    return shown


def _signature_line(chunk: Chunk, lines: Sequence[str]) -> int:
    """Where the signature begins, below documentation and decorators."""
    signature = " ".join(chunk.signature.split())
    if signature:
        for number, line in enumerate(lines):
            folded = " ".join(line.split()).rstrip("{:(, ")
            if len(folded) > 1 and (signature.startswith(folded) or folded.startswith(signature)):
                return number
    return 0


def _prose(chunk: Chunk, lines: Sequence[str], head: int) -> set[int]:
    """The lines of its documentation, and what is above the signature but decorators."""
    doc = {line.strip() for line in (chunk.docstring or chunk.jsdoc or "").split("\n")}
    told = {at for at, line in enumerate(lines) if line.strip(" \t\"'") in doc}
    return told | {at for at in range(head) if not lines[at].lstrip().startswith("@")}


def _weights(
    hit: Hit, lines: Sequence[str], marker: Marker, prose: Collection[int] = ()
) -> list[float]:
    """What each line says: where matches are known those, else words, by how rare they are here.

    Documentation says something only where no code does.
    """
    if hit.lines:
        first = hit.chunk.start_line
        return [1.0 if first + number in hit.lines else 0.0 for number in range(len(lines))]
    said = [{mark.word for mark in marker(line)} for line in lines]
    code = [set() if at in prose else words for at, words in enumerate(said)]
    said = code if any(code) else said
    holders = Counter(word for words in said for word in words)
    return [sum(1.0 / holders[word] for word in words) for words in said]


def _window(weights: Sequence[float], size: int) -> int:
    """The first line of the heaviest window; of equals the one that begins above the best line."""
    sums = [0.0, *accumulate(weights)]
    starts = range(max(1, len(weights) - size + 1))
    weighed = [round(sums[min(len(weights), at + size)] - sums[at], 6) for at in starts]
    # The line above says what the best one is in.
    wanted = max(range(len(weights)), key=weights.__getitem__) - 1
    heaviest = max(weighed)
    return min(
        (at for at in starts if weighed[at] == heaviest), key=lambda at: (abs(at - wanted), at)
    )


def _no_marks(_line: str) -> list[Mark]:
    return []


def _by_words(words: Sequence[str]) -> Marker:
    stems = frozenset(stem_of(word) for word in words)

    def mark(line: str) -> list[Mark]:
        return [*_without_overlaps(_marked_words(line, stems))] if stems else []

    return mark


def _marked_words(line: str, stems: frozenset[str]) -> Iterator[Mark]:
    for found in _WORD.finditer(line):
        word = found[0]
        for part in terms_of(word):
            if stem_of(part) not in stems:
                continue
            # Folding may change a word's length, so that only the whole can be placed.
            if part == word.casefold():
                yield Mark(found.start(), found.end(), stem_of(part))
            elif (at := word.lower().find(part)) >= 0:
                start = found.start() + at
                yield Mark(start, start + len(part), stem_of(part))


def _by_text(texts: Sequence[str]) -> Marker:
    wanted = [text for text in texts if text and "\n" not in text]
    if not wanted:
        return _no_marks
    pattern = re.compile("|".join(map(re.escape, wanted)), re.IGNORECASE)
    return lambda line: [
        Mark(found.start(), found.end(), found[0].lower()) for found in pattern.finditer(line)
    ]


class _PatternMarker:
    """Marks the first match of each line with a guarded matcher.

    The lines differ from those that were searched: tabs are expanded, and hidden characters are
    spelt out. So a pattern that was fast in the search can be slow here. The matcher starts with
    the first line, because only terminals show marks. After a failure, or when all lines together
    took too long, no more lines are marked.
    """

    def __init__(self, pattern: str, ending: ExitStack) -> None:
        self._pattern = pattern
        self._ending = ending
        self._matcher: Matcher | None = None
        self._has_failed = False
        self._seconds = 0.0

    def __call__(self, line: str) -> list[Mark]:
        if self._has_failed or self._seconds > MARK_SECONDS:
            return []
        begin = time.monotonic()
        try:
            if self._matcher is None:
                self._matcher = self._ending.enter_context(guarded(self._pattern, MARK_SECONDS))
            columns = self._matcher.first_columns(line)
        except (UsageError, WorkerDied):
            self._has_failed = True
            return []
        finally:
            self._seconds += time.monotonic() - begin
        return [Mark(*columns, "")] if columns else []


def _both(one: Marker, other: Marker) -> Marker:
    return lambda line: [*_without_overlaps(iter([*one(line), *other(line)]))]


def _without_overlaps(marks: Iterator[Mark]) -> Iterator[Mark]:
    """The longest first of those that begin at one place."""
    end = 0
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        if mark.start >= end:
            yield mark
            end = mark.end
