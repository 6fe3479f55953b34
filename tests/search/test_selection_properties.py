"""Whatever the hits and the options: limits hold, order is stable, and the account adds up."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from asterism.search.selection.options import PRESETS, Overflow, SelectionOptions
from asterism.search.selection.select import select
from asterism.search.selection.sizes import Measure
from asterism.types.search import Detail, Hit, Kept, Selection
from tests.analysis.chunks.invariants import STEADY
from tests.search.selection_hits import hit

FEW = st.integers(1, 4)
NUMBERS = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True), st.floats(0, 2))


@st.composite
def some_hits(draw: st.DrawFn) -> list[Hit]:
    """Hits of few names, files and texts, so that much is equal."""
    return draw(
        st.lists(st.builds(_hit, FEW, FEW, st.floats(0, 1), NUMBERS, FEW, FEW), max_size=12)
    )


def _hit(name: int, file: int, score: float, distance: float | None, first: int, lines: int) -> Hit:
    text = "\n".join(f'line "{number}" of {file}' for number in range(first, first + lines))
    return hit(
        f"n{name}-{first}-{lines}",
        round(score, 1),
        distance,
        file=f"f{file}",
        lines=(first, first + lines - 1),
        text=text,
        collapsed=text.split("\n")[0],
        signature=f"n{name}",
    )


OPTIONS = st.builds(
    SelectionOptions,
    rank_by=st.sampled_from(["score", "distance"]),
    gate=st.sampled_from([0.0, 0.5]),
    distance_cutoff=st.sampled_from([None, 1.0]),
    min_keep=st.integers(0, 3),
    pool=st.none() | st.integers(1, 9),
    always_include=st.sampled_from([None, 0.8]),
    max_results=st.none() | st.integers(1, 6),
    max_per_file=st.none() | st.integers(1, 2),
    equal_text=st.booleans(),
    token_budget=st.none() | st.integers(0, 100),
    max_chars=st.integers(0, 400),
    max_chunk_chars=st.none() | st.integers(1, 60),
    counted=st.sampled_from(["reply", "text"]),
    overflow=st.sampled_from(Overflow),
    order=st.sampled_from(["score", "store"]),
    merge_same_file=st.booleans(),
) | st.sampled_from(list(PRESETS.values()))


def as_row(hit: Hit, detail: Detail, text: str) -> str:
    return json.dumps([hit.chunk.id, detail.value, text])


MEASURES = st.sampled_from(
    [
        Measure(),
        Measure(serialise=as_row, envelope=2, separator=2),
        Measure(serialise=as_row, separator=1, count_tokens=lambda text: len(text.split())),
    ]
)


def written(selection: Selection) -> list[Kept]:
    return [one for one in selection.kept if one.detail is not Detail.within]


@STEADY
@given(some_hits(), OPTIONS, MEASURES)
def test_limits_hold(hits: list[Hit], options: SelectionOptions, measure: Measure) -> None:
    selection = select(hits, options, measure)
    rows = written(selection)
    texts = [one.text for one in rows]
    reply = [measure.serialise(one.hit, one.detail, one.text) for one in rows]
    counted = reply if options.counted == "reply" else texts
    around = measure.envelope + measure.separator * max(0, len(rows) - 1)
    chars = sum(map(len, counted)) + (around if options.counted == "reply" else 0)
    assert chars == selection.account.truncation_info.estimated_chars
    if not rows:
        return
    assert chars <= options.limit_chars
    if options.token_budget is not None:
        count = measure.count_tokens
        assert (sum(map(count, counted)) if count else chars / 4) <= options.token_budget
    if options.max_chunk_chars is not None:
        assert all(len(text) <= options.max_chunk_chars for text in texts)
    if options.max_results is not None and options.always_include is None:
        assert len(rows) <= options.max_results


@STEADY
@given(some_hits(), OPTIONS, MEASURES)
def test_the_account_adds_up(hits: list[Hit], options: SelectionOptions, measure: Measure) -> None:
    selection = select(hits, options, measure)
    account = selection.account
    assert account.total_count == len(hits)
    assert account.total_count == account.returned_count + sum(account.dropped)
    assert account.returned_count == len(selection.kept) == sum(f.chunk_count for f in selection.files)  # fmt: skip
    assert min(account.dropped) >= 0
    assert 0 <= account.over_count <= account.dropped.budget
    info = account.truncation_info
    assert info.returned_count == account.returned_count <= info.original_count
    whole = all(one.detail in (Detail.full, Detail.within) for one in selection.kept)
    assert account.truncated is not (whole and info.returned_count == info.original_count)


@STEADY
@given(some_hits(), OPTIONS, MEASURES)
def test_selecting_again_changes_nothing(
    hits: list[Hit], options: SelectionOptions, measure: Measure
) -> None:
    # Merging puts equals in the order of their lines, which may not be the one they came in.
    plain = replace(options, merge_same_file=False)
    once = select(hits, plain, measure)
    again = select([one.hit for one in once.kept], plain, measure)
    assert again.kept == once.kept
    assert again.files == once.files


@STEADY
@given(some_hits(), OPTIONS, MEASURES)
def test_order_is_stable(hits: list[Hit], options: SelectionOptions, measure: Measure) -> None:
    # Telling equal hits apart needs a name for each place.
    named = [one._replace(chunk=one.chunk._replace(id=str(n))) for n, one in enumerate(hits)]
    kept = select(named, replace(options, merge_same_file=False, rank_by="score"), measure).kept
    places = [int(one.hit.chunk.id) for one in kept]
    if options.order == "store":
        assert places == sorted(places)
    else:
        assert places == sorted(places, key=lambda place: (-named[place].score, place))


@STEADY
@given(some_hits(), OPTIONS)
def test_no_line_is_given_twice_when_files_are_merged(
    hits: list[Hit], options: SelectionOptions
) -> None:
    merged = replace(options, merge_same_file=True, overflow=Overflow.degrade)
    selection = select(hits, merged, Measure())
    whole = [one.hit.chunk for one in selection.kept if one.detail is Detail.full]
    for outer in whole:
        for inner in whole:
            same = (outer.repo, outer.relative_path) == (inner.repo, inner.relative_path)
            if same and outer is not inner:
                assert not outer.start_line <= inner.start_line <= inner.end_line <= outer.end_line
    texts = {one.hit.chunk.id for one in written(selection)}
    assert all(one.within in texts for one in selection.kept if one.detail is Detail.within)
