"""Which hits get room, and how much: degrade before drop, or cut and drop."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from asterism.domain.search import Hit
from asterism.domain.selection import Detail, Lines, Reason
from asterism.retrieval.selection_overlap import Insides, covered
from asterism.retrieval.selection_sizes import NOTHING, Form, Size, Sizes

FIRST_KEPT = 3
"""The best hits that get room for their names before anything else does."""
NAMES_SHARE = 0.25
"""The part of the room that names may take beforehand: a list of hundreds leaves room for code."""


class Given(NamedTuple):
    """What a hit is given."""

    form: Form
    left_out: Lines | None = None
    within: int | None = None
    """The number of the hit whose text holds this one's code."""


class Allotment(NamedTuple):
    """What each hit that got room is given, by its number, and what all of it takes."""

    given: Mapping[int, Given]
    total: Size
    reason: Reason | None


def degrade(hits: Sequence[Hit], wanted: Sequence[int], sizes: Sizes, inside: Insides) -> Allotment:
    """Share the room among the wanted hits, the best first, each in the most detail that fits.

    A name is reserved for every hit before any hit is given more, so that a long one does not
    push out the next.
    """
    room = _Room(hits, wanted, sizes, inside)
    if not room.holds_all():
        room.reserve()
    for number in wanted:
        room.place(number)
    return room.allotment()


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


class _Room:
    """The forms that hits have been given so far, and what they take."""

    def __init__(
        self, hits: Sequence[Hit], wanted: Sequence[int], sizes: Sizes, inside: Insides
    ) -> None:
        self.hits, self.wanted, self.sizes, self.inside = hits, wanted, sizes, inside
        self.full = {number: sizes.form(hits[number], Detail.full) for number in wanted}
        self.ladders: dict[int, Sequence[Form]] = {}
        self.taken: dict[int, Form] = {}
        self.held: dict[int, int] = {}
        """By the number of a hit, that of the one whose text holds its code."""
        self.total = sizes.empty
        self.blocked: Reason | None = None

    def holds_all(self) -> bool:
        """Whether nothing has to be degraded."""
        forms = self.full.values()
        total = _sum(self.sizes.empty, (form.size for form in forms))
        short = not any(self.sizes.too_long(form) for form in forms)
        return short and self.sizes.exceeded(total) is None

    def reserve(self) -> None:
        """Take the least form of each hit, as long as those leave room for code."""
        for place, number in enumerate(self.wanted):
            least = self._forms(number)[-1]
            after = self.total.plus(least.size)
            if self.sizes.too_long(least) or self.sizes.exceeded(after):
                continue
            if place < FIRST_KEPT or not self.sizes.exceeded(_as_share(after, self.sizes.empty)):
                self.taken[number], self.total = least, after

    def place(self, number: int) -> None:
        """Give a hit the most detail that fits; what its text holds needs no room of its own."""
        if number in self.held:
            return
        for form in self._ladder(number):
            inner = covered(self.hits, number, form, self.inside)
            freed = (self.taken[one].size for one in (number, *inner) if one in self.taken)
            after = self.total.minus(_sum(NOTHING, freed)).plus(form.size)
            obstacle = self.sizes.exceeded(after)
            if self.sizes.too_long(form):
                obstacle = Reason.character_limit
            if obstacle is None:
                for one in inner:
                    self.taken.pop(one, None)
                    self.held[one] = number
                self.taken[number], self.total = form, after
                return
            self.blocked = self.blocked or obstacle

    def allotment(self) -> Allotment:
        """What came of it."""
        given = {number: Given(form) for number, form in self.taken.items()}
        inner = Form(Detail.within, "", NOTHING)
        given |= {one: Given(inner, within=host) for one, host in self.held.items()}
        return Allotment(given, self.total, self._reason(given))

    def _ladder(self, number: int) -> Iterator[Form]:
        """A hit in falling detail; what is below `full` is written when it is asked for."""
        yield self.full[number]
        yield from self._forms(number)[1:]

    def _forms(self, number: int) -> Sequence[Form]:
        if number not in self.ladders:
            ladder = self.sizes.ladder(self.hits[number], self.full[number])
            self.ladders[number] = tuple(ladder)
        return self.ladders[number]

    def _reason(self, given: Mapping[int, Given]) -> Reason | None:
        """Why something is missing; nothing is when all are there in full, or inside another."""
        whole = (Detail.full, Detail.within)
        if all(one in given and given[one].form.detail in whole for one in self.wanted):
            return None
        best = self.full[self.wanted[0]]
        if self.sizes.exceeded(self.sizes.empty.plus(best.size)):
            return Reason.single_result_too_large
        return self.blocked


def _as_share(names: Size, empty: Size) -> Size:
    """A size that is over a limit when names take more than their share of its room."""
    return empty.plus(Size(*(int(part / NAMES_SHARE) for part in names.minus(empty))))


def _sum(start: Size, sizes: Iterable[Size]) -> Size:
    for size in sizes:
        start = start.plus(size)
    return start
