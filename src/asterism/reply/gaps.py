"""Marks for the lines of a function or type that a snapshot leaves out."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from asterism.languages.registry import facets_of
from asterism.types.outline import Item, Outline, Span
from asterism.types.search import Lines

GAP = "⋯"
_WORD = re.compile(rb"\w")
_SAYS = re.compile(r"\w")
_PREFIX = re.compile(r"\s*(?:[/#*%;!-]+)?")
_COMMENTS = {
    "hash": re.compile(rb"\s*(?:#|//|/\*|\*(?:[ /]|$))"),
    "dashes": re.compile(rb"\s*--"),
    "slashes": re.compile(rb"\s*(?://|/\*|\*(?:[ /]|$))"),
}
"""How a comment line begins; comments alone are left out without a mark."""

# The contents of these are as independent of each other as the top-level items of a file.
_OPEN = frozenset({"namespace", "module", "package", "control"})


class GapMark(NamedTuple):
    """A comment in place of lines that are left out."""

    lines: Lines
    text: str
    """The comment, indented like the first of these lines that is no comment."""


class GapMarks:
    """Finds what is left out of the functions and types of one file."""

    def __init__(self, outline: Outline, source: bytes, starts: Sequence[int]) -> None:
        display = facets_of(outline.language).display
        self._comment = display.path_line.removeprefix("<?php ")
        self._is_remark = _COMMENTS.get(display.comments, _COMMENTS["slashes"]).match
        self._source = source
        self._starts = starts
        self._spans = [] if display.headings else sorted(_outermost(outline.items))

    def between(self, end: int, start: int | None) -> Iterator[GapMark]:
        """Marks for the text between two pieces, inside of an item that is shown in part.

        `end` is where one piece ends, and `start` where the next one begins, if there is one.
        """
        behind = len(self._source) if start is None else start
        before, after = self._around(end - 1), None if start is None else self._around(start)
        if before is not None:
            yield from self._marks(end, min(behind, before.end))
        if after is not None and after != before:
            yield from self._marks(max(end, after.start), behind)

    def _marks(self, start: int, end: int) -> Iterator[GapMark]:
        """The mark for the lines that begin and end in a range, if there is code on them."""
        first = bisect_right(self._starts, start) - 1
        if start > self._starts[first]:
            rest = self._source[start : min(end, self._starts[first + 1] - 1)]
            first += 0 if _WORD.search(rest) else 1
        last = bisect_right(self._starts, max(start, end - 1)) - 1
        if not _WORD.search(self._source[self._starts[last] : end]):
            last -= 1
        lines = [line for line in range(first, last + 1) if _WORD.search(self._line(line))]
        code = (line for line in map(self._line, lines) if not self._is_remark(line))
        if text := next(code, None):
            margin = text[: len(text) - len(text.lstrip())].decode("utf-8", "replace")
            left_out = Lines(lines[0] + 1, lines[-1] + 1)
            yield GapMark(left_out, margin + self._comment.format(gap_text(left_out)))

    def _line(self, number: int) -> bytes:
        return self._source[self._starts[number] : self._starts[number + 1] - 1]

    def _around(self, offset: int) -> Span | None:
        at = bisect_right(self._spans, offset, key=lambda span: span.start) - 1
        return self._spans[at] if at >= 0 and offset < self._spans[at].end else None


def gap_text(lines: Lines) -> str:
    """`⋯ lines 12–30`."""
    if lines.first == lines.last:
        return f"{GAP} line {lines.first}"
    return f"{GAP} lines {lines.first}–{lines.last}"


def with_short_docs(text: str, source: str, documented: Iterable[tuple[Item, int]]) -> str:
    """A text of verbatim lines in which comments above items have so many lines at most.

    The mark stands inside of the comment, behind what each of its lines begins with.
    """
    lines = source.split("\n")
    for item, most in documented:
        doc = lines[item.first_line - 1 : item.start_line - 1]
        if len(doc) > most:
            short = _shortened(doc, item.first_line, most)
            text = text.replace("\n".join(doc), "\n".join(short), 1)
    return text


def _shortened(doc: Sequence[str], first: int, most: int) -> list[str]:
    """Its first paragraph, a mark, and its last line if that only ends it."""
    begins = next((at for at, line in enumerate(doc) if _SAYS.search(line)), 0)
    blank = (at for at, line in enumerate(doc) if at > begins and not _SAYS.search(line))
    end = min(next(blank, len(doc)), most)
    last = len(doc) if _SAYS.search(doc[-1]) else len(doc) - 1
    if last <= end:
        return [*doc]
    prefix = _PREFIX.match(doc[end])
    mark = (
        f"{prefix[0].rstrip() if prefix else ''} {gap_text(Lines(first + end, first + last - 1))}"
    )
    return [*doc[:end], mark, *doc[last:]]


def _outermost(items: Sequence[Item]) -> Iterator[Span]:
    """The symbols and expressions that are in no other one."""
    inside: set[int] = set()
    for number, item in enumerate(items):
        is_whole = (item.is_symbol or item.kind == "expression") and item.kind not in _OPEN
        if item.parent in inside:
            inside.add(number)
        elif is_whole:
            inside.add(number)
            yield item.span
