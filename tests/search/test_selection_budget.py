"""Hits are degraded before any is dropped, and the account names the limit."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from asterism.search.selection.options import CHUNKS, CONTEXT, SelectionOptions
from asterism.search.selection.select import select
from asterism.search.selection.sizes import Measure, source_text
from asterism.types.search import Detail, Dropped, Hit, Reason
from tests.search.selection_hits import hit, names

LENGTHS = {Detail.full: 100, Detail.collapsed: 50, Detail.signature: 20, Detail.location: 5}
"""What each hit of these tests measures at each level of detail."""


def sized(hit: Hit, detail: Detail) -> str:
    return hit.chunk.name * LENGTHS[detail]


PLAIN = Measure(render=sized)


def letters(count: int) -> list[Hit]:
    return [hit(chr(97 + n), 0.99 - n / 100, signature="f()") for n in range(count)]


@pytest.mark.parametrize(
    ("count", "max_chars", "expected", "reason"),
    [
        (2, 200, "a b", None),
        (2, 199, "a b:collapsed", Reason.character_limit),
        (2, 150, "a b:collapsed", Reason.character_limit),
        (2, 149, "a b:signature", Reason.character_limit),
        (2, 119, "a b:location", Reason.character_limit),
        # The best is degraded before the next is dropped.
        (2, 104, "a:collapsed b:collapsed", Reason.character_limit),
        (2, 99, "a:collapsed b:signature", Reason.single_result_too_large),
        (2, 10, "a:location b:location", Reason.single_result_too_large),
        (2, 9, "a:location", Reason.single_result_too_large),
        (2, 4, "", Reason.single_result_too_large),
        # One giant result is given in the form that fits.
        (1, 99, "a:collapsed", Reason.single_result_too_large),
        (1, 49, "a:signature", Reason.single_result_too_large),
        (1, 19, "a:location", Reason.single_result_too_large),
        # Names of all, then as much as fits of the best.
        (5, 325, "a b c d:signature e:location", Reason.character_limit),
        # The first three are named even where names get no more than their share.
        (9, 15, "a:location b:location c:location", Reason.single_result_too_large),
        # Names take a quarter of the space: a long list leaves some for code.
        (26, 400, "a b c d:signature " + " ".join(f"{x}:location" for x in "efghijklmnopqrst"), Reason.character_limit),
        (26, 40, "a:signature b:location c:location d:location e:location", Reason.single_result_too_large),
    ],
)  # fmt: skip
def test_degrade_before_drop(
    count: int, max_chars: int, expected: str, reason: Reason | None
) -> None:
    selection = select(letters(count), SelectionOptions(max_chars=max_chars), PLAIN)
    info = selection.account.truncation_info
    assert names(selection.kept) == expected
    assert info.reason == reason
    assert selection.account.truncated is (reason is not None)
    assert selection.account.dropped == Dropped(budget=count - len(selection.kept))
    assert (info.original_count, info.returned_count) == (count, len(selection.kept))
    assert info.estimated_chars == sum(len(one.text) for one in selection.kept) <= max_chars


@pytest.mark.parametrize(
    ("budget", "expected", "reason"),
    [
        (50, "a b", None),
        (49, "a b:collapsed", Reason.token_budget),
        (24, "a:collapsed b:signature", Reason.single_result_too_large),
        (0, "", Reason.single_result_too_large),
    ],
)
def test_tokens_are_a_quarter_of_the_characters(
    budget: int, expected: str, reason: Reason | None
) -> None:
    selection = select(letters(2), SelectionOptions(token_budget=budget), PLAIN)
    info = selection.account.truncation_info
    assert names(selection.kept) == expected
    assert (info.reason, info.limit_tokens) == (reason, budget)
    assert info.estimated_tokens == -(-info.estimated_chars // 4)
    assert selection.account.token_method == "characters / 4"


def test_a_tokenizer_counts_instead_and_is_named() -> None:
    measure = replace(PLAIN, count_tokens=len, token_method="letters")
    selection = select(letters(2), SelectionOptions(token_budget=149), measure)
    assert names(selection.kept) == "a b:signature"
    assert selection.account.token_method == "letters"
    assert selection.account.truncation_info.estimated_tokens == 120


@pytest.mark.parametrize(
    ("options", "tokens"),
    [(SelectionOptions(token_budget=300), 3 + 200 + 2), (SelectionOptions(counted="text"), 200)],
)
def test_a_tokenizer_is_not_asked_about_what_is_around(
    options: SelectionOptions, tokens: int
) -> None:
    measure = replace(PLAIN, count_tokens=len, envelope=12, separator=7)
    info = select(letters(2), options, measure).account.truncation_info
    assert info.estimated_tokens == tokens


def test_without_a_budget_the_token_limit_follows_from_the_characters() -> None:
    assert select(letters(1), CHUNKS, PLAIN).account.truncation_info.limit_tokens == 20_000


@pytest.mark.parametrize(
    ("most", "expected"),
    [(100, "a b"), (99, "a:collapsed b:collapsed"), (5, "a:location b:location"), (4, "")],
)
def test_one_text_has_its_own_limit(most: int, expected: str) -> None:
    selection = select(letters(2), SelectionOptions(max_chunk_chars=most), PLAIN)
    assert names(selection.kept) == expected
    assert selection.account.truncation_info.reason == (
        None if most == 100 else Reason.character_limit
    )


def test_a_level_that_saves_nothing_is_passed_over() -> None:
    # A one-line function has a signature and a place that are longer than itself.
    large = hit("large", 0.9, text="y" * 30)
    giant = hit("giant", 0.8, text="z" * 90)
    small = hit("small", 0.7, text="x = 1", signature="x: int = 1")
    selection = select([large, giant, small], SelectionOptions(max_chars=53), Measure())
    texts = [one.text for one in selection.kept]
    assert texts == ["large  large.py:1-1", "giant  giant.py:1-1", "x = 1"]


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        (Detail.full, "class A:\n    def f(self):\n        pass"),
        (Detail.collapsed, "class A:\n    def f(self)"),
        (Detail.signature, "class A  a.py:3-5"),
        (Detail.location, "A  a.py:3-5"),
    ],
)
def test_plain_text_of_each_level(detail: Detail, expected: str) -> None:
    source = "class A:\n    def f(self):\n        pass"
    collapsed = "class A:\n    def f(self)"
    given = hit(
        "A", file="a.py", lines=(3, 5), text=source, collapsed=collapsed, signature="class A"
    )
    assert source_text(given, detail) == expected


def test_a_hit_without_a_signature_shows_its_place() -> None:
    assert source_text(hit("a", lines=(2, 4)), Detail.signature) == "a  a.py:2-4"


@pytest.mark.parametrize(
    ("length", "near", "utilisation"), [(700, False, 0.7), (701, True, 0.701), (1000, True, 1.0)]
)
def test_a_nearly_full_reply_is_reported(length: int, near: bool, utilisation: float) -> None:
    account = select(
        [hit("a", text="x" * length)], SelectionOptions(max_chars=1_000), Measure()
    ).account
    assert (account.near_limit, account.truncated) == (near, False)
    assert account.utilisation == pytest.approx(utilisation)


def test_a_truncated_reply_is_not_also_near_its_limit() -> None:
    account = select(letters(9), SelectionOptions(max_chars=400), PLAIN).account
    assert account.utilisation > 0.9
    assert (account.near_limit, account.truncated) == (False, True)


def as_row(hit: Hit, detail: Detail, text: str) -> str:
    return json.dumps({"id": hit.chunk.id, "detail": detail.value, "content": text})


@pytest.mark.parametrize("options", [CHUNKS, CONTEXT, SelectionOptions(max_chars=10**9)])
@pytest.mark.parametrize("sizes", [[200_000], [60_000, 60_000, 60_000], [3_000] * 50, [0]])
def test_the_ceiling_is_measured_on_the_serialised_reply(
    options: SelectionOptions, sizes: Sequence[int]
) -> None:
    texts = ['"' * size if size else "" for size in sizes]
    hits = [hit(f"h{place}", text=text) for place, text in enumerate(texts)]
    measure = Measure(serialise=as_row, envelope=2 + len('{"results": }'), separator=2)
    selection = select(hits, options, measure)
    rows = [json.loads(as_row(one.hit, one.detail, one.text)) for one in selection.kept]
    reply = json.dumps({"results": rows})
    assert selection.kept
    assert len(reply) == selection.account.truncation_info.estimated_chars
    assert len(reply) <= options.limit_chars <= 100_000


def test_the_top_three_are_kept_whole_while_they_fit() -> None:
    hits = [hit(f"h{n:02}", 0.99 - n / 100, text="x" * 25_000) for n in range(50)]
    selection = select(hits, replace(CHUNKS, max_results=50), Measure())
    assert names(selection.kept[:3]) == "h00 h01 h02"
    assert selection.account.returned_count == 50
    assert {one.detail for one in selection.kept[3:]} == {Detail.location}
