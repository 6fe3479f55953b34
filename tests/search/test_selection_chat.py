"""Vector search inside a chat: cutoff, fallback, two per file, cuts and caps, in store order."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from asterism.search.selection.options import CHAT, SelectionOptions
from asterism.search.selection.select import select
from asterism.search.selection.sizes import Measure
from asterism.types.search import Detail, Dropped, Hit, Lines, Reason
from tests.search.selection_hits import hit, names

NAN, INF = float("nan"), float("inf")
UNLIMITED = replace(CHAT, distance_cutoff=None)


def at(*distances: float | None) -> list[Hit]:
    """One hit a file, named a, b, c … in store order."""
    return [hit(chr(97 + place), 0.0, distance) for place, distance in enumerate(distances)]


@pytest.mark.parametrize(
    ("hits", "options", "expected", "below_gate"),
    [
        # The cutoff is inclusive, and store order stays.
        (at(1.5, 1.4, 0.2, 1.41, 1.0), CHAT, "b c e", 2),
        (at(0.5), CHAT, "a", 0),
        ([], CHAT, "", 0),
        # Nothing is added to what passes.
        (at(1.39, 1.5, 1.6), CHAT, "a", 2),
        # None passes: the nearest two, in store order; ties by the order given.
        (at(1.9, 1.5, 1.6), CHAT, "b c", 1),
        (at(1.9, 1.6, 1.5), CHAT, "b c", 1),
        (at(1.5, 1.5, 1.5), CHAT, "a b", 1),
        (at(1.6, 1.5, 1.6), CHAT, "a b", 1),
        (at(1.6), CHAT, "a", 0),
        (at(1.9, 1.5, 1.6), replace(CHAT, min_keep=1), "b", 2),
        (at(1.9, 1.5, 1.6), replace(CHAT, min_keep=0), "", 3),
        # Missing distances never pass, and come last in the fallback.
        (at(None, 0.3), CHAT, "b", 1),
        (at(None, 1.9, NAN, 1.8), CHAT, "b d", 2),
        (at(None, 1.9, None), CHAT, "a b", 1),
        (at(None, None, None), CHAT, "a b", 1),
        (at(NAN, INF, -INF), CHAT, "a b", 1),
        # Another cutoff, and none.
        (at(0.5, 0.6), replace(CHAT, distance_cutoff=0.5), "a", 1),
        (at(1.9, None, 0.2, 3.9), UNLIMITED, "a b c d", 0),
    ],
)
def test_cutoff_and_fallback(
    hits: Sequence[Hit], options: SelectionOptions, expected: str, below_gate: int
) -> None:
    selection = select(hits, options, Measure())
    assert names(selection.kept) == expected
    assert selection.account.dropped == Dropped(below_gate=below_gate)


@pytest.mark.parametrize(("distance", "below"), [(1.4, False), (1.41, True), (None, True)])
def test_the_fallback_is_marked(distance: float | None, below: bool) -> None:
    (kept,) = select(at(distance), CHAT, Measure()).kept
    assert kept.below_threshold is below


@pytest.mark.parametrize(
    ("hits", "expected", "dropped"),
    [
        # Two a file, the nearest, in store order.
        (
            [hit("a", 0, 0.9, file="x"), hit("b", 0, 0.2, file="x"), hit("c", 0, 0.5, file="x")],
            "b c",
            Dropped(per_file=1),
        ),
        # Ties keep the earliest.
        (
            [hit("a", 0, 0.5, file="x"), hit("b", 0, 0.5, file="x"), hit("c", 0, 0.5, file="x")],
            "a b",
            Dropped(per_file=1),
        ),
        # A file is a repository and a path.
        (
            [hit(n, 0, 0.5, file="x", repo=r) for n, r in zip("abc", "112", strict=True)],
            "a b c",
            Dropped(),
        ),
        # Duplicates go first, so they do not use up the file's two places.
        (
            [
                hit("a", 0, 0.1, file="x", text="t"),
                hit("b", 0, 0.2, file="x", text="t"),
                hit("a", 0, 0.3, file="x", text="u"),
                hit("c", 0, 0.4, file="x"),
            ],
            "a c",
            Dropped(duplicate=2),
        ),
        # Of duplicates the nearest stays, wherever it stands.
        (
            [hit("a", 0, 0.9, file="x", text="t"), hit("b", 0, 0.2, file="x", text="t")],
            "b",
            Dropped(duplicate=1),
        ),
        # Equal text in different files stays.
        ([hit("a", 0, 0.1, text="t"), hit("b", 0, 0.2, text="t")], "a b", Dropped()),
        # The fallback holds two different texts.
        (
            [
                hit("a", 0, 1.5, file="x", text="t"),
                hit("b", 0, 1.6, file="x", text="t"),
                hit("c", 0, 1.7),
            ],
            "a c",
            Dropped(duplicate=1),
        ),
    ],
)
def test_duplicates_and_files(hits: Sequence[Hit], expected: str, dropped: Dropped) -> None:
    selection = select(hits, CHAT, Measure())
    assert names(selection.kept) == expected
    assert selection.account.dropped == dropped


def test_without_a_cutoff_missing_distances_lose_their_place_in_a_file() -> None:
    hits = [hit("a", 0, None, file="x"), hit("b", 0, 3.0, file="x"), hit("c", 0, 2.5, file="x")]
    assert names(select(hits, UNLIMITED, Measure()).kept) == "b c"


TEN = "\n".join(f"line {number:03}" for number in range(10))  # 8 characters a line, 89 in all


@pytest.mark.parametrize(
    ("text", "most", "expected", "left_out", "lines"),
    [
        (TEN, 89, TEN, None, 10),
        (TEN, 88, TEN[:62] + "\n[lines 18-20 left out]", Lines(18, 20), 7),
        # The last line before the mark fits exactly, or is one character too long.
        (TEN, 85, TEN[:62] + "\n[lines 18-20 left out]", Lines(18, 20), 7),
        (TEN, 84, TEN[:53] + "\n[lines 17-20 left out]", Lines(17, 20), 6),
        # One line that is too long is cut inside.
        ("x" * 100, 60, "x" * 37 + "\n[lines 11-20 left out]", Lines(11, 20), 0),
        ("a\n" + "x" * 100, 60, "a\n" + "x" * 35 + "\n[lines 12-20 left out]", Lines(12, 20), 1),
        # The mark does not fit: the range is returned as data alone.
        ("ab\ncd\nefgh", 7, "ab\ncd\ne", Lines(13, 20), 2),
    ],
)
def test_a_cut_names_the_lines_left_out(
    text: str, most: int, expected: str, left_out: Lines | None, lines: int
) -> None:
    options = replace(CHAT, max_chunk_chars=most)
    selection = select([hit("a", 0, 0.1, lines=(11, 20), text=text)], options, Measure())
    (kept,) = selection.kept
    assert kept.text == expected
    assert (kept.left_out, kept.line_count) == (left_out, lines)
    assert kept.detail is (Detail.cut if left_out else Detail.full)
    assert selection.account.truncation_info.reason == (
        Reason.character_limit if left_out else None
    )


def test_a_cut_holds_its_limit_where_a_text_has_more_lines_than_its_range() -> None:
    given = hit("a", 0, 0.1, lines=(9, 9), text="xyz\n" * 50)
    for most in range(40, 60):
        (kept,) = select([given], replace(CHAT, max_chunk_chars=most), Measure()).kept
        assert len(kept.text) <= most
        assert kept.left_out == Lines(9, 9)


@pytest.mark.parametrize(
    ("sizes", "most", "expected", "reason"),
    [
        ([30, 30, 30], 90, "a b c", None),
        ([30, 30, 30], 89, "a b", Reason.character_limit),
        # What does not fit is passed over; a later, shorter one still fits.
        ([30, 50, 20], 60, "a c", Reason.character_limit),
        # Nothing is cut to fit the total, and nothing is better than too much.
        ([30, 40], 20, "", Reason.single_result_too_large),
        ([30], 0, "", Reason.single_result_too_large),
    ],
)
def test_the_total_counts_texts(
    sizes: Sequence[int], most: int, expected: str, reason: Reason | None
) -> None:
    hits = [hit(chr(97 + n), 0, 0.5 - n / 10, text="x" * size) for n, size in enumerate(sizes)]
    # Rows and what is around them do not count, only texts.
    measure = Measure(serialise=lambda hit, detail, text: f"{{{text!r}}}", envelope=1_000)
    selection = select(hits, replace(CHAT, max_chars=most), measure)
    account = selection.account
    assert names(selection.kept) == expected
    assert account.truncation_info.reason == reason
    assert account.truncation_info.estimated_chars == sum(len(one.text) for one in selection.kept)
    assert account.dropped == Dropped(budget=len(hits) - len(selection.kept))


def test_the_defaults_cut_at_5000_and_stop_at_40000() -> None:
    text = "\n".join(["x" * 99] * 60)
    hits = [hit(f"h{n:02}", 0, 0.5, text=text, lines=(1, 60)) for n in range(12)]
    selection = select(hits, CHAT, Measure())
    assert {len(one.text) for one in selection.kept} == {4_922}
    assert len(selection.kept) == 8
    assert selection.account.truncation_info.estimated_chars == 8 * 4_922
    assert selection.account.truncation_info.limit_chars == 40_000


def test_the_ceiling_holds_for_rows_as_well() -> None:
    # Characters that grow sixfold when they are serialised.
    hits = [hit(f"h{n}", 0, 0.5, text="\0" * 5_000) for n in range(8)]
    measure = Measure(serialise=lambda hit, detail, text: "\\u0000" * len(text))
    selection = select(hits, CHAT, measure)
    assert len(selection.kept) == 3
    assert selection.account.truncation_info.reason is Reason.character_limit


def test_files_report_the_lowest_distance() -> None:
    hits = [
        hit("a", 0, 0.9, file="x", text="1\n2\n3"),
        hit("b", 0, 0.4, file="x", text="1\n2"),
        hit("c", 0, None, file="y", text="1"),
    ]
    files = select(hits, UNLIMITED, Measure()).files
    assert [(one.path, one.highest_match, one.chunk_count, one.line_count) for one in files] == [
        ("x", 0.4, 2, 5),
        ("y", None, 1, 1),
    ]
