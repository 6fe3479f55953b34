"""From log-odds, which only compare, to probabilities: how likely a hit is what was asked for."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from asterism.search.ranking.options import Calibration, JudgeOptions, RankOptions
from asterism.search.recall import Pools


class Grounds(NamedTuple):
    """What there is for the question at all, whichever hit is best: odds only compare hits."""

    cosine: float = 0.0
    """Of the nearest chunk."""
    unsaid: float = 0.0
    """Which share of the question's words no candidate says."""


def grounds_of(pools: Pools, unsaid: float) -> Grounds:
    """The grounds that the nearest chunk and the candidates' texts give."""
    return Grounds(1.0 - pools.vector[0].score / 2.0 if pools.vector else 0.0, unsaid)


def probabilities(odds: Sequence[float], grounds: Grounds, curve: Calibration) -> list[float]:
    """A probability for each of the candidates' log-odds, best first, in the same order."""
    base = curve.offset + curve.cosine * grounds.cosine + curve.unsaid * grounds.unsaid
    return [
        logistic(base + curve.slope * value + (0.0 if number else curve.first))
        for number, value in enumerate(odds)
    ]


def logistic(value: float) -> float:
    """The probability of these log-odds."""
    if value < 0:
        return math.exp(value) / (1.0 + math.exp(value))
    return 1.0 / (1.0 + math.exp(-value))


def calibration_for(
    pools: Pools, options: RankOptions, judge: JudgeOptions | None = None
) -> Calibration:
    """The curve for what was asked, words and vectors or one of them, and for who judged it."""
    if not pools.vector:
        return options.by_words
    curves = options if judge is None else judge
    return curves.calibration if pools.text else curves.by_meaning
