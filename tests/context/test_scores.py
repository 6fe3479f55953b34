"""Scores mean the same with every model: probabilities where one was measured, else cosines."""

import numpy as np
import pytest

from asterism.context.words import (
    CURVES,
    LEAST,
    Curve,
    Scale,
    WordIndex,
    brevity,
    curve_of,
    stems_of,
)
from asterism.types.index import ModelIdentity

MEASURED = [ModelIdentity(provider, model, 8) for provider, model in CURVES]
OTHER = ModelIdentity("other", "model", 8)


def row(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize("identity", [*MEASURED, OTHER])
def test_scores_rise_with_meaning_and_words_and_stay_below_one(identity: ModelIdentity) -> None:
    scale = Scale(curve_of(identity, {}))
    cosines = row(-1.0, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    brief = row(0.2)
    plain = scale.scores(cosines, np.zeros_like(cosines), brief)
    worded = scale.scores(cosines, np.full_like(cosines, 0.4), brief)
    assert list(plain) == sorted(plain)
    assert plain[0] == plain[1] == 0.0
    assert (worded[1:-1] > plain[1:-1]).all()
    assert plain.min() >= 0.0
    assert worded.max() <= 1.0
    relations = scale.relations(cosines)
    assert list(relations) == sorted(relations)
    assert relations.min() >= 0.0
    assert relations.max() <= 1.0


@pytest.mark.parametrize("identity", MEASURED)
def test_a_measured_model_has_its_own_floor_and_small_talk_scores_less(
    identity: ModelIdentity,
) -> None:
    scale = Scale(curve_of(identity, {}))
    assert not scale.needs_probes
    assert 0.05 < scale.floor(None) < 0.5
    long, short = (scale.scores(row(0.4), row(0.1), row(brief)) for brief in (0.1, 0.5))
    assert short < long


def test_what_came_with_the_weights_is_over_what_was_measured_for_the_name() -> None:
    own = Curve(-9.0, 12.0, 8.0, -1.0, 0.2, -7.0, 15.0)
    assert curve_of(OTHER, {**own._asdict(), "more": 1.0}) == own
    assert curve_of(MEASURED[0], own._asdict()) == own
    assert curve_of(MEASURED[0], {}) == CURVES[MEASURED[0].provider, MEASURED[0].model]


@pytest.mark.parametrize("missing", Curve._fields)
def test_half_a_curve_is_ignored(missing: str) -> None:
    told = {name: 1.0 for name in Curve._fields if name != missing}
    assert curve_of(OTHER, told) is None


def test_another_model_has_its_floor_where_noise_is() -> None:
    scale = Scale(curve_of(OTHER, {}))
    assert scale.needs_probes
    assert scale.scores(row(0.5), row(0.0), row(0.5)) == row(0.5)
    assert scale.floor(row(0.1, 0.3, -0.2)) == pytest.approx(0.3)
    assert scale.floor(row(-0.1)) == scale.floor(None) == LEAST


def test_words_count_in_every_form_and_rare_ones_more() -> None:
    texts = ["Deploying to production", "production data", "production logs", "cats"]
    index = WordIndex([stems_of(text) for text in texts])
    said = index.said("How is a deployment to production made?")
    assert said.argmax() == 0
    assert said[1] == said[2] > said[3] == 0.0
    rare, common = index.said("deployed"), index.said("production")
    assert rare[0] > common[0]
    assert index.said("and of the").max() == 0.0


def test_a_word_of_one_is_less_than_two_of_two() -> None:
    index = WordIndex([stems_of("zebra lion"), stems_of("fish")])
    assert index.said("zebra lion")[0] > index.said("zebra")[0]


@pytest.mark.parametrize(
    ("sentence", "expected"), [("", 1.0), ("and so on", 1.0), ("stop", 0.5), ("stop zebra", 1 / 3)]
)
def test_brevity(sentence: str, expected: float) -> None:
    assert brevity(sentence) == pytest.approx(expected)
