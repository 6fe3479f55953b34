"""Ranks and their measures, by hand-computed cases."""

import math

import pytest

from asterism.evaluation.datasets import FoundPlace, LabelledPlace, PathMatch, Query
from asterism.evaluation.runs import (
    Judged,
    Measures,
    covers,
    file_ranks,
    first_ranks,
    function_measures,
    measures,
    ndcg,
    recall,
    reciprocal_rank,
    right_places,
    share_found,
    tokens_to_first_hit,
    within_budget,
    without_given,
)

# The gain of a rank: 1 / log2(rank + 1).
G = {1: 1.0, 2: 1 / math.log2(3), 3: 0.5, 4: 1 / math.log2(5)}


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([1], 1.0),
        ([2], G[2]),
        ([3], 0.5),
        ([None], 0.0),
        ([11], 0.0),
        ([], 0.0),
        ([1, 2], 1.0),
        ([2, 1], 1.0),
        ([1, None], 1 / (1 + G[2])),
        # Two targets in one place earn its rank once.
        ([1, 1], 1 / (1 + G[2])),
        ([2, 4, None], (G[2] + G[4]) / (1 + G[2] + G[3])),
    ],
)
def test_ndcg(ranks: list[int | None], expected: float) -> None:
    assert ndcg(ranks, 10) == expected


def test_ndcg_has_an_ideal_of_its_own_length() -> None:
    twelve: list[int | None] = list(range(1, 13))
    assert ndcg(twelve, 10) == 1.0
    assert ndcg(twelve, 5) == 1.0
    assert ndcg([6], 5) == 0.0


@pytest.mark.parametrize(
    ("ranks", "limit", "expected"),
    [([1, 4, None], 10, 2 / 3), ([1, 4, None], 3, 1 / 3), ([None], 10, 0.0), ([], 10, 0.0)],
)
def test_recall(ranks: list[int | None], limit: int, expected: float) -> None:
    assert recall(ranks, limit) == expected


@pytest.mark.parametrize(
    ("ranks", "limit", "expected"),
    [([4, 2], 10, 0.5), ([4, 2], 1, 0.0), ([None], 10, 0.0), ([None, 3], 3, 1 / 3)],
)
def test_reciprocal_rank(ranks: list[int | None], limit: int, expected: float) -> None:
    assert reciprocal_rank(ranks, limit) == expected


def test_tokens_to_the_first_hit() -> None:
    assert tokens_to_first_hit([3, 2], [100, 50, 7]) == 150
    assert tokens_to_first_hit([None], [100]) is None


@pytest.mark.parametrize(("budget", "expected"), [(99, 0), (100, 1), (149, 1), (150, 2), (9999, 3)])
def test_a_budget_holds_places_that_are_read_to_their_end(budget: int, expected: int) -> None:
    assert within_budget([100, 50, 7], budget) == expected


def test_a_budget_ends_at_the_first_place_that_is_too_long() -> None:
    assert within_budget([10, 100, 1], 50) == 1


def test_what_was_found_at_all() -> None:
    assert share_found([3, None, 40, None]) == 0.5
    assert share_found([]) == 0.0


def test_all_measures_of_a_ranking() -> None:
    found = measures(
        Judged(
            ranks=[2, 6],
            strict=[2, None],
            files=[1],
            sizes=[1500, 400, 200, 1, 1, 1],
            named=[1, 9],
            with_lines=[1, 9],
            with_code=[1, None],
            limit=10,
        )
    )
    ideal = 1 + G[2]
    assert found == Measures(
        ndcg=(G[2] + 1 / math.log2(7)) / ideal,
        ndcg5=G[2] / ideal,
        strict_ndcg=G[2] / ideal,
        hit1=0.0,
        recall=1.0,
        mrr=0.5,
        file_ndcg=1.0,
        file_hit1=1.0,
        budget_recall=1.0,
        budget_lines_recall=1.0,
        budget_code_recall=0.5,
        first_tokens=1900,
    )


