"""Measures a reply with code: its size, and which of the wanted symbols it shows."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source.text import decode, read
from asterism.evaluation.datasets import FoundPlace, LabelledPlace, Query
from asterism.types.errors import InputError

# Where no tokenizer is configured, four characters count as a token.
CHARS_PER_TOKEN = 4

# A place whose lines cannot be read must not look cheap.
UNREADABLE_TOKENS = 2_000

REPLY_CUTS = (2_000, 4_000, 8_000)
"""Tokens of a reply within which the wanted symbols should be."""

SHOWN = 0.9
"""Share of a symbol's lines from which it counts as shown; marked gaps may leave out a few."""


class ReplyText(NamedTuple):
    """A reply with code."""

    text: str
    results: int
    """How many results it shows the code of."""


class ReplyMeasures(NamedTuple):
    """What a reply to one query was."""

    recall_2000: float
    """Share of the wanted symbols in the first 2,000 tokens; of alternatives one is enough."""
    recall_4000: float
    recall_8000: float
    results: int
    tokens: int
    wanted_share: float
    """Of the reply's characters, code of the wanted symbols."""


class WantedCode(NamedTuple):
    """What should be in a reply: a file, or a symbol by its lines that are not blank."""

    path: str
    lines: tuple[str, ...] | None
    """None for a whole file."""


def reply_measures(reply: ReplyText, query: Query, wanted: Sequence[WantedCode]) -> ReplyMeasures:
    """Measures one reply.

    A symbol is shown if nine tenths of its lines are among the lines of its file's snapshot, in
    their order; a file is shown if it has a snapshot.
    """
    text = reply.text

    def recall(tokens: int) -> float:
        shown = [is_shown(one, text[: tokens * CHARS_PER_TOKEN]) for one in wanted]
        if not query.needs_all:
            return float(any(shown))
        return sum(shown) / len(shown) if shown else 0.0

    first, second, third = map(recall, REPLY_CUTS)
    code = max([_characters(one, text) for one in wanted], default=0)
    share = min(1.0, code / max(1, len(text)))
    return ReplyMeasures(first, second, third, reply.results, token_count(len(text)), share)


def is_shown(wanted: WantedCode, text: str) -> bool:
    """Whether a text shows a file, or enough lines of a symbol."""
    if wanted.lines is None:
        return bool(_snapshot(wanted.path, text))
    found = sum(1 for _line in _matched(wanted, text))
    return found > 0 and found >= SHOWN * len(wanted.lines)


def _snapshot(path: str, text: str) -> list[str]:
    """The lines behind the comment that names the file."""
    lines = text.split("\n")
    heads = [at for at, line in enumerate(lines) if _is_head(line, path)]
    return [line.strip() for line in lines[heads[0] + 1 :]] if heads else []


def _is_head(line: str, path: str) -> bool:
    words = line.split()
    return path in words and len(words) <= 4 and not line[:1].isspace() and words[0] != path


def _matched(wanted: WantedCode, text: str) -> Iterator[str]:
    """The wanted lines found one behind the other in the file's snapshot."""
    lines, at = _snapshot(wanted.path, text), 0
    for line in wanted.lines or ():
        if line in lines[at:]:
            at = lines.index(line, at) + 1
            yield line


def _characters(wanted: WantedCode, text: str) -> int:
    found = [*_matched(wanted, text)]
    # A closing bracket that is found by itself is no code of the symbol.
    is_part = len(found) > len(wanted.lines or ()) / 2
    return sum(len(line) + 1 for line in found) if is_part else 0


def token_count(characters: int) -> int:
    """Tokens of so many characters, rounded up."""
    return -(-characters // CHARS_PER_TOKEN)


class SourceLines:
    """The files below a directory, for what places cost and labels say; each is read once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._texts: dict[str, str | None] = {}
        self._sums: dict[str, list[int]] = {}

    def cost(self, place: FoundPlace) -> int:
        """What the tool says it costs to read, else what its lines in the file cost."""
        if place.tokens is not None:
            return place.tokens
        text = self._text(place.path)
        if text is None:
            return UNREADABLE_TOKENS
        if place.path not in self._sums:
            lengths = map(len, text.splitlines(keepends=True))
            self._sums[place.path] = [*accumulate(lengths, initial=0)]
        sums = self._sums[place.path]
        last = len(sums) - 1
        first = 0 if place.start_line is None else min(max(place.start_line - 1, 0), last)
        end = last if place.end_line is None else min(max(place.end_line, first), last)
        return token_count(sums[end] - sums[first])

    def wanted(self, target: LabelledPlace, prefix: str) -> WantedCode:
        """The code of a target; `prefix` leads from the checkout to the directory."""
        path = target.path.removeprefix(f"{prefix}/") if prefix else target.path
        if target.start_line is None:
            return WantedCode(path, None)
        lines = (self._text(path) or "").split("\n")
        declared = lines[target.start_line - 1 : target.end_line or target.start_line]
        return WantedCode(path, tuple(line.strip() for line in declared if line.strip()))

    def _text(self, path: str) -> str | None:
        if path not in self._texts:
            try:
                text = decode(read(str(self._directory / path))).decode("utf-8", "replace")
            except InputError:
                self._texts[path] = None
            else:
                self._texts[path] = text
        return self._texts[path]
