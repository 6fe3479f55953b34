"""Which hits are kept, in which order, and how the account explains the rest."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from asterism.search.selection.options import (
    CHUNKS,
    CONTEXT,
    ITEMS,
    SelectionOptions,
    limited,
    staged,
)
from asterism.search.selection.select import select
from asterism.search.selection.sizes import Measure
from asterism.types.search import Dropped, Hit, Stage
from tests.search.selection_hits import hit, names

NAN = float("nan")
ALL = SelectionOptions()


def check(
    hits: Sequence[Hit], options: SelectionOptions, expected: str, dropped: Dropped | None = None
) -> None:
    selection = select(hits, options, Measure())
    assert names(selection.kept) == expected
    assert selection.account.dropped == (dropped or Dropped())
    assert selection.account.total_count == len(hits)
    assert selection.account.returned_count == len(selection.kept)


SCORED = [hit("a", 0.4), hit("b", 0.9), hit("c", 0.5), hit("d", 0.9), hit("e", 0.49)]


@pytest.mark.parametrize(
    ("options", "expected", "dropped"),
    [
        (ALL, "b d c e a", Dropped()),
        (SelectionOptions(order="store"), "a b c d e", Dropped()),
        (SelectionOptions(gate=0.5), "b d c", Dropped(below_gate=2)),
        (SelectionOptions(gate=0.5, min_keep=4), "b d c", Dropped(below_gate=2)),
        (SelectionOptions(gate=0.95), "", Dropped(below_gate=5)),
        (SelectionOptions(gate=0.95, min_keep=3), "b d c", Dropped(below_gate=2)),
        (SelectionOptions(gate=0.95, min_keep=3, order="store"), "b c d", Dropped(below_gate=2)),
        (SelectionOptions(max_results=2), "b d", Dropped(budget=3)),
        (SelectionOptions(max_results=1, always_include=0.5), "b d c", Dropped(budget=2)),
        (SelectionOptions(max_results=4, always_include=0.6), "b d c e", Dropped(budget=1)),
        (SelectionOptions(pool=2), "b d", Dropped(budget=3)),
        (SelectionOptions(pool=3, gate=0.6), "b d", Dropped(budget=2, below_gate=1)),
    ],
)
def test_gate_count_and_order(options: SelectionOptions, expected: str, dropped: Dropped) -> None:
    check(SCORED, options, expected, dropped)


def test_only_what_passes_nothing_is_marked() -> None:
    passing = select(SCORED, SelectionOptions(gate=0.5, min_keep=2), Measure())
    failing = select(SCORED, SelectionOptions(gate=0.95, min_keep=2), Measure())
    assert [one.below_threshold for one in passing.kept] == [False, False, False]
    assert [one.below_threshold for one in failing.kept] == [True, True]


def test_a_score_that_is_no_number_counts_for_nothing() -> None:
    check([hit("a", NAN), hit("b", 0.1)], ALL, "b a")
    check([hit("a", NAN), hit("b", 0.1)], SelectionOptions(gate=0.1), "b", Dropped(below_gate=1))


@pytest.mark.parametrize(
    ("hits", "expected", "dropped"),
    [
        # The same chunk twice: the better one stays.
        ([hit("a", 0.3), hit("a", 0.8), hit("b", 0.5)], "a b", 1),
        # The same text in one file.
        ([hit("a", file="x.py", text="t"), hit("b", file="x.py", text="t")], "a", 1),
        # The same text in two files, the same file name in two repositories.
        ([hit("a", text="t"), hit("b", text="t")], "a b", 0),
        ([hit("a"), hit("a", repo="bank")], "a a", 0),
        # Equal to something that is itself dropped is not a duplicate of anything kept.
        (
            [
                hit("a", 0.9, file="x.py", text="one"),
                hit("b", 0.8, file="x.py", text="one"),
                hit("b", 0.7, file="x.py", text="two"),
            ],
            "a b",
            1,
        ),
    ],
)
def test_duplicates(hits: Sequence[Hit], expected: str, dropped: int) -> None:
    check(hits, ALL, expected, Dropped(duplicate=dropped))


def test_duplicates_go_before_the_limit_per_file() -> None:
    hits = [
        hit("a", 0.9, file="x.py", text="t"),
        hit("b", 0.8, file="x.py", text="t"),
        hit("c", 0.7, file="x.py"),
        hit("d", 0.6, file="x.py"),
        hit("e", 0.5, file="y.py"),
    ]
    check(hits, SelectionOptions(max_per_file=2), "a c e", Dropped(duplicate=1, per_file=1))


def test_the_fallback_respects_the_limit_per_file() -> None:
    hits = [hit("a", 0.4, file="x.py"), hit("b", 0.3, file="x.py"), hit("c", 0.2)]
    options = SelectionOptions(gate=0.5, min_keep=2, max_per_file=1)
    check(hits, options, "a c", Dropped(below_gate=1))


def test_an_exhaustive_page_lists_equal_texts() -> None:
    hits = [hit("a", file="x.py", text="t"), hit("b", file="x.py", text="t")]
    check(hits, limited(CHUNKS, 100, exhaustive=True), "a b")


def test_items_are_grouped_and_sure_ones_go_over_the_limit() -> None:
    pieces = [hit(f"rule{n}-{piece}", 0.9 - n / 20 - piece / 1000, file=f"rule{n}") for n in range(6) for piece in range(2)]  # fmt: skip
    pieces.append(hit("none", 0.0))
    sure = select(pieces, ITEMS, Measure())
    assert names(sure.kept) == "rule0-0 rule1-0 rule2-0 rule3-0 rule4-0"
    assert sure.account.dropped == Dropped(per_file=6, budget=1, below_gate=1)
    many = [hit(f"rule{n}", 0.95 - n / 100) for n in range(8)]
    check([*many, hit("more", 0.6)], ITEMS, " ".join(f"rule{n}" for n in range(8)), Dropped(budget=1))  # fmt: skip
    crowd = [hit(f"rule{n:02}", 0.95) for n in range(25)]
    assert len(select(crowd, ITEMS, Measure()).kept) == 20


def test_an_empty_answer_is_not_filled() -> None:
    selection = select([], CONTEXT, Measure(envelope=120))
    info = selection.account.truncation_info
    assert selection.kept == ()
    assert selection.files == ()
    assert not selection.account.truncated
    assert (info.reason, info.original_count, info.estimated_chars) == (None, 0, 120)
    assert (info.estimated_tokens, info.limit_tokens) == (30, 8_000)


def test_merged_files_stand_together_by_line() -> None:
    hits = [
        hit("low", 0.6, file="x.py", lines=(1, 2)),
        hit("best", 0.9, file="x.py", lines=(30, 40)),
        hit("other", 0.8, file="y.py", lines=(5, 6)),
    ]
    check(hits, ALL, "best other low")
    check(hits, CONTEXT, "low best other")


def test_discovering_prefers_files_not_seen_yet() -> None:
    hits = [
        hit("a1", 0.90, file="a.py"),
        hit("a2", 0.88, file="a.py"),
        hit("a3", 0.86, file="a.py"),
        hit("b1", 0.75, file="b.py"),
        hit("c1", 0.30, file="c.py"),
        hit("d1", 0.10, file="d.py"),
    ]
    strict = SelectionOptions(gate=0.5, max_results=1, min_keep=1)
    check(hits, staged(strict, None), "a1", Dropped(below_gate=2, budget=3))
    check(hits, staged(strict, Stage.refine), "a1", Dropped(below_gate=2, budget=3))
    check(hits, staged(strict, Stage.discover), "a1 b1", Dropped(below_gate=1, budget=3))
    # A file that is much better still gives its second hit, and the order is that of the scores.
    wide = replace(strict, max_results=2)
    check(hits, staged(wide, Stage.discover), "a1 a2 a3 b1", Dropped(below_gate=1, budget=1))


def test_over_the_count_is_told_apart_from_over_the_size() -> None:
    account = select(SCORED, SelectionOptions(max_results=2), Measure()).account
    assert (account.over_count, account.truncated) == (3, False)


def test_what_was_kept_of_each_file() -> None:
    hits = [
        hit("a", 0.5, 0.9, file="x.py", text="1\n2\n3"),
        hit("b", 0.9, None, file="y.py"),
        hit("c", 0.8, 0.4, file="x.py", text="1\n2"),
        hit("d", 0.7, NAN, file="y.py"),
    ]
    files = select(hits, ALL, Measure()).files
    assert [tuple(one) for one in files] == [
        ("shop", "y.py", None, 0.9, 2, 2),
        ("shop", "x.py", 0.4, 0.8, 2, 5),
    ]
