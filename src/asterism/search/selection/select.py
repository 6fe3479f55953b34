"""Selects the hits to return: those that pass and fit, with an account of the rest."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

from asterism.search.selection.budget import Allotment, Given, degrade
from asterism.search.selection.options import (
    CEILING_CHARS,
    CHARS_PER_TOKEN,
    Overflow,
    SelectionOptions,
)
from asterism.search.selection.sieve import Sieve, distance_of, file_of, insides, score_of, sieve
from asterism.search.selection.sizes import Form, Measure, Size, Sizes
from asterism.types.search import (
    Account,
    Detail,
    Dropped,
    FileMatches,
    Hit,
    Kept,
    Lines,
    Reason,
    Selection,
    TruncationInfo,
)

NEAR_LIMIT = 0.7
"""The used share of a limit from which it is worth telling."""


def account(sieve: Sieve, allotment: Allotment, sizes: Sizes) -> Account:
    """Every hit once: returned, or dropped for one reason."""
    written = allotment.total if allotment.given else sizes.bare
    used, returned = _utilisation(written, sizes), len(allotment.given)
    # Beyond the pool and over the limit are one thing to the user: there is more to be had.
    over_count = len(sieve.ranked) - len(sieve.pool) + len(sieve.spread) - len(sieve.wanted)
    return Account(
        total_count=len(sieve.ranked),
        returned_count=returned,
        dropped=Dropped(
            below_gate=len(sieve.unique) - len(sieve.passing or sieve.spread),
            per_file=len(sieve.passing) - len(sieve.spread) if sieve.passing else 0,
            duplicate=len(sieve.pool) - len(sieve.unique),
            budget=over_count + len(sieve.wanted) - returned,
        ),
        truncation_info=_truncation(sieve, allotment, written, sizes),
        token_method=sizes.measure.token_method,
        over_count=over_count,
        utilisation=min(1.0, used),
        near_limit=allotment.reason is None and used > NEAR_LIMIT,
    )


def _truncation(sieve: Sieve, allotment: Allotment, written: Size, sizes: Sizes) -> TruncationInfo:
    options, budget = sizes.options, sizes.options.token_budget
    return TruncationInfo(
        reason=allotment.reason,
        original_count=len(sieve.wanted),
        returned_count=len(allotment.given),
        estimated_chars=written.chars,
        limit_chars=options.limit_chars,
        estimated_tokens=sizes.tokens(written),
        limit_tokens=options.limit_chars // CHARS_PER_TOKEN if budget is None else budget,
    )


def _utilisation(written: Size, sizes: Sizes) -> float:
    """The used share of the limit that is fullest."""
    limits = [(written.chars, sizes.options.limit_chars), (written.reply, CEILING_CHARS)]
    if sizes.options.token_budget is not None:
        limits.append((sizes.tokens(written), sizes.options.token_budget))
    return max(used / max(1, limit) for used, limit in limits)


def file_matches(kept: Iterable[Kept]) -> tuple[FileMatches, ...]:
    """What was kept, file by file, in the order in which files first appear."""
    files: defaultdict[tuple[str, str], list[Kept]] = defaultdict(list)
    for one in kept:
        files[file_of(one.hit.chunk)].append(one)
    return tuple(_matches(*file, members) for file, members in files.items())


def _matches(repo: str, path: str, members: Sequence[Kept]) -> FileMatches:
    nearest = min(distance_of(one.hit) for one in members)
    return FileMatches(
        repo=repo,
        path=path,
        highest_match=nearest if math.isfinite(nearest) else None,
        best_score=max(score_of(one.hit) for one in members),
        chunk_count=len(members),
        line_count=sum(one.line_count for one in members),
    )


def cut(hits: Sequence[Hit], wanted: Sequence[int], sizes: Sizes) -> Allotment:
    """Truncate long texts, then take each hit that still fits, in the order of their numbers."""
    given: dict[int, Given] = {}
    total, blocked = sizes.empty, None
    for number in sorted(wanted):
        form, left_out = _cut_form(hits[number], sizes)
        obstacle = sizes.exceeded(total.plus(form.size))
        if obstacle is None:
            given[number] = Given(form, left_out)
            total = total.plus(form.size)
        blocked = blocked or obstacle or (Reason.character_limit if left_out else None)
    if wanted and not given:
        blocked = Reason.single_result_too_large
    return Allotment(given, total, blocked)


def cut_mark(lines: Lines) -> str:
    """The text that replaces the lines that a cut left out."""
    return f"\n[lines {lines.first}-{lines.last} left out]"


def _cut_form(hit: Hit, sizes: Sizes) -> tuple[Form, Lines | None]:
    """The hit's text, ended after the last line that leaves space for the mark."""
    text, most = sizes.measure.render(hit, Detail.full), sizes.options.max_chunk_chars
    if most is None or len(text) <= most:
        return sizes.weigh(hit, Detail.full, text), None
    chunk = hit.chunk
    space = most - len(cut_mark(Lines(chunk.end_line, chunk.end_line)))
    if space <= 0:
        return sizes.weigh(hit, Detail.cut, text[:most]), _from_line(hit, text.count("\n", 0, most))
    # One character further: a line that ends exactly at the edge is whole.
    end = text.rfind("\n", 0, space + 1)
    # Cutting inside a line is better than losing half the text to a long one.
    head = text[:end] if end > space // 2 else text[:space]
    lines = _from_line(hit, head.count("\n") + (end > space // 2))
    return sizes.weigh(hit, Detail.cut, head + cut_mark(lines)), lines


def _from_line(hit: Hit, whole: int) -> Lines:
    """What is left out after so many whole lines."""
    last = hit.chunk.end_line
    return Lines(min(hit.chunk.start_line + whole, last), last)


def select(hits: Sequence[Hit], options: SelectionOptions, measure: Measure) -> Selection:
    """Keep what passes and fits, and say what happened to the rest.

    Hits are told apart by their place in `hits`, which also breaks ties.
    """
    sifted = sieve(hits, options)
    sizes = Sizes(options, measure)
    allotment = _allot(hits, sifted.wanted, sizes)
    kept = tuple(
        _kept(hits, number, allotment.given[number], not sifted.passing)
        for number in _ordered(hits, sifted, allotment.given, options)
    )
    return Selection(kept=kept, files=file_matches(kept), account=account(sifted, allotment, sizes))


def _allot(hits: Sequence[Hit], wanted: Sequence[int], sizes: Sizes) -> Allotment:
    if sizes.options.overflow is Overflow.cut:
        return cut(hits, wanted, sizes)
    return degrade(hits, wanted, sizes, insides(hits, wanted))


def _ordered(
    hits: Sequence[Hit], sifted: Sieve, given: Iterable[int], options: SelectionOptions
) -> list[int]:
    """The order in which hits are returned."""
    chosen = set(given)
    ordered = [number for number in sifted.ranked if number in chosen]
    if options.order == "store":
        ordered.sort()
    if not options.merge_same_file:
        return ordered
    files: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for number in ordered:
        files[file_of(hits[number].chunk)].append(number)
    return list(chain.from_iterable(_by_line(hits, numbers) for numbers in files.values()))


def _by_line(hits: Sequence[Hit], numbers: Sequence[int]) -> list[int]:
    lines = {one: (hits[one].chunk.start_line, -hits[one].chunk.end_line) for one in numbers}
    return sorted(numbers, key=lines.__getitem__)


def _kept(hits: Sequence[Hit], number: int, given: Given, below_threshold: bool) -> Kept:
    form, left_out = given.form, given.left_out
    lines = form.text.count("\n") + 1 - len(form.gaps) if form.text else 0
    if left_out:
        lines = left_out.first - hits[number].chunk.start_line
    return Kept(
        hit=hits[number],
        detail=form.detail,
        text=form.text,
        line_count=lines,
        below_threshold=below_threshold,
        left_out=left_out,
        within=None if given.within is None else hits[given.within].chunk.id,
        gaps=form.gaps,
    )
