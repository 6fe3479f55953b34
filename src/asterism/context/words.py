"""Words that sentences and items share, and calibrated scores from cosine and words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from asterism.analysis.terms import terms_of
from asterism.search.query.text import STOP_WORDS
from asterism.search.ranking.words import stem_of
from asterism.types.index import ModelIdentity

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


Numbers: TypeAlias = "NDArray[np.float32]"

LEAST = 2.0**-126
"""The smallest normal float32. The least score: nothing is chosen that does not score at all."""

PROBES = (
    "hello",
    "thanks, that was great!",
    "good morning to you",
    "yes please",
    "sorry, where were we?",
    "tell me a joke about elephants",
    "what is the capital of Peru?",
    "I am tired and would like a coffee",
    "sing a song about the sea",
    "it was raining in the mountains all day",
    "my aunt has three cats and a parrot",
    "who painted the ceiling of the chapel?",
)
"""Sentences that no rule, reference or tool is of use for. For a model without measurements the
floor is the highest cosine that any of them has with any candidate. Treated so, the built-in model
chooses as well on the labelled requests as with its own curve: precision 0.27 and recall 0.29 for
0.23 and 0.33."""


class Curve(NamedTuple):
    """How likely an item is of use, as a logistic function fitted on labelled requests."""

    offset: float
    cosine: float
    said: float
    """For how much of the sentence's words the item says."""
    brief: float
    """For how little the sentence says: small talk needs no items."""
    floor: float
    """Below this score an item is noise, and is not added to fill up."""
    relation_offset: float
    relation: float
    """The same for two items' nearest pieces: how likely the one goes with the other."""


LOCAL = Curve(
    offset=-5.04,
    cosine=9.18,
    said=9.93,
    brief=-2.75,
    floor=0.10,
    relation_offset=-3.0,
    relation=8.2,
)

MINILM = Curve(
    offset=-6.17,
    cosine=13.27,
    said=8.07,
    brief=-1.81,
    floor=0.10,
    relation_offset=-2.67,
    relation=8.2,
)

CURVES: Mapping[tuple[str, str], Curve] = MappingProxyType(
    {("local", "asterism-static-2"): LOCAL, ("minilm", "all-MiniLM-L6-v2"): MINILM}
)
"""By provider and model, fitted by `python -m benchmarks.context.fit` on the 214 requests over 83
items of `benchmarks/context/requests`. The floor is the lowest whose F1 in five-fold
cross-validation equals the best: 0.29 for the built-in model, 0.35 for MiniLM. Relations were rated
by hand on the 40 nearest pairs, and the usual threshold of 0.75 was placed where nearly all of them
are related: at a cosine of 0.50 for the built-in model (6 of the 7 above; from 0.40 on 20 of 27,
below that 6 of 13), at 0.46 for MiniLM (25 of 27)."""


def curve_of(identity: ModelIdentity, told: Mapping[str, float]) -> Curve | None:
    """The curve that came with a model's weights, else the one that was measured for its name.

    Other weights of the same name have another curve; a description that leaves out one of the
    numbers is taken as one without any.
    """
    if all(name in told for name in Curve._fields):
        return Curve(*(told[name] for name in Curve._fields))
    return CURVES.get((identity.provider, identity.model))


_BRINGS = 1.5
"""How many times the floor an item has to score to bring others along: one that is hardly more
likely than noise brings noise. On the labelled requests MiniLM then brings 85 items of which 9
matter, where it brought 125 and 10; the built-in model 24 and 1, where it brought 44 and 1."""

_WORDS_LIFT = 0.3
"""Without a curve, what saying all of a long sentence would add to a cosine of 0."""


class Scale:
    """Turns what is known of a sentence and an item into a score, for one model."""

    def __init__(self, curve: Curve | None, *, hybrid: bool = True) -> None:
        """Without a curve for the model the score is the cosine, lifted a little by words."""
        self.curve = curve
        self._hybrid = hybrid

    @property
    def needs_probes(self) -> bool:
        """Whether the floor has to be found by what noise scores."""
        return self.curve is None

    def scores(self, cosine: Numbers, said: Numbers, brief: Numbers) -> Numbers:
        """A score between 0 and 1 for each pair; a cosine of 0 without a word scores 0."""
        import numpy as np

        curve = self.curve
        if not self._hybrid:
            said = np.zeros_like(cosine)
        if curve is None:
            near = np.clip(cosine, 0.0, 1.0)
            return np.asarray(near + _WORDS_LIFT * said * (1.0 - near), dtype=np.float32)
        odds = curve.offset + curve.cosine * cosine + curve.said * said + curve.brief * brief
        # What nothing speaks for does not score, however little is asked of a score.
        speaks = (cosine > 0.0) | (said > 0.0)
        return np.asarray(np.where(speaks, _logistic(odds), 0.0), dtype=np.float32)

    def relations(self, cosine: Numbers) -> Numbers:
        """A score between 0 and 1 for each pair of items, from their nearest pieces."""
        import numpy as np

        if self.curve is None:
            return np.asarray(np.clip(cosine, 0.0, 1.0), dtype=np.float32)
        odds = self.curve.relation_offset + self.curve.relation * cosine
        return _logistic(odds)

    @property
    def brings(self) -> float:
        """The score from which an item brings along related ones; 0 without measurements."""
        return 0.0 if self.curve is None else _BRINGS * self.curve.floor

    def floor(self, noise: Numbers | None) -> float:
        """The score below which an item is noise; `noise` is what the probes' best cosines are."""
        import numpy as np

        if self.curve is not None:
            return self.curve.floor
        if noise is None or not noise.size:
            return LEAST
        return max(LEAST, float(np.clip(noise, 0.0, 1.0).max()))


def _logistic(odds: Numbers) -> Numbers:
    import numpy as np

    return np.asarray(1.0 / (1.0 + np.exp(-odds)), dtype=np.float32)