@pytest.mark.parametrize(
    ("place", "target", "prefix", "suffix", "strict"),
    [
        (FoundPlace("a.py"), LabelledPlace("a.py"), "", True, True),
        (FoundPlace("a.py"), LabelledPlace("src/a.py"), "src", True, True),
        (FoundPlace("a.py"), LabelledPlace("src/a.py"), "", True, False),
        (FoundPlace("src/a.py"), LabelledPlace("a.py"), "", True, False),
        (FoundPlace("ba.py"), LabelledPlace("a.py"), "", False, False),
        (FoundPlace("a.py"), LabelledPlace("x/b.py", label="a.py"), "", True, False),
        (FoundPlace("a.py", 1, 4), LabelledPlace("a.py", 4, 9), "", True, True),
        (FoundPlace("a.py", 1, 3), LabelledPlace("a.py", 4, 9), "", False, False),
        (FoundPlace("a.py", 10, 12), LabelledPlace("a.py", 4, 9), "", False, False),
        (FoundPlace("a.py", 5, 6), LabelledPlace("a.py", 4), "", False, False),
        (FoundPlace("a.py"), LabelledPlace("a.py", 4, 9), "", True, True),
        (FoundPlace("a.py", 1, 3), LabelledPlace("a.py"), "", True, True),
    ],
)
def test_what_covers_a_target(
    place: FoundPlace, target: LabelledPlace, prefix: str, suffix: bool, strict: bool
) -> None:
    assert covers(place, target, prefix, PathMatch.suffix) is suffix
    assert covers(place, target, prefix, PathMatch.strict) is strict


@pytest.mark.parametrize(
    ("lines", "right"),
    [((20, 30), True), ((8, 30), True), ((20, 23), True), ((1, 60), False), ((20, 41), True),
     ((20, 42), False), ((10, 19), False)],
)  # fmt: skip
def test_half_of_a_place_is_in_a_symbol(lines: tuple[int, int], right: bool) -> None:
    """The lines 8 to 19 above it may be its decorators and comments."""
    target = LabelledPlace("a.py", 20, 30, name="sell")
    assert covers(FoundPlace("a.py", *lines), target, "", PathMatch.strict) is right


FUNCTION = LabelledPlace("a.py", 5, 9, name="sell", kind="function")
CLASS = LabelledPlace("b.py", 1, 9, name="Shop", kind="class")


@pytest.mark.parametrize(
    ("targets", "needs_all", "expected"),
    [
        ((FUNCTION,), False, (0.0, 1.0, 1.0)),
        # A class is counted where one is wanted.
        ((CLASS,), False, (1.0, 1.0, 1.0)),
        ((FUNCTION, CLASS), False, (1.0, 1.0, 1.0)),
        ((FUNCTION, CLASS), True, (0.0, 1.0, 1.0)),
        ((FUNCTION._replace(path="c.py"),), False, (0.0, 0.0, 0.0)),
    ],
)
def test_functions_among_the_first(
    targets: tuple[LabelledPlace, ...], needs_all: bool, expected: tuple[float, ...]
) -> None:
    found = [
        FoundPlace("b.py", 1, 9, kind="class"),
        FoundPlace("b.py", 3, 3, kind="property"),
        FoundPlace("b.py", 5, 7, kind="method"),
        FoundPlace("a.py", 5, 9, kind="function"),
    ]
    query = Query("1", "q", "shop", targets, needs_all=needs_all)
    assert function_measures(found, query, "") == expected


def test_the_first_place_counts() -> None:
    found = [FoundPlace("b.py"), FoundPlace("a.py", 1, 2), FoundPlace("a.py", 3, 4)]
    targets = [LabelledPlace("a.py"), LabelledPlace("a.py", 4, 4), LabelledPlace("c.py")]
    assert first_ranks(found, targets, "", PathMatch.strict) == (2, 3, None)


def test_a_file_counts_once_whatever_its_lines() -> None:
    found = [FoundPlace("b.py"), FoundPlace("a.py", 1, 2), FoundPlace("a.py", 3, 4)]
    targets = [
        LabelledPlace("a.py", 9, 9),
        LabelledPlace("a.py", 4, 4),
        LabelledPlace("c.py", 1, 1),
    ]
    assert first_ranks(found, targets, "", PathMatch.strict) == (None, 3, None)
    assert file_ranks(found, targets, "", PathMatch.strict) == (2, None)


def test_which_places_are_right() -> None:
    found = [FoundPlace("b.py"), FoundPlace("a.py", 1, 2), FoundPlace("a.py", 3, 4)]
    targets = [LabelledPlace("a.py", 4, 4), LabelledPlace("c.py")]
    assert right_places(found, targets, "", PathMatch.strict) == (False, False, True)
    assert right_places(found, (), "", PathMatch.strict) == (False, False, False)


def test_places_that_the_question_came_from_are_left_out() -> None:
    query = Query(
        "1", "q", "r", (LabelledPlace("a.py", 5, 6),), given=(LabelledPlace("a.py", 1, 3),)
    )
    kept = [FoundPlace("a.py", 2, 5), FoundPlace("b.py", 1, 2), FoundPlace("a.py", 4, 4)]
    found = [FoundPlace("a.py", 1, 1), *kept, FoundPlace("a.py", 3, 4)]
    assert without_given(found, query, "") == kept
