"""Divides the space of a reply among the hits: each is degraded before any is dropped."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from asterism.search.selection.sieve import Insides, covered
from asterism.search.selection.sizes import LEAST_EXCERPT, NOTHING, STEPS, Form, Size, Sizes
from asterism.types.deadlines import check_deadline
from asterism.types.search import Detail, Hit, Lines, Reason

LEAST_SHARE = 300
"""The smallest useful share in characters, some eight lines: where the space has too few of them,
the first hits get theirs, and the rest are named. In 1,000 tokens 420 labelled queries see code of
0.949 of their files with 300, 0.933 with 600, 0.929 with 900; in 2,000 it makes no difference."""


def shares(wants: Sequence[int], space: int, least: int) -> list[int]:
    """The most that each may take, the best first; `least` of them get a share in any case.

    A hit that wants less than its share gets what it wants, and the others share what it leaves, so
    that the space is used. The second share is half the first, the third a third, as the first hits
    are the likeliest; equal ones leave slightly fewer of the right hits whole (0.888 for 0.892).
    """
    count = min(len(wants), max(least, space // LEAST_SHARE))
    weights = [1 / (place + 1) for place in range(count)]
    level = _level(wants[:count], weights, max(0, space))
    each = [max(wants, default=0) if math.isinf(level) else int(level * one) for one in weights]
    return each + [0] * (len(wants) - count)


def _level(wants: Sequence[int], weights: Sequence[float], space: float) -> float:
    """The share of weight 1 at which the space is just used up."""
    left = sum(weights)
    order = sorted(range(len(wants)), key=lambda one: wants[one] / weights[one])
    for one in order:
        if wants[one] * left > space * weights[one]:
            break
        space -= wants[one]
        left -= weights[one]
    else:
        return math.inf
    return space / left


FIRST_KEPT = 3
"""The best hits whose names are reserved before anything else."""
NAMES_SHARE = 0.25
"""The part of the space that names may reserve: a list of hundreds leaves some for code."""
WORTH_WIDENING = 160
"""Characters that have to be left for choosing lines again: about four lines."""
WORTH_CHOOSING_AGAIN = 1.3
"""Lines are chosen again where the space is so many times what the hit's lines take already."""


class Given(NamedTuple):
    """What a hit is given."""

    form: Form
    left_out: Lines | None = None
    within: int | None = None
    """The number of the hit whose text holds this one's code."""


class Allotment(NamedTuple):
    """What each hit that fits is given, by its number, and the size of all of it."""

    given: Mapping[int, Given]
    total: Size
    reason: Reason | None


def degrade(hits: Sequence[Hit], wanted: Sequence[int], sizes: Sizes, inside: Insides) -> Allotment:
    """Share the space among the wanted hits, the best first, each in the most detail that fits.

    A name is reserved for every hit before any hit is given more. Where lines can be chosen, no
    hit takes more than its share before the others had theirs, so that a long one leaves space for
    the code of the next; what is left goes to the best, for more detail and then for more lines.
    """
    allocation = _Allocation(hits, wanted, sizes, inside)
    if allocation.holds_all():
        allocation.place_all(wanted)
        return allocation.allotment()
    allocation.reserve()
    if sizes.measure.excerpt is not None:
        allocation.share()
    allocation.place_all(wanted)
    if sizes.measure.excerpt is not None:
        allocation.widen()
    return allocation.allotment()


