"""From ranked hits to what is given out: what passes and fits, and an account of the rest."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

from asterism.search.selection.account import account, file_matches
from asterism.search.selection.budget import Allotment, Given, degrade
from asterism.search.selection.cuts import cut
from asterism.search.selection.options import Overflow, SelectionOptions
from asterism.search.selection.overlap import insides
from asterism.search.selection.sieve import Sieve, file_of, sieve
from asterism.search.selection.sizes import Measure, Sizes
from asterism.types.search import Hit
from asterism.types.selection import Kept, Selection


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
    """The order in which hits are given out."""
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
