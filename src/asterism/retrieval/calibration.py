"""From log-odds, which only compare, to probabilities: how likely a hit is what was asked for."""

import math
from collections.abc import Sequence

from asterism.retrieval.options import Calibration, RankOptions
from asterism.retrieval.recall import Pools


def probabilities(odds: Sequence[float], pools: Pools, options: RankOptions) -> list[float]:
    """A probability for each of the candidates' log-odds, in the same order."""
    calibration = _calibration(pools, options)
    cosine = 1.0 - pools.vector[0].score / 2.0 if pools.vector else 0.0
    base = calibration.offset + calibration.cosine * cosine
    first = max(odds, default=0.0)
    return [
        logistic(base + calibration.slope * value + calibration.lead * (value - first))
        for value in odds
    ]


def logistic(value: float) -> float:
    """The probability of these log-odds."""
    if value < 0:
        return math.exp(value) / (1.0 + math.exp(value))
    return 1.0 / (1.0 + math.exp(-value))


def _calibration(pools: Pools, options: RankOptions) -> Calibration:
    if not pools.vector:
        return options.by_words
    return options.calibration if pools.text else options.by_meaning
