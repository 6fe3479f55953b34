"""Intervals by drawing again: what they contain, and that a seed decides them."""

import pytest

from asterism.evaluation.summaries import (
    BootstrapOptions,
    Difference,
    Interval,
    draws_groups,
    interval,
    paired_difference,
)

OPTIONS = BootstrapOptions(draws=2_000)


def test_equal_values_leave_no_doubt() -> None:
    assert interval([0.5] * 8, ["a"] * 8, OPTIONS) == Interval(0.5, 0.5, 0.5)


def test_an_interval_holds_its_mean_and_is_as_wide_as_theory_says() -> None:
    values = [0.0, 1.0] * 50
    found = interval(values, ["a"] * 100, OPTIONS)
    assert found.mean == 0.5
    # The standard error of 100 fair coins is 0.05, and 95 % are 1.96 of them to each side.
    assert found.low == pytest.approx(0.402, abs=0.011)
    assert found.high == pytest.approx(0.598, abs=0.011)


def test_whole_groups_are_drawn_where_there_are_enough() -> None:
    values = [float(group % 2) for group in range(6) for _ in range(20)]
    groups = [str(group) for group in range(6) for _ in range(20)]
    by_group = interval(values, groups, OPTIONS)
    by_value = interval(values, ["one"] * 120, OPTIONS)
    assert by_group.high - by_group.low > 2 * (by_value.high - by_value.low)
    assert draws_groups(groups)
    assert not draws_groups(["a", "b", "c", "d"] * 9)


def test_groups_of_different_sizes_keep_the_mean_over_queries() -> None:
    groups = [*["big"] * 96, "a", "b", "c", "d"]
    found = interval([0.0] * 96 + [1.0] * 4, groups, OPTIONS)
    assert found.mean == 0.04
    # One draw in three has no part of the large group, and then every value is 1.
    assert found.low < 0.04
    assert found.high == 1.0


def test_a_seed_decides() -> None:
    values = [(number * 7919 % 1000) / 1000 for number in range(40)]
    one = interval(values, ["a"] * 40, OPTIONS)
    assert one == interval(values, ["a"] * 40, OPTIONS)
    assert one != interval(values, ["a"] * 40, BootstrapOptions(draws=2_000, seed=2))


def test_a_paired_difference_sees_what_two_intervals_do_not() -> None:
    before = [number / 100 for number in range(100)]
    after = [value + 0.01 for value in before]
    groups = ["a"] * 100
    found = paired_difference(before, after, groups, OPTIONS)
    assert found.mean == pytest.approx(0.01)
    assert found.low == pytest.approx(0.01)
    assert found.chance_of_gain == 1.0
    old, new = interval(before, groups, OPTIONS), interval(after, groups, OPTIONS)
    assert old.high > new.low


def test_no_difference_is_even_odds() -> None:
    values = [0.2, 0.8]
    assert paired_difference(values, values, ["a", "a"], OPTIONS) == Difference(0, 0, 0, 0.5)


def test_nothing_to_draw() -> None:
    assert interval([], [], OPTIONS) == Interval(0.0, 0.0, 0.0)
    assert paired_difference([], [], [], OPTIONS) == Difference(0.0, 0.0, 0.0, 0.5)


def test_what_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="longer"):
        paired_difference([1.0], [1.0, 2.0], ["a"], OPTIONS)
    with pytest.raises(ValueError, match="group"):
        interval([1.0], [], OPTIONS)
