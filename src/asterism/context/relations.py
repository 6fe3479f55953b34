"""Which items go with which, computed once for a set of items and kept by what they say."""

from __future__ import annotations

import hashlib
import json
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from asterism.context.scores import Scale
from asterism.context.vectors import Prepared, likeness
from asterism.types.context import content_hash
from asterism.types.index import ModelIdentity

if TYPE_CHECKING:
    import numpy as np

VERSION = 2
"""Of the files; a new one is needed when scores or their form change."""

LEAST_SCORE = 0.5
"""Weaker relations are not kept: no preset asks for less, and the pieces themselves find them."""
MOST_NEIGHBOURS = 16
"""Kept for each item."""
MOST_FILES = 64
"""Graphs that stay on disk; the oldest go first."""

# Pieces compared at once: 2,000 items' take some 8 MB.
_BLOCK = 1024


class Neighbour(NamedTuple):
    """An item that goes with another, by its number in the set."""

    item: int
    score: float


class RelationGraph(NamedTuple):
    """For each item of a set its neighbours, best first."""

    links: tuple[tuple[Neighbour, ...], ...]

    def neighbours(self, item: int) -> tuple[Neighbour, ...]:
        """The neighbours of an item."""
        return self.links[item] if item < len(self.links) else ()


def relation_graph(
    prepared: Prepared, identity: ModelIdentity, scale: Scale, directory: Path | None
) -> RelationGraph:
    """The graph of a set: from its file if there is one, else computed and kept there.

    A file that cannot be read is computed again, and one that cannot be written is done without.
    """
    graph = _graphs.get(prepared)
    if graph is None:
        graph = _graphs[prepared] = _kept(prepared, identity, scale, directory)
    return graph


_graphs: WeakKeyDictionary[Prepared, RelationGraph] = WeakKeyDictionary()
"""The graphs of sets that are in use; a set lives as long as its index remembers it."""


def _kept(
    prepared: Prepared, identity: ModelIdentity, scale: Scale, directory: Path | None
) -> RelationGraph:
    if directory is None:
        return _computed(prepared, scale)
    path = directory / f"{_name(prepared, identity, scale)}.json"
    graph = _read(path, len(prepared.items))
    if graph is None:
        graph = _computed(prepared, scale)
        with suppress(OSError):
            _write(path, graph)
    return graph


def _name(prepared: Prepared, identity: ModelIdentity, scale: Scale) -> str:
    parts = [VERSION, list(identity), scale.curve, [content_hash(item) for item in prepared.items]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]


def _computed(prepared: Prepared, scale: Scale) -> RelationGraph:
    import numpy as np

    count = len(prepared.items)
    near = np.full((count, count), -1.0, dtype=np.float32)
    for start in range(0, len(prepared.pieces), _BLOCK):
        block = slice(start, start + _BLOCK)
        np.maximum.at(near, prepared.owners[block], likeness(prepared, block))
    np.fill_diagonal(near, -1.0)
    scores = scale.relations(near)
    np.fill_diagonal(scores, 0.0)
    return RelationGraph(tuple(_strongest(row) for row in scores))


def _strongest(row: np.ndarray[tuple[int], np.dtype[np.float32]]) -> tuple[Neighbour, ...]:
    import numpy as np

    over = np.flatnonzero(row >= LEAST_SCORE)
    best = over[np.argsort(-row[over], kind="stable")][:MOST_NEIGHBOURS]
    return tuple(Neighbour(int(item), round(float(row[item]), 4)) for item in best)


def _read(path: Path, count: int) -> RelationGraph | None:
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        links = tuple(
            tuple(Neighbour(int(item), float(score)) for item, score in row) for row in written
        )
    except (OSError, ValueError, TypeError):
        return None
    is_whole = len(links) == count and all(0 <= n.item < count for row in links for n in row)
    return RelationGraph(links) if is_whole else None


def _write(path: Path, graph: RelationGraph) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    temporary.write_text(json.dumps(graph.links, separators=(",", ":")), encoding="utf-8")
    temporary.replace(path)
    _forget(path.parent)


def _forget(directory: Path) -> None:
    files = sorted(directory.glob("*.json"), key=_age)
    for old in files[: max(len(files) - MOST_FILES, 0)]:
        old.unlink(missing_ok=True)


def _age(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
