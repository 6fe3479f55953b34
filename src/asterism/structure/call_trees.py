"""Calls of calls, as deep as was asked: circles end, and what is left out is counted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from asterism.types.deadlines import check_deadline
from asterism.types.structure import CallTree, Edge, Known, SymbolPlace

EdgesOf: TypeAlias = Callable[[SymbolPlace], Sequence[Edge]]


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """How far a tree goes."""

    depth: int = 1
    """How many calls a path has at most."""
    width: int = 20
    """Calls shown of one symbol; a reader follows no more, and a logger has hundreds of callers."""
    places: int = 400
    """Calls shown in all: twenty of twenty, three deep, would be eight thousand."""


def call_tree(root: SymbolPlace, edges: EdgesOf, options: TreeOptions) -> CallTree:
    """The tree below a symbol; `edges` gives the calls that begin, or end, at a place.

    Each place is asked for once. Nearer calls come before deeper ones where there are too many.
    """
    levels = _Levels(edges, options)
    return levels.tree(Edge(root, Known.resolved), (), levels.shown(root))


class _Levels:
    """Which calls are shown, chosen level by level."""

    def __init__(self, edges: EdgesOf, options: TreeOptions) -> None:
        self._edges = edges
        self._options = options
        self._known: dict[SymbolPlace, Sequence[Edge]] = {}

    def shown(self, root: SymbolPlace) -> dict[tuple[SymbolPlace, ...], int]:
        """How many calls are shown below each way down from the root."""
        counts: dict[tuple[SymbolPlace, ...], int] = {}
        left = self._options.places
        level: list[tuple[SymbolPlace, ...]] = [(root,)]
        for _ in range(self._options.depth):
            following: list[tuple[SymbolPlace, ...]] = []
            for way in level:
                check_deadline()
                found = self._of(way[-1])
                counts[way] = min(len(found), self._options.width, left)
                left -= counts[way]
                following += [
                    (*way, edge.target)
                    for edge in found[: counts[way]]
                    if edge.target.path is not None and edge.target not in way
                ]
            level = following
        return counts

    def tree(
        self,
        edge: Edge,
        above: tuple[SymbolPlace, ...],
        counts: dict[tuple[SymbolPlace, ...], int],
    ) -> CallTree:
        """The chosen calls as a tree."""
        place = edge.target
        if place in above:
            return CallTree(edge, mark="cycle")
        way = (*above, place)
        if way not in counts:
            return CallTree(edge, mark="depth" if place.path is not None else None)
        found = self._of(place)
        children = tuple(self.tree(child, way, counts) for child in found[: counts[way]])
        return CallTree(edge, children, None, len(found) - counts[way])

    def _of(self, place: SymbolPlace) -> Sequence[Edge]:
        if place not in self._known:
            self._known[place] = self._edges(place)
        return self._known[place]
