"""Room by cutting long texts, for a surface that takes no less than code and drops the rest."""

from collections.abc import Sequence

from asterism.search.selection.budget import Allotment, Given
from asterism.search.selection.sizes import Form, Sizes
from asterism.types.search import Hit
from asterism.types.selection import Detail, Lines, Reason


def cut(hits: Sequence[Hit], wanted: Sequence[int], sizes: Sizes) -> Allotment:
    """Cut long texts, then give room in the order of the hits' numbers to each that still fits."""
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
    """What stands in place of the lines that a cut left out."""
    return f"\n[lines {lines.first}-{lines.last} left out]"


def _cut_form(hit: Hit, sizes: Sizes) -> tuple[Form, Lines | None]:
    """The hit's text, ended after the last line that leaves room for the mark."""
    text, most = sizes.measure.render(hit, Detail.full), sizes.options.max_chunk_chars
    if most is None or len(text) <= most:
        return sizes.weigh(hit, Detail.full, text), None
    chunk = hit.chunk
    room = most - len(cut_mark(Lines(chunk.end_line, chunk.end_line)))
    if room <= 0:
        return sizes.weigh(hit, Detail.cut, text[:most]), _from_line(hit, text.count("\n", 0, most))
    # One character further: a line that ends exactly at the edge is whole.
    end = text.rfind("\n", 0, room + 1)
    # Cutting inside a line is better than losing half the text to a long one.
    head = text[:end] if end > room // 2 else text[:room]
    lines = _from_line(hit, head.count("\n") + (end > room // 2))
    return sizes.weigh(hit, Detail.cut, head + cut_mark(lines)), lines


def _from_line(hit: Hit, whole: int) -> Lines:
    """What is left out after so many whole lines."""
    last = hit.chunk.end_line
    return Lines(min(hit.chunk.start_line + whole, last), last)
