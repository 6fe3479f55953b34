"""Whose code stands inside whose: a parent's text holds its children's lines."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from asterism.search.selection.sizes import Form
from asterism.types.search import Hit
from asterism.types.selection import Detail

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
        # Children without a body, as fields are, stand in a collapsed text as they are.
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
