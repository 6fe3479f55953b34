"""BM25 over words that are already split, with the same constants as Lance."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

_K1, _B = 1.2, 0.75
_LONGEST_WORD = 128
# The tokeniser of Lance cuts at ASCII blanks only.
_BLANKS = re.compile(r"[ \t\n\f\r]+")


class Words(NamedTuple):
    """The words of every row of one column."""

    counts: Sequence[Counter[str]]
    lengths: Sequence[int]
    holders: Counter[str]
    """In how many rows a word occurs."""


def split(text: str) -> list[str]:
    """The words of a text; words too long for an index are left out."""
    return [
        word for word in _BLANKS.split(text) if word and len(word.encode("utf-8")) < _LONGEST_WORD
    ]


def read(texts: Sequence[str]) -> Words:
    """Count the words of a column."""
    counts = [Counter(split(text)) for text in texts]
    return Words(
        counts,
        [sum(count.values()) for count in counts],
        Counter(word for count in counts for word in count),
    )


def score(words: Words, row: int, query: Sequence[str]) -> float:
    """What a row is worth for a query; a word that is asked for twice counts twice."""
    average = sum(words.lengths) / len(words.lengths)
    total = 0.0
    for word in query:
        frequency = words.counts[row][word]
        if frequency:
            rarity = len(words.counts) - words.holders[word] + 0.5
            weight = math.log(1 + rarity / (words.holders[word] + 0.5))
            damping = _K1 * (1 - _B + _B * words.lengths[row] / average)
            total += weight * frequency * (_K1 + 1) / (frequency + damping)
    return total
