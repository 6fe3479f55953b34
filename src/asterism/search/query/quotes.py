"""What stands in quotation marks; an apostrophe is none."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

# A mark that opens stands at the beginning of a word and one that closes at the end of one, which
# is what tells `'a b'` from `don't` and the users' own.
_BEFORE = r"(?<![\w'\"`])"
_AFTER = r"(?![\w'\"`])"
_QUOTED = re.compile(
    "|".join(
        [
            r"```[\w+-]*\n?(?P<fence>.+?)```",
            r"``(?P<ticks>.+?)``",
            r"`(?P<tick>[^`\n]+)`",
            # One that is escaped opens nothing: each of many would be read to the end of the line.
            _BEFORE + r'(?<!\\)"(?P<double>(?:\\.|[^"\\\n])++)"' + _AFTER,
            "“(?P<curly>[^“”\n]+)”",
            "«(?P<angle>[^«»\n]+)»",
            "‘(?P<single_curly>[^‘\n]+?)’(?!\\w)",
            "「(?P<corner>[^「」\n]+)」",
            _BEFORE + r"'(?=\S)(?P<single>[^'\n]*(?:\b'\b[^'\n]*)*(?<=\S))'" + _AFTER,
        ]
    ),
    re.DOTALL,
)
# `rock 'n' roll`: a lone letter between apostrophes is an elision.
_MIN_SINGLE = 2


class Quote(NamedTuple):
    """A quoted phrase, and where it stands with its marks."""

    text: str
    start: int
    end: int


def quotes_in(text: str) -> list[Quote]:
    """Every quoted phrase, in order."""
    found: list[Quote] = []
    for match in _QUOTED.finditer(text):
        kind = match.lastgroup or ""
        phrase = match[kind]
        if kind == "double":
            phrase = phrase.replace('\\"', '"')
        if kind.startswith("single") and len(phrase) < _MIN_SINGLE:
            continue
        if phrase.strip():
            found.append(Quote(phrase.strip(), match.start(), match.end()))
    return found


def inside(quotes: Sequence[Quote]) -> Callable[[int], bool]:
    """Whether a position is in one of the quotes, which are in order."""
    starts = [quote.start for quote in quotes]

    def is_inside(position: int) -> bool:
        at = bisect_right(starts, position)
        return at > 0 and position < quotes[at - 1].end

    return is_inside


def without_quotes(text: str, quotes: Sequence[Quote]) -> str:
    """The text with blanks where something was quoted; positions stay."""
    for quote in quotes:
        text = text[: quote.start] + " " * (quote.end - quote.start) + text[quote.end :]
    return text