class _Allocation:
    """The forms that hits have been given so far, and what they take."""

    def __init__(
        self, hits: Sequence[Hit], wanted: Sequence[int], sizes: Sizes, inside: Insides
    ) -> None:
        self.hits, self.wanted, self.sizes, self.inside = hits, wanted, sizes, inside
        self.full = {number: sizes.form(hits[number], Detail.full) for number in wanted}
        self.capacity = sizes.capacity(self.full.values())
        self.ladders: dict[int, Sequence[Form]] = {}
        self.taken: dict[int, Form] = {}
        self.held: dict[int, int] = {}
        """By the number of a hit, that of the one whose text holds its code."""
        self.limits: Mapping[int, int] | None = None
        """The characters that each hit may take at present, where not all that is left."""
        self.widening = False
        self.refused: dict[Detail, int] = {}
        """The shortest form that did not fit a better hit, by detail; of lines, the least space."""
        self.total = sizes.empty
        self.blocked: Reason | None = None

    def holds_all(self) -> bool:
        """Whether nothing has to be degraded."""
        forms = self.full.values()
        total = _sum(self.sizes.empty, (form.size for form in forms))
        short = not any(self.sizes.too_long(form) for form in forms)
        return short and self.sizes.exceeded(total) is None

    def reserve(self) -> None:
        """Take the least form of each hit, as long as those leave space for code."""
        for place, number in enumerate(self.wanted):
            least = self._forms(number)[-1]
            after = self.total.plus(least.size)
            if self.sizes.too_long(least) or self.sizes.exceeded(after):
                continue
            if place < FIRST_KEPT or not self.sizes.exceeded(_as_share(after, self.sizes.empty)):
                self.taken[number], self.total = least, after

    def share(self) -> None:
        """Give each hit the most detail that its share of the space holds."""
        held = {number: self._taken_chars(number) for number in self.wanted}
        wants = [self.full[number].size.chars - held[number] for number in self.wanted]
        each = shares(wants, self._free_chars(), FIRST_KEPT)
        self.limits = {
            number: held[number] + more for number, more in zip(self.wanted, each, strict=True)
        }
        # Who has no share is left what is reserved.
        self.place_all(number for number, more in zip(self.wanted, each, strict=True) if more)
        self.limits = None

    def place_all(self, numbers: Iterable[int]) -> None:
        """Give each of these hits the most detail that fits, the best first.

        What a better hit could not have is not given to another one that needs as much.
        """
        self.refused.clear()
        for number in numbers:
            if number not in self.held:
                self._place(number)

    def widen(self) -> None:
        """Choose more lines where there is space for more."""
        if self._free_chars() >= WORTH_WIDENING:
            self.widening = True
            self.place_all(self.wanted)

    def allotment(self) -> Allotment:
        """What came of it."""
        given = {number: Given(form) for number, form in self.taken.items()}
        inner = Form(Detail.within, "", NOTHING)
        given |= {one: Given(inner, within=host) for one, host in self.held.items()}
        return Allotment(given, self.total, self._reason(given))

    def _place(self, number: int) -> None:
        """Give a hit the most detail that fits; hits inside its text take no space of their own."""
        taken = self.taken.get(number)
        for form in self._ladder(number):
            check_deadline()
            if taken is not None and not _is_gain(form, taken):
                return
            inner = self._covered(number, form)
            freed = (self.taken[one].size for one in (number, *inner) if one in self.taken)
            after = self.total.minus(_sum(NOTHING, freed)).plus(form.size)
            if self._fits(form, after, (number, *inner)) and (inner or self._is_due(form)):
                for one in inner:
                    self.taken.pop(one, None)
                    self.held[one] = number
                self.taken[number], self.total = form, after
                return
            if form.detail is not Detail.lines:
                least = self.refused.get(form.detail, form.size.chars)
                self.refused[form.detail] = min(least, form.size.chars)

    def _covered(self, number: int, form: Form) -> Sequence[int]:
        """The hits that need no text of their own beside that form."""
        if not self.sizes.options.merge_same_file:
            return ()
        return covered(self.hits, number, form, self.inside)

    def _fits(self, form: Form, after: Size, numbers: Iterable[int]) -> bool:
        """Whether nothing is in the way of a form for these hits that makes the reply so large."""
        obstacle = self.sizes.exceeded(after)
        if self.sizes.too_long(form):
            obstacle = Reason.character_limit
        self.blocked = self.blocked or obstacle
        if self.limits is not None and form.size.chars > sum(map(self.limits.__getitem__, numbers)):
            return False
        return obstacle is None

    def _is_due(self, form: Form) -> bool:
        """Whether no better hit went without a form that is no longer."""
        return form.size.chars < self.refused.get(form.detail, form.size.chars + 1)

    def _ladder(self, number: int) -> Iterator[Form]:
        """A hit in falling detail; what is below `full` is written when it is asked for."""
        yield self.full[number]
        lesser = self._forms(number)[1:]
        yield from (form for form in lesser if form.detail is Detail.collapsed)
        yield from self._lines(number)
        yield from (form for form in lesser if form.detail is not Detail.collapsed)

    def _lines(self, number: int) -> Iterator[Form]:
        """The lines that matter, as many as the hit may take of what is left."""
        if self.sizes.measure.excerpt is None:
            return
        taken = self.taken.get(number)
        space = self._free_chars() + self._taken_chars(number)
        if self.limits is not None:
            space = min(space, self.limits[number])
        space = min(space, self.refused.get(Detail.lines, space))
        if taken is not None and taken.detail is Detail.lines:
            much = space >= taken.size.chars * WORTH_CHOOSING_AGAIN
            if not (self.widening and much):
                return
        # What another row shows is not shown here too.
        elsewhere = filter(self._shows_code, self.inside.get(number, ()))
        without = [_lines_of(self.hits[one]) for one in elsewhere]
        yield from self.sizes.excerpts(self.hits[number], self.full[number], space, without)
        # Reached where none of these was taken: later hits get no more space for lines.
        self.refused[Detail.lines] = space

    def _shows_code(self, number: int) -> bool:
        """Whether a hit has code of its own, or may still have: where files are merged, any may."""
        if self.sizes.options.merge_same_file:
            return True
        if self.limits is not None:
            return self.limits[number] >= min(self.full[number].size.chars, LEAST_EXCERPT)
        taken = self.taken.get(number)
        return taken is not None and STEPS[taken.detail] <= STEPS[Detail.lines]

    def _forms(self, number: int) -> Sequence[Form]:
        if number not in self.ladders:
            ladder = self.sizes.ladder(self.hits[number], self.full[number])
            self.ladders[number] = tuple(ladder)
        return self.ladders[number]

    def _taken_chars(self, number: int) -> int:
        return self.taken[number].size.chars if number in self.taken else 0

    def _free_chars(self) -> int:
        return self.capacity - self.total.chars

    def _reason(self, given: Mapping[int, Given]) -> Reason | None:
        """Why something is missing; nothing is when all are there in full, or inside another."""
        whole = (Detail.full, Detail.within)
        if all(one in given and given[one].form.detail in whole for one in self.wanted):
            return None
        best = self.full[self.wanted[0]]
        if self.sizes.exceeded(self.sizes.empty.plus(best.size)):
            return Reason.single_result_too_large
        return self.blocked


def _is_gain(form: Form, taken: Form) -> bool:
    """Whether a form may take the place of what a hit has; the same one holds others as well."""
    if form.detail is taken.detail is Detail.lines:
        return form.size.chars > taken.size.chars
    return STEPS[form.detail] <= STEPS[taken.detail]


def _lines_of(hit: Hit) -> Lines:
    return Lines(hit.chunk.start_line, hit.chunk.end_line)


def _as_share(names: Size, empty: Size) -> Size:
    """A size that is over a limit when names take more than their share of its space."""
    return empty.plus(Size(*(int(part / NAMES_SHARE) for part in names.minus(empty))))


def _sum(start: Size, sizes: Iterable[Size]) -> Size:
    for size in sizes:
        start = start.plus(size)
    return start
