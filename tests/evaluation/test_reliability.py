"""Scores beside what came true: bins, calibration error, thresholds and their tables."""

import pytest

from asterism.evaluation.reliability import (
    Bin,
    Scored,
    Silence,
    are_probabilities,
    reliability,
    reliability_json,
    reliability_tables,
    scored_files,
    scored_places,
    silence_lines,
    silences,
)
from tests.evaluation.fakes import result, run_of, scored

RESULTS = (
    scored("1", (0.75, True), (0.25, False)),
    scored("2", (0.75, False), (0.35, True)),
    scored("3", (0.4, False), is_answerable=False),
    scored("4", is_answerable=False),
)


def test_bins_hold_their_lower_bound_and_the_last_its_upper() -> None:
    found = reliability([(0.0, False), (0.125, True), (0.1875, False), (1.0, True)])
    assert found.bins == [
        Bin(0.0, 0.1, 1, 0.0, 0.0),
        Bin(0.1, 0.2, 2, 0.15625, 0.5),
        Bin(0.9, 1.0, 1, 1.0, 1.0),
    ]
    assert found.places == 4


@pytest.mark.parametrize(
    ("pairs", "error"),
    [
        ([], 0.0),
        ([(1.0, True), (0.0, False)], 0.0),
        ([(0.5, True), (0.5, False)], 0.0),
        ([(1.0, False)], 1.0),
        # One place is off by 0.2, three by 0.1 on the whole.
        ([(0.8, True), (0.4, True), (0.4, False), (0.4, False)], 0.1),
    ],
)
def test_calibration_error(pairs: list[Scored], error: float) -> None:
    assert reliability(pairs).error == pytest.approx(error)


def test_which_places_count() -> None:
    assert scored_places(RESULTS, 1) == [(0.75, True), (0.75, False), (0.4, False)]
    assert len(scored_places(RESULTS, 10)) == 5
    without = scored("5", (0.5, True))
    unscored = without._replace(found=(without.found[0]._replace(score=None),))
    assert scored_places([unscored], 10) == []


def test_a_file_counts_by_its_first_place() -> None:
    one = scored("1", (0.9, True), (0.1, True), (0.2, False))
    places = [place._replace(path="a.py") for place in one.found[:2]]
    merged = one._replace(found=(*places, one.found[2]))
    assert scored_files([merged], 10) == [(0.9, True), (0.2, False)]


def test_what_can_be_a_probability() -> None:
    assert are_probabilities([(0.0, True), (1.0, False)])
    assert not are_probabilities([(0.5, True), (1.5, False)])


def test_thresholds() -> None:
    assert silences(RESULTS) == [Silence(0.5, 2, 1.0, 2, 0.5), Silence(0.3, 2, 0.5, 2, 1.0)]
    missed = scored("6", (0.9, False))
    assert silences([missed], [0.0]) == [Silence(0.0, 0, 0.0, 1, 0.0)]
    assert silences([scored("7")]) == []


def test_tables_of_scores() -> None:
    text = reliability_tables(run_of(*RESULTS))
    assert text.startswith("## How far the scores of fake on set can be trusted\n")
    assert "| 0.7 to 0.8             |      2 |      0.750 |       0.500 |        -0.250 |" in text
    assert "Expected calibration error 0.360 over 5 places." in text
    assert "| 0.5       |            2 |       100.0% |          2 |              50.0% |" in text
    found = reliability_json(run_of(*RESULTS))
    assert found["places"]["places"] == 5
    assert found["thresholds"][1]["silent"] == 0.5


def test_runs_without_scores_or_unanswerable_questions() -> None:
    without = result("1", 1.0)
    unscored = run_of(without._replace(found=(without.found[0]._replace(score=None),)))
    assert "It gives no scores." in reliability_tables(unscored)
    assert reliability_json(unscored) == {}
    high = run_of(scored("1", (7.5, True)))
    assert "no probabilities" in reliability_tables(high)
    assert reliability_json(high) == {}
    assert silence_lines(run_of(result("1", 1.0))) == []
    assert silence_lines(run_of(*RESULTS))[0].startswith("| threshold | unanswerable |")
