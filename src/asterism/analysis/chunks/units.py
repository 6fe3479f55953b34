"""Chunk options, and which items share a chunk: one each, unless siblings are on the same line."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from asterism.types.outline import Item

# How many names a chunk of several symbols is called by: `a, b, c`.
NAME_COUNT = 8


class Unit(NamedTuple):
    """The items of one chunk and the whole lines they stand on."""

    members: tuple[int, ...]
    lead: int
    """The item that gives the chunk its kind: the first symbol, else the first statement."""
    first_line: int
    end_line: int
    parent: int | None
    """The index of the parent's unit."""
    depth: int


def folded(items: Sequence[Item], children: Iterable[int]) -> Iterator[int]:
    """The descendants that are collapsed: bodies directly below, or below what has none.

    In broken code siblings may overlap; only the first of them is collapsed.
    """
    end = 0
    pending = sorted(children, key=lambda index: items[index].span, reverse=True)
    while pending:
        index = pending.pop()
        child = items[index]
        if child.body is not None:
            if child.span.start >= end:
                yield index
                end = child.span.end
        elif child.children:
            pending.extend(sorted(child.children, key=lambda i: items[i].span, reverse=True))


def units_of(items: Sequence[Item]) -> list[Unit]:
    """All units, parents before their children, in source order."""
    roots = [index for index, item in enumerate(items) if item.parent is None]
    units: list[Unit] = []
    # A stack instead of recursion: sources nest without bound.
    pending: list[tuple[list[int], int | None, int]] = [
        (run, None, 0) for run in reversed(_runs(items, roots))
    ]
    while pending:
        run, parent, depth = pending.pop()
        number = len(units)
        units.append(_unit(items, run, parent, depth))
        children: Sequence[int] = items[run[0]].children
        if len(run) > 1:
            children = [child for index in run for child in items[index].children]
        if children:
            pending.extend((below, number, depth + 1) for below in reversed(_runs(items, children)))
    return units


def unit_path(items: Sequence[Item], unit: Unit) -> tuple[str, ...]:
    """The lead's path; several symbols on one line are named together."""
    lead = items[unit.lead]
    if len(unit.members) == 1:
        return lead.path
    names = dict.fromkeys(items[index].name for index in unit.members if items[index].is_symbol)
    if len(names) < 2:
        return lead.path
    shown = list(names)[:NAME_COUNT]
    label = ", ".join(shown) + (", …" if len(names) > NAME_COUNT else "")
    return (*lead.path[:-1], label)


def _runs(items: Sequence[Item], group: Sequence[int]) -> list[list[int]]:
    """Siblings in source order, those that share a line together."""
    runs: list[list[int]] = []
    last = 0
    ordered = sorted(group, key=lambda number: items[number].span) if len(group) > 1 else group
    for index in ordered:
        item = items[index]
        if runs and item.first_line <= last:
            runs[-1].append(index)
        else:
            runs.append([index])
        last = max(last, item.end_line)
    return runs


def _unit(items: Sequence[Item], run: list[int], parent: int | None, depth: int) -> Unit:
    if len(run) == 1:
        item = items[run[0]]
        return Unit((run[0],), run[0], item.first_line, item.end_line, parent, depth)
    lead = next((index for index in run if items[index].is_symbol), run[0])
    first = min(items[index].first_line for index in run)
    last = max(items[index].end_line for index in run)
    return Unit(tuple(run), lead, first, last, parent, depth)


# Changing what `embedding.py` writes means a new number here, so that an index knows its age.
RECIPE_VERSION = 1

# A new number for every change of outlines, symbols or chunks that no option makes: an index of
# another number is read anew.
READING_VERSION = 4


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """Every number that shapes content; their hash belongs to an index's identity."""

    max_tokens: int = 32_000
    """No embedding text is longer. The largest limit among the models we speak to."""
    chars_per_token: int = 4
    """How tokens are estimated where no tokenizer is at hand."""
    max_quoted: int = 8
    """Referenced symbols quoted in a preamble; more would drown the code below it."""
    max_quote_chars: int = 160
    """Length of one quoted signature."""
    max_purpose_chars: int = 400
    """Length of the purpose line: the first paragraph of a doc, unless it is an essay."""
    max_dependencies: int = 20
    """Modules named in the dependencies line."""

    @property
    def max_chars(self) -> int:
        """The limit in characters."""
        return self.max_tokens * self.chars_per_token
