"""Where lines can be chosen, long hits share the space instead of using it up."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.search.query.parse import understand
from asterism.search.selection.excerpts import excerpts_for
from asterism.search.selection.options import CONTEXT, SelectionOptions
from asterism.search.selection.select import select
from asterism.search.selection.sizes import STEPS, Measure, source_text
from asterism.types.search import Detail, Hit, Kept, Lines, Reason, Selection
from tests.analysis.chunks.invariants import STEADY
from tests.search.selection_hits import hit, names

QUESTION = understand("where is the ledger closed")
PLAIN = Measure()
CHOOSING = Measure(excerpt=excerpts_for(QUESTION))


def function(name: str, score: float, lines: int, *, file: str = "", first: int = 1) -> Hit:
    """A hit of so many lines of about 20 characters, in paragraphs; one of them closes a ledger."""
    body = [f"    {name}_step({n:03})" if n % 5 else "" for n in range(1, lines)]
    if lines > 8:
        body[lines // 2] = "    ledger.close()"
    source = "\n".join([f"def {name}():", *body])
    return hit(
        name,
        score,
        file=file,
        lines=(first, first + lines - 1),
        text=source,
        signature=f"def {name}()",
    )


def alphabet(*lengths: int) -> list[Hit]:
    return [
        function(chr(97 + place), 0.9 - place / 100, lines) for place, lines in enumerate(lengths)
    ]


@pytest.mark.parametrize(
    ("lengths", "budget", "best_first", "shared"),
    [
        # Nothing has to be degraded.
        ((20, 20), 500, "a b", "a b"),
        # A long first hit leaves space for the code of the others.
        ((360, 160, 160), 1_200, "a b:signature c:signature", "a:lines b:lines c:lines"),
        ((360, 40, 40, 40), 1_200, "a b:signature c:signature d:signature", "a:lines b c d"),
        ((360, 10, 10), 1_100, "a:signature b c", "a:lines b c"),
        # Short ones are whole, long ones get what they leave.
        ((10, 400, 10, 400), 1_000, "a b:signature c d:signature", "a b:lines c d:lines"),
        # Where few fit, the rest have signatures before the first have more lines.
        ((400,) * 5, 200, "a:signature b:signature c:signature d:signature e:signature", "a:lines b:lines c:signature d:signature e:signature"),
        # Nothing but names.
        ((100,) * 3, 10, "a:location b:location c:location", "a:location b:location c:location"),
    ],
)  # fmt: skip
def test_space_is_shared(
    lengths: tuple[int, ...], budget: int, best_first: str, shared: str
) -> None:
    options = SelectionOptions(token_budget=budget)
    hits = alphabet(*lengths)
    assert names(select(hits, options, PLAIN).kept) == best_first
    assert names(select(hits, options, CHOOSING).kept) == shared


def test_lines_are_marked_and_counted() -> None:
    [kept] = select(alphabet(100), SelectionOptions(token_budget=100), CHOOSING).kept
    text = kept.text.split("\n")
    assert kept.detail is Detail.lines
    assert text[0] == "def a():"
    assert "    ledger.close()" in text
    assert f"[{kept.gaps[0].last - kept.gaps[0].first + 1} lines left out, " in kept.text
    assert kept.line_count == len(text) - len(kept.gaps)
    assert kept.line_count + sum(gap.last - gap.first + 1 for gap in kept.gaps) == 100
    assert kept.left_out is None


def test_a_collapsed_class_goes_before_its_lines() -> None:
    source = function("Ledger", 0.9, 200).chunk.full_source
    collapsed = "class Ledger:\n    def close(self)"
    whole = hit("Ledger", 0.9, lines=(1, 200), text=source, collapsed=collapsed)
    kept = select([whole], SelectionOptions(token_budget=200), CHOOSING).kept
    assert names(kept) == "Ledger:collapsed"
    long = hit("Ledger", 0.9, lines=(1, 200), text=source, collapsed=collapsed + source[:-99])
    kept = select([long], SelectionOptions(token_budget=200), CHOOSING).kept
    assert names(kept) == "Ledger:lines"


def test_what_is_left_goes_to_the_best() -> None:
    # Two that are alike and long: the first gets twice as much, and what the last leaves.
    kept = select(alphabet(200, 200, 10), SelectionOptions(token_budget=900), CHOOSING).kept
    first, second, third = (len(one.text) for one in kept)
    assert names(kept) == "a:lines b:lines c"
    assert first > 1.8 * second
    assert first + second + third > 0.85 * 3_600


def test_lines_that_another_row_shows_are_not_shown_twice() -> None:
    outer = function("outer", 0.9, 100, file="o.py")
    lines = outer.chunk.full_source.split("\n")[47:56]
    inner = hit("inner", 0.8, file="o.py", lines=(48, 56), text="\n".join(lines))
    for options in (SelectionOptions(token_budget=300), replace(CONTEXT, token_budget=300)):
        kept = select([outer, inner], options, CHOOSING).kept
        assert names(kept) == "outer:lines inner"
        assert "ledger.close()" not in kept[0].text
        assert any(gap.first <= 48 and gap.last >= 56 for gap in kept[0].gaps)


def test_lines_of_an_inner_hit_that_is_only_named_are_shown() -> None:
    outer = function("outer", 0.9, 100, file="o.py")
    inner = function("inner", 0.1, 60, file="o.py", first=30)
    between = alphabet(80, 80, 80)
    kept = select([outer, *between, inner], SelectionOptions(token_budget=420), CHOOSING).kept
    assert names(kept) == "outer:lines a:lines b:lines c:lines inner:signature"
    assert "ledger.close()" in kept[0].text


def test_lines_keep_to_the_limit_of_one_text() -> None:
    options = SelectionOptions(max_chunk_chars=300)
    kept = select(alphabet(100, 10, 100), options, CHOOSING).kept
    assert names(kept) == "a:lines b c:lines"
    assert max(len(one.text) for one in kept) <= 300


def test_lines_of_a_merged_file_leave_space_for_later_hits() -> None:
    outer = function("outer", 0.9, 30, file="o.py")
    first = "\n".join(outer.chunk.full_source.split("\n")[:2])
    inner = [hit("first", 0.5, file="o.py", lines=(1, 2), text=first)]
    options = SelectionOptions(token_budget=70, merge_same_file=True)
    outer_row, inner_row = select([outer, *inner], options, CHOOSING).kept
    assert (outer_row.detail, inner_row.detail) == (Detail.lines, Detail.full)
    assert outer_row.gaps[0] == Lines(1, 2)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (SelectionOptions(token_budget=100), Reason.token_budget),
        (SelectionOptions(max_chars=400), Reason.character_limit),
        # Of two limits that are passed, the lower one is named.
        (SelectionOptions(token_budget=100, max_chars=500), Reason.token_budget),
        (SelectionOptions(token_budget=200, max_chars=400), Reason.character_limit),
    ],
)
def test_the_reason_is_the_limit_that_was_met(options: SelectionOptions, reason: Reason) -> None:
    account = select([function("a", 0.9, 10), function("b", 0.8, 90)], options, CHOOSING).account
    assert account.truncation_info.reason is reason


def as_row(hit: Hit, detail: Detail, text: str) -> str:
    return json.dumps([hit.chunk.id, detail.value, text])


MEASURES = st.sampled_from(
    [
        CHOOSING,
        replace(CHOOSING, serialise=as_row, envelope=20, separator=2),
        replace(CHOOSING, serialise=as_row, count_tokens=lambda text: len(text.split())),
    ]
)
HITS = st.lists(
    st.builds(
        lambda name, score, lines, file, first: function(
            f"n{name}", score / 10, lines, file=f"f{file}", first=first
        ),
        st.integers(1, 9),
        st.integers(0, 10),
        st.integers(1, 120),
        st.integers(1, 3),
        st.sampled_from([1, 1, 20, 60]),
    ),
    max_size=12,
    unique_by=lambda one: one.chunk.id,
)
OPTIONS = st.builds(
    SelectionOptions,
    max_results=st.none() | st.integers(1, 9),
    token_budget=st.integers(0, 1_500),
    max_chars=st.integers(0, 6_000),
    max_chunk_chars=st.none() | st.integers(1, 900),
    counted=st.sampled_from(["reply", "text"]),
    merge_same_file=st.booleans(),
)


@STEADY
@given(HITS, OPTIONS, MEASURES)
def test_limits_hold_and_the_account_adds_up(
    hits: list[Hit], options: SelectionOptions, measure: Measure
) -> None:
    selection = select(hits, options, measure)
    account, rows = selection.account, _written(selection)
    assert account.total_count == len(hits) == account.returned_count + sum(account.dropped)
    texts = [one.text for one in rows]
    reply = [measure.serialise(one.hit, one.detail, one.text) for one in rows]
    counted = reply if options.counted == "reply" else texts
    around = measure.envelope + measure.separator * max(0, len(rows) - 1)
    chars = sum(map(len, counted)) + (around if options.counted == "reply" else 0)
    assert chars == account.truncation_info.estimated_chars
    if rows:
        assert chars <= options.limit_chars
        tokens = account.truncation_info.estimated_tokens
        assert tokens <= (options.token_budget or 0)
    if options.max_chunk_chars is not None:
        assert all(len(text) <= options.max_chunk_chars for text in texts)


@STEADY
@given(HITS, OPTIONS)
def test_no_hit_is_more_detailed_than_a_better_one_that_is_no_longer(
    hits: list[Hit], options: SelectionOptions
) -> None:
    apart = [
        one._replace(chunk=one.chunk._replace(relative_path=f"{place}.py"))
        for place, one in enumerate(hits)
    ]
    kept = select(apart, replace(options, merge_same_file=False), CHOOSING).kept
    assert [one.hit.score for one in kept] == sorted((one.hit.score for one in kept), reverse=True)
    for place, better in enumerate(kept):
        for worse in kept[place + 1 :]:
            if STEPS[worse.detail] < STEPS[better.detail]:
                assert _shortest(better.hit, worse) > len(worse.text)


def _shortest(better: Hit, worse: Kept) -> float:
    """What the better hit takes at the detail of the worse one."""
    if worse.detail is not Detail.lines:
        return len(source_text(better, worse.detail))
    assert CHOOSING.excerpt is not None
    found = CHOOSING.excerpt(better, len(worse.text), ())
    return float("inf") if found is None or not found.gaps else len(found.text)


@STEADY
@given(HITS, OPTIONS)
def test_no_line_is_in_two_rows_of_a_merged_file(
    hits: list[Hit], options: SelectionOptions
) -> None:
    rows = _written(select(hits, replace(options, merge_same_file=True), CHOOSING))
    shown = [
        (one.hit.chunk.relative_path, line)
        for one in rows
        if one.detail in (Detail.full, Detail.lines) and _is_outermost(one, rows)
        for line in _lines(one)
    ]
    assert len(shown) == len(set(shown))


def _written(selection: Selection) -> list[Kept]:
    return [one for one in selection.kept if one.detail is not Detail.within]


def _span(one: Kept) -> Lines:
    return Lines(one.hit.chunk.start_line, one.hit.chunk.end_line)


def _is_outermost(one: Kept, rows: list[Kept]) -> bool:
    """Whether no other row of the file reaches over one of its ends: such rows are no nest."""
    first, last = _span(one)
    others = [
        _span(o)
        for o in rows
        if o is not one and o.hit.chunk.relative_path == one.hit.chunk.relative_path
    ]
    return all(o.last < first or o.first > last or (first <= o.first and o.last <= last) or (o.first <= first and last <= o.last) for o in others)  # fmt: skip


def _lines(one: Kept) -> set[int]:
    gaps = {line for gap in one.gaps for line in range(gap.first, gap.last + 1)}
    return set(range(_span(one).first, _span(one).last + 1)) - gaps
