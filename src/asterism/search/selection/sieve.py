"""Which hits are wanted, before their size is looked at: pool, duplicates, gate, files, count."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from asterism.search.selection.options import SelectionOptions
from asterism.search.selection.sizes import Form
from asterism.types.index import Chunk
from asterism.types.search import Detail, Hit

Insides = Mapping[int, Sequence[int]]
"""For the number of a hit, the hits of the same file whose lines are among its own."""


def insides(hits: Sequence[Hit], wanted: Iterable[int]) -> Insides:
    """Which of the wanted hits lie inside which."""
    files: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for number in wanted:
        files[hits[number].chunk.repo, hits[number].chunk.relative_path].append(number)
    found: dict[int, list[int]] = {}
    for numbers in files.values():
        if len(numbers) > 1:
            found |= _nested(hits, numbers)
    return found


def covered(hits: Sequence[Hit], number: int, form: Form, inside: Insides) -> Sequence[int]:
    """The hits whose code is in that form of a hit."""
    inner = inside.get(number, ())
    if form.detail is Detail.full:
        return inner
    if form.detail is Detail.collapsed:
        # A collapsed text contains children without a body, such as fields, in full.
        return [one for one in inner if hits[one].chunk.full_source in form.text]
    return ()


def _nested(hits: Sequence[Hit], numbers: Sequence[int]) -> dict[int, list[int]]:
    """Inner hits of one file by outer hit; of two with the same lines, the first is the outer."""
    chunks = {number: hits[number].chunk for number in numbers}
    # Outer before inner; the sort is stable, so the better of two equals comes first.
    spread = sorted(numbers, key=lambda one: (chunks[one].start_line, -chunks[one].end_line))
    starts = [chunks[one].start_line for one in spread]
    found = {}
    for place, outer in enumerate(spread):
        end = chunks[outer].end_line
        following = spread[place + 1 : bisect_right(starts, end)]
        inner = [one for one in following if chunks[one].end_line <= end]
        if inner:
            found[outer] = inner
    return found


DIVERSITY = 0.8
"""What each further hit of a file counts for, against the one before it: the second has to be
clearly better than the first of another file. Chosen, not measured."""


class Sieve(NamedTuple):
    """The hits that each step left, by their places in the given order."""

    ranked: list[int]
    """All of them, the best first."""
    pool: list[int]
    unique: list[int]
    passing: list[int]
    spread: list[int]
    """Without those over the number for a file; the fallback where none passes."""
    wanted: list[int]
    """The hits to place in the reply, in the order in which they are placed."""


def sieve(hits: Sequence[Hit], options: SelectionOptions) -> Sieve:
    """Take away what is not wanted, a step at a time."""
    best = _ranked(hits, options)
    pool = best[: options.pool]
    unique = _unique(hits, pool, options)
    passing = [number for number in unique if _passes(hits[number], options)]
    spread = _per_file(hits, passing or unique, options.max_per_file)
    if not passing:
        spread = spread[: options.min_keep]
    wanted = _within_count(hits, _diverse(hits, spread, options), options)
    return Sieve(best, pool, unique, passing, spread, wanted)


def _ranked(hits: Sequence[Hit], options: SelectionOptions) -> list[int]:
    """The hits' numbers, the best first, equals in the given order, unknown last."""
    if options.rank_by == "distance":
        return sorted(range(len(hits)), key=lambda one: distance_of(hits[one]))
    return sorted(range(len(hits)), key=lambda one: -score_of(hits[one]))


def _unique(hits: Sequence[Hit], numbers: Iterable[int], options: SelectionOptions) -> list[int]:
    """The best of each set of equals: same id or, unless switched off, same text in one file."""
    seen: set[tuple[str, str, str, str]] = set()
    unique = []
    for number in numbers:
        chunk = hits[number].chunk
        keys = [(*file_of(chunk), "id", chunk.id)]
        if options.equal_text:
            keys.append((*file_of(chunk), "text", chunk.full_source))
        if seen.isdisjoint(keys):
            seen.update(keys)
            unique.append(number)
    return unique


def _passes(hit: Hit, options: SelectionOptions) -> bool:
    near = options.distance_cutoff is None or distance_of(hit) <= options.distance_cutoff
    return near and score_of(hit) >= options.gate


def _per_file(hits: Sequence[Hit], numbers: Sequence[int], most: int | None) -> list[int]:
    """The best few of each file."""
    if most is None:
        return list(numbers)
    counts: Counter[tuple[str, str]] = Counter()
    spread = []
    for number in numbers:
        file = file_of(hits[number].chunk)
        counts[file] += 1
        if counts[file] <= most:
            spread.append(number)
    return spread


def _diverse(hits: Sequence[Hit], numbers: list[int], options: SelectionOptions) -> list[int]:
    """The order in which hits are placed: the best first, or the best of each file favoured."""
    if not options.diverse:
        return numbers
    counts: Counter[tuple[str, str]] = Counter()
    worth: dict[int, float] = {}
    for number in numbers:
        hit = hits[number]
        strength = score_of(hit) if options.rank_by == "score" else max(0.0, 2 - distance_of(hit))
        worth[number] = strength * DIVERSITY ** counts[file_of(hit.chunk)]
        counts[file_of(hit.chunk)] += 1
    return sorted(numbers, key=lambda number: -worth[number])


def _within_count(hits: Sequence[Hit], numbers: list[int], options: SelectionOptions) -> list[int]:
    """Those that the count limit leaves: the sure ones, then the next until it is reached."""
    if options.max_results is None:
        return numbers
    floor = math.inf if options.always_include is None else options.always_include
    sure = [number for number in numbers if score_of(hits[number]) >= floor]
    space = max(0, options.max_results - len(sure))
    chosen = {*sure, *[number for number in numbers if score_of(hits[number]) < floor][:space]}
    return [number for number in numbers if number in chosen]


def file_of(chunk: Chunk) -> tuple[str, str]:
    """What tells files apart: two repositories may have the same paths, and so the same ids."""
    return chunk.repo, chunk.relative_path


def score_of(hit: Hit) -> float:
    """The score; what is not a number counts for nothing."""
    return hit.score if math.isfinite(hit.score) else 0.0


def distance_of(hit: Hit) -> float:
    """The distance; one that is missing or not a number is the farthest."""
    if hit.distance is None or not math.isfinite(hit.distance):
        return math.inf
    return hit.distance
