"""Text to search terms, split for code: whole identifiers and the words they are made of.

The same function serves the index and the query, so what it leaves out on one side is not looked
for on the other. Terms are case-folded and contain no white space.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from posixpath import splitext

# Stores drop terms over 128 characters; an identifier that long is found by its parts.
MAX_TERM = 100
# Ports, years, error codes and dates are looked for; longer numbers are data.
MAX_DIGITS = 8
# From this length on a word may be a digest or encoded bytes: its parts are then shorter than
# this on average, while those of names are about five characters long.
NOISE_LENGTH = 16
NOISE_PART = 2.5
# Words whose terms are remembered: 60,000 are a large repository's, and take about 10 MB.
MEMO_SIZE = 60_000
# Longer words are rarely met twice.
MEMO_WORD = 60

_WORD = re.compile(r"\w+")
# Faster than the pattern where it suffices: everything of ASCII that is not in a word is a blank.
_BLANKS = {code: " " for code in range(128) if not _WORD.match(chr(code))}
# An acronym with its plural, an acronym before a capitalised word, a word, a number.
_ASCII_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F_]+")
# Scripts that are written without spaces: kana, Han, Hangul.
_UNSPACED = re.compile(
    "[\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)


def terms_of(text: str) -> list[str]:
    """The terms of a text in its order: of each word the whole, then its parts."""
    return joined_terms(text).split()


def joined_terms(text: str) -> str:
    """The terms of a text, separated by blanks."""
    if text.isascii():
        words = text.translate(_BLANKS).split()
    else:
        # Composed and full-width forms of a letter are the same letter to a reader.
        words = _WORD.findall(unicodedata.normalize("NFKC", text))
    joined = " ".join(map(_memo.__getitem__, words))
    # Words without terms are rare, so their blanks are removed afterwards.
    return " ".join(joined.split()) if "  " in joined else joined.strip()


def name_terms(names: Sequence[str]) -> str:
    """The terms of a symbol's qualified path."""
    return joined_terms(" ".join(names))


def path_terms(path: str) -> str:
    """The terms of a path: its folders and the file's name without extension."""
    return joined_terms(splitext(path)[0])


class _Memo(dict[str, str]):
    """The terms of each word, joined by blanks; forgets everything when it is full."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __missing__(self, word: str) -> str:
        is_plain = word.isalpha() and word[1:].islower() and word.isascii()
        is_plain = is_plain and len(word) <= MAX_TERM
        terms = word.lower() if is_plain else " ".join(dict.fromkeys(_terms(word)))
        if len(word) <= MEMO_WORD:
            if len(self) >= self._size:
                self.clear()
            self[word] = terms
        return terms


_memo = _Memo(MEMO_SIZE)


def _terms(word: str) -> Iterator[str]:
    if word.isascii():
        parts = [(part.start(), part[0]) for part in _ASCII_PART.finditer(word)]
    elif _UNSPACED.search(word):
        yield from _unspaced_terms(word)
        return
    else:
        parts = list(_parts(word))
    if not parts:
        return
    if len(word) <= (MAX_DIGITS if word.isdigit() else MAX_TERM):
        yield word.casefold()
    is_noise = NOISE_LENGTH <= len(word) < NOISE_PART * len(parts)
    if not is_noise and not _HEXADECIMAL.match(word):
        yield from _part_terms(parts)


def _part_terms(parts: list[tuple[int, str]]) -> Iterator[str]:
    """The parts, a single letter with what follows it: `OAuth` is known as `oauth`."""
    letter, behind = "", -1
    for start, part in parts:
        if letter and start == behind:
            yield (letter + part).casefold()
        is_letter = len(part) == 1 and not part.isdigit()
        letter, behind = (part, start + 1) if is_letter else ("", -1)
        limit = MAX_DIGITS if part.isdigit() else MAX_TERM
        if not is_letter and len(part) <= limit:
            yield part.casefold()


def _unspaced_terms(word: str) -> Iterator[str]:
    """Each character and each pair, so that any piece of a run is found without a dictionary."""
    at = 0
    for run in _UNSPACED.finditer(word):
        if at < run.start():
            yield from _memo[word[at : run.start()]].split()
        text = run[0]
        yield from text
        yield from map("".join, pairwise(text))
        at = run.end()
    if at < len(word):
        yield from _memo[word[at:]].split()


def _parts(word: str) -> Iterator[tuple[int, str]]:
    """What the pattern does for ASCII, for any letters."""
    start = 0
    for at in range(1, len(word) + 1):
        if at < len(word) and not _is_border(word, at):
            continue
        part = word[start:at].strip("_")
        if part:
            yield start + word[start:at].index(part), part
        start = at


def _is_border(word: str, at: int) -> bool:
    before, here = word[at - 1], word[at]
    if before == "_" or here == "_" or before.isdigit() != here.isdigit():
        return True
    if not here.isupper():
        return False
    # `éA` and the last capital of an acronym before a capitalised word.
    return not before.isupper() or word[at + 1 : at + 2].islower()
