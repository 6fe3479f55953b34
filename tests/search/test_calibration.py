"""Probabilities from log-odds: in order, even where the odds are, and never out of bounds."""

import math

import pytest

from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.recipe import (
    Grounds,
    calibration_for,
    grounds_of,
    logistic,
    probabilities,
)
from asterism.search.ranking.symbol_weights import AnswerCurve, Calibration
from asterism.search.recall import Pools
from asterism.store.chunk_table import ChunkKey, Match

CURVE = Calibration(offset=-4.0, slope=0.5, first=0.5, cosine=2.0, unsaid=-1.0)
MATCH = Match(ChunkKey("shop", "a"), "a.py", 0.5)


def test_probabilities_keep_the_order_and_even_odds_are_a_half() -> None:
    found = probabilities([9.0, 8.0, 6.0], Grounds(), CURVE)
    assert found[1] == pytest.approx(0.5)
    assert found == sorted(found, reverse=True)


def test_the_first_of_equals_is_likelier() -> None:
    first, second = probabilities([8.0, 8.0], Grounds(), CURVE)
    assert first > second


@pytest.mark.parametrize("better", [Grounds(0.6, unsaid=0.5), Grounds(0.3, unsaid=0.0)])
def test_better_grounds_make_every_hit_likelier(better: Grounds) -> None:
    worse = Grounds(0.3, unsaid=0.5)
    poor, good = (probabilities([6.0, 5.0], grounds, CURVE) for grounds in (worse, better))
    assert all(more > less for more, less in zip(good, poor, strict=True))


def test_the_grounds_are_the_nearest_vector_and_what_is_not_said() -> None:
    assert grounds_of(Pools(vector=(MATCH,)), 0.4) == Grounds(cosine=0.75, unsaid=0.4, near=0.75)
    assert grounds_of(Pools(), 0.0) == Grounds()


def test_what_was_asked_chooses_the_curve() -> None:
    options = RankOptions()
    assert calibration_for(Pools(text=(MATCH,)), options) is options.by_words
    assert calibration_for(Pools(vector=(MATCH,)), options) is options.by_meaning
    assert calibration_for(Pools(text=(MATCH,), vector=(MATCH,)), options) is options.calibration


def test_nothing_has_no_probabilities() -> None:
    assert probabilities([], Grounds(), CURVE) == []


@pytest.mark.parametrize("value", [-1e4, -1.0, 0.0, 1.0, 1e4])
def test_the_logistic_curve_never_overflows(value: float) -> None:
    assert logistic(value) + logistic(-value) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("grounds", "expected"),
    [
        (Grounds(), 0.25),
        (Grounds(cosine=1.0), 0.25 / (1 + math.exp(-2.0)) * 2),
        (Grounds(near=1.0, read=0.5), 0.25 / (1 + math.exp(-3.0)) * 2),
    ],
)
def test_a_hit_is_right_if_there_is_an_answer(grounds: Grounds, expected: float) -> None:
    answer = AnswerCurve(offset=0.0, cosine=2.0, near=1.0, read=4.0)
    curve = Calibration(offset=0.0, slope=1.0, answer=answer)
    assert probabilities([0.0], grounds, curve) == [pytest.approx(expected)]


def test_the_mean_of_what_the_encoder_read_is_a_ground() -> None:
    read = {ChunkKey("r", "a"): 0.25, ChunkKey("r", "b"): 0.75}
    assert grounds_of(Pools(), 0.0, read).read == 0.5
