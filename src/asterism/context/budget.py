"""One token budget over rules, references, tools and code: what fits, and in how much detail."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from asterism.context.choice import Choice
from asterism.context.items import index_text, pieces_of
from asterism.context.messages import block_text, tool_description
from asterism.context.request import Built
from asterism.types.context import (
    Item,
    ItemDetail,
    ItemKey,
    LeftOut,
    LeftOutReason,
    RequestContext,
    RequestItem,
    RequestMode,
    Tool,
)

Counter = Callable[[str], int]
"""How many tokens a text has."""

EXCERPT_PIECES = 4
"""Pieces of an excerpt, about 2,000 characters: those that fit the message best."""

_GREEDY = 2
"""A single entry may have this part of the budget (a half) before others give way to it."""
_TOKEN_SIZED = "0" * 12
"""Placeholder of the markers' token, which is known only when everything is chosen."""


class CodeForm(NamedTuple):
    """A hit at one level of detail, such as `full`, `collapsed`, `signature`, `location`."""

    detail: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeHit:
    """Code that was found for the same message."""

    place: str
    """What it is known by, such as `src/auth.py:10-42`."""
    score: float
    forms: tuple[CodeForm, ...]
    """The most detailed first."""


class KeptCode(NamedTuple):
    """Code that is given, at the detail that fits."""

    place: str
    score: float
    form: CodeForm


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextAllotment:
    """What fits the budget; the rest is listed as left out in the context."""

    context: RequestContext
    code: tuple[KeptCode, ...]
    used_tokens: int
    budget: int


@dataclass(slots=True)
class _Entry:
    """A part of the context: the tokens of each of its forms, and which form it has."""

    rank: tuple[int, float]
    sizes: list[int]
    level: int | None = 0

    @property
    def size(self) -> int:
        return 0 if self.level is None else self.sizes[self.level]


def fit_budget(
    built: Built, code: Sequence[CodeHit], budget: int, count: Counter
) -> ContextAllotment:
    """Give everything as much detail as fits together.

    Where all does not fit, an entry that wants more than half of the budget gives up detail first.
    Then what came by expansion, the least of it first, gives up detail and then its place; then
    what was chosen and the code, by their scores, which are of one scale; what the session holds
    comes last. Tokens that are left in the end restore detail, the most important first.
    """
    context, items = built.context, built.items
    given = [_forms(entry, items[entry.key], built.choices) for entry in context.items]
    entries = [
        _Entry(_rank(forms[0]), [count(_text(items[form.key], form)) for form in forms])
        for forms in given
    ]
    entries += [_Entry((1, hit.score), [count(form.text) for form in hit.forms]) for hit in code]
    _shrink(entries, budget)
    kept, left_out = [], list(context.left_out)
    for forms, entry in zip(given, entries, strict=False):
        if entry.level is None:
            left_out.append(LeftOut(forms[0].key, LeftOutReason.budget, forms[0].score))
        else:
            kept.append(forms[entry.level])
    kept_code = []
    for hit, entry in zip(code, entries[len(given) :], strict=True):
        if entry.level is None:
            left_out.append(LeftOut(hit.place, LeftOutReason.budget, hit.score))
        else:
            kept_code.append(KeptCode(hit.place, hit.score, hit.forms[entry.level]))
    return ContextAllotment(
        context=replace(context, items=tuple(kept), left_out=tuple(left_out)),
        code=tuple(kept_code),
        used_tokens=sum(entry.size for entry in entries),
        budget=budget,
    )


def _forms(
    entry: RequestItem, item: Item, choices: Mapping[ItemKey, Choice]
) -> tuple[RequestItem, ...]:
    """The item at each detail it can be given in."""
    short = replace(entry, detail=ItemDetail.excerpt)
    if isinstance(item, Tool):
        return (entry, short)
    count = len(pieces_of(index_text(item)))
    name = replace(entry, detail=ItemDetail.name)
    if count <= EXCERPT_PIECES:
        return (entry, name)
    choice = choices.get(entry.key)
    best = choice.best_pieces if choice is not None else range(count)
    return (entry, replace(short, pieces=tuple(sorted(best[:EXCERPT_PIECES]))), name)


def _text(item: Item, entry: RequestItem) -> str:
    if isinstance(item, Tool):
        schema = json.dumps(item.schema, ensure_ascii=False, default=str)
        return f"{item.server}__{item.name}: {tool_description(item, entry.detail)} {schema}"
    return block_text(item, entry, _TOKEN_SIZED)


def _rank(entry: RequestItem) -> tuple[int, float]:
    """How important an item is: the session's, then what was chosen, then what came along."""
    if entry.mode is RequestMode.agent:
        return 1, entry.score or 0.0
    if entry.mode is RequestMode.expansion:
        return 0, 1.0 if entry.score is None else entry.score
    return 2, 0.0


def _shrink(entries: Sequence[_Entry], budget: int) -> None:
    """Set each entry's level so that all together fit."""
    rising = sorted(range(len(entries)), key=lambda at: (entries[at].rank, -at))
    total = sum(entry.size for entry in entries)
    if total <= budget:
        return
    for entry in (entries[at] for at in rising):
        while total > budget and entry.size * _GREEDY > budget:
            freed = _step_down(entry, drops=False)
            if not freed:
                break
            total += freed
    for rank in sorted({entry.rank[0] for entry in entries}):
        members = [entries[at] for at in rising if entries[at].rank[0] == rank]
        for drops in (False, True):
            for entry in members:
                while total > budget and (freed := _step_down(entry, drops=drops)):
                    total += freed
    for at in reversed(rising):
        total += _step_up(entries[at], budget - total)


def _step_down(entry: _Entry, *, drops: bool) -> int:
    """Give up detail, or with `drops` the place; says by how many tokens that changed the size."""
    before = entry.size
    if entry.level is None:
        return 0
    if drops:
        entry.level = None
    else:
        lesser = [at for at in range(entry.level + 1, len(entry.sizes)) if entry.sizes[at] < before]
        if not lesser:
            return 0
        entry.level = lesser[0]
    return entry.size - before


def _step_up(entry: _Entry, room: int) -> int:
    """Restore detail where it fits after all, because a large entry was dropped."""
    before = entry.size
    better = range(len(entry.sizes) if entry.level is None else entry.level)
    fitting = next((at for at in better if entry.sizes[at] - before <= room), None)
    if fitting is not None:
        entry.level = fitting
    return entry.size - before
