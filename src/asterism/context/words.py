"""Which words of a sentence each item says, and what they are worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asterism.analysis.terms import terms_of
from asterism.search.query.text import STOP_WORDS
from asterism.search.ranking.words import stem_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHORTEST = 2
"""Letters of a word that counts."""

FEW_WORDS = 12.0
"""What is added to the worth of a sentence's words, some 4 each: one shared word of one is less
than two of two. On the labelled requests 12 disturbs fewer idle ones than 0 (18 % for 32 %) at the
same recall; 6 and 20 are as good."""


def stems_of(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, each without its ending."""
    return frozenset(map(_stems.__getitem__, terms_of(text))) - _NO_STEM


class _Stems(dict[str, str]):
    """The stem of each term, nothing for one that does not count; forgets all when it is full."""

    def __missing__(self, term: str) -> str:
        counts = len(term) >= SHORTEST and term not in STOP_WORDS
        stem = stem_of(term) if counts else ""
        if len(self) >= _REMEMBERED:
            self.clear()
        self[term] = stem
        return stem


_REMEMBERED = 20_000
"""Terms whose stems are remembered, some 3 MB: 2,000 tools are described with a few thousand."""
_NO_STEM = frozenset({""})
_stems = _Stems()


class WordIndex:
    """Words to the items that say them."""

    def __init__(self, texts: Sequence[frozenset[str]]) -> None:
        """For each item the words of all it says."""
        self._count = len(texts)
        self._says = _inverted(texts)

    def said(self, sentence: str) -> NDArray[np.float32]:
        """For each item how much of the sentence it says, rare words worth more; below 1."""
        import numpy as np

        found = np.zeros(self._count, dtype=np.float32)
        total = FEW_WORDS
        for stem in stems_of(sentence):
            holders = self._says.get(stem)
            worth = float(np.log1p(self._count / ((0 if holders is None else len(holders)) + 0.5)))
            total += worth
            if holders is not None:
                found[holders] += worth
        return found / np.float32(total)


def brevity(sentence: str) -> float:
    """1 for a sentence without a word that carries meaning, less the more it has."""
    return 1.0 / (1.0 + len(stems_of(sentence)))


def _inverted(texts: Sequence[frozenset[str]]) -> dict[str, list[int]]:
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for number, stems in enumerate(texts):
        for stem in stems:
            holders[stem].append(number)
    return dict(holders)
