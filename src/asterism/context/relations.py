"""Which items are related, computed once per set, and the expansion of a choice by them."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from asterism.context.items import pieces_of
from asterism.context.vectors import ItemIndex, PreparedItems, likeness
from asterism.context.words import Numbers, Scale
from asterism.types.agent_settings import AgentSettings, ContextSettings, Domain
from asterism.types.context import Item, Tool, content_hash
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


class ItemNeighbour(NamedTuple):
    """An item that goes with another, by its number in the set."""

    item: int
    score: float


class RelationGraph(NamedTuple):
    """For each item of a set its neighbours, best first."""

    links: tuple[tuple[ItemNeighbour, ...], ...]

    def neighbours(self, item: int) -> tuple[ItemNeighbour, ...]:
        """The neighbours of an item."""
        return self.links[item] if item < len(self.links) else ()


def relation_graph(
    prepared: PreparedItems, identity: ModelIdentity, scale: Scale, directory: Path | None
) -> RelationGraph:
    """The graph of a set: from its file if there is one, else computed and kept there.

    A file that cannot be read is computed again, and one that cannot be written is done without.
    """
    graph = _graphs.get(prepared)
    if graph is None:
        graph = _graphs[prepared] = _kept(prepared, identity, scale, directory)
    return graph


_graphs: WeakKeyDictionary[PreparedItems, RelationGraph] = WeakKeyDictionary()
"""The graphs of sets that are in use; a set lives as long as its index remembers it."""


def _kept(
    prepared: PreparedItems, identity: ModelIdentity, scale: Scale, directory: Path | None
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


def _name(prepared: PreparedItems, identity: ModelIdentity, scale: Scale) -> str:
    parts = [VERSION, list(identity), scale.curve, [content_hash(item) for item in prepared.items]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]


def _computed(prepared: PreparedItems, scale: Scale) -> RelationGraph:
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


def _strongest(row: np.ndarray[tuple[int], np.dtype[np.float32]]) -> tuple[ItemNeighbour, ...]:
    import numpy as np

    over = np.flatnonzero(row >= LEAST_SCORE)
    best = over[np.argsort(-row[over], kind="stable")][:MOST_NEIGHBOURS]
    return tuple(ItemNeighbour(int(item), round(float(row[item]), 4)) for item in best)


def _read(path: Path, count: int) -> RelationGraph | None:
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        links = tuple(
            tuple(ItemNeighbour(int(item), float(score)) for item, score in row) for row in written
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


QUERY_PIECES = 8
"""Pieces of one chosen item that search for others: those that fit the message best."""

RESULT_PIECES = 64
"""Pieces of a tool's result that search: 32,000 characters, half from either end."""


class RelatedItem(NamedTuple):
    """An item that goes with another, or with a result."""

    item: Item
    score: float
    to: str
    """The name of what it goes with."""


Reached: TypeAlias = tuple[Mapping[int, float], Mapping[int, str]]
"""Scores of items by number, and what each goes with."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RelationBasis:
    """All candidates, the chosen among them, and what is known of them."""

    prepared: PreparedItems
    scale: Scale
    fit: Numbers | None = None
    """How well each piece fits the message, by which a long item's pieces are picked."""
    graph: RelationGraph | None = None


def expand(
    ground: RelationBasis, chosen: Sequence[Item], settings: AgentSettings
) -> tuple[RelatedItem, ...]:
    """The items that go with the chosen ones, in as many passes as the settings say.

    The settings that count are those of the domain that the new item belongs to.
    """
    numbers = {item: number for number, item in enumerate(ground.prepared.items)}
    sources = sorted({numbers[item] for item in chosen if item in numbers})
    seen = set(sources)
    found: list[RelatedItem] = []
    depth = max(settings.of(domain).expansion_depth for domain in Domain)
    for level in range(depth):
        ways = _ways(ground, sources, settings)
        related = [
            entry
            for domain in Domain
            if level < _depth(settings.of(domain))
            for entry in _picked(ground.prepared, ways[domain], domain, settings.of(domain), seen)
        ]
        found += related
        sources = [numbers[entry.item] for entry in related]
        seen.update(sources)
    return tuple(found)


def _depth(values: ContextSettings) -> int:
    return values.expansion_depth if values.expansion_enabled or values.graph_enabled else 0


def _ways(
    ground: RelationBasis, sources: Sequence[int], settings: AgentSettings
) -> Mapping[Domain, Sequence[Reached]]:
    """For each domain what its settings ask for: near pieces, kept relations, or both."""
    by_pieces = any(settings.of(domain).expansion_enabled for domain in Domain)
    pieces = [_by_pieces(ground, sources)] if by_pieces else []
    relations = [_by_graph(ground, sources)]
    return {
        domain: (pieces if settings.of(domain).expansion_enabled else [])
        + (relations if settings.of(domain).graph_enabled else [])
        for domain in Domain
    }


def _by_pieces(ground: RelationBasis, sources: Sequence[int]) -> Reached:
    """For each item its score with the piece of a chosen item that it is nearest to."""
    prepared = ground.prepared
    pieces = [piece for at in sources for piece in _query_pieces(prepared, at, ground.fit)]
    if not pieces:
        return {}, {}
    near = likeness(prepared, pieces)
    scores = ground.scale.relations(near.max(axis=0))
    owners = prepared.owners[pieces][near.argmax(axis=0)]
    return (
        dict(enumerate(map(float, scores))),
        {item: prepared.items[owner].name for item, owner in enumerate(owners)},
    )


def _query_pieces(prepared: PreparedItems, item: int, fit: Numbers | None) -> list[int]:
    import numpy as np

    first = int(prepared.starts[item])
    is_last = item + 1 == len(prepared.items)
    end = len(prepared.pieces) if is_last else int(prepared.starts[item + 1])
    if end - first <= QUERY_PIECES:
        return list(range(first, end))
    if fit is None:
        return list(range(first, first + QUERY_PIECES))
    return [first + int(at) for at in np.argsort(-fit[first:end], kind="stable")[:QUERY_PIECES]]


def _by_graph(ground: RelationBasis, sources: Sequence[int]) -> Reached:
    scores: dict[int, float] = {}
    to: dict[int, str] = {}
    if ground.graph is not None:
        for source in sources:
            for other, score in ground.graph.neighbours(source):
                if score > scores.get(other, 0.0):
                    scores[other] = score
                    to[other] = ground.prepared.items[source].name
    return scores, to


def _picked(
    prepared: PreparedItems,
    ways: Sequence[Reached],
    domain: Domain,
    values: ContextSettings,
    seen: set[int],
) -> list[RelatedItem]:
    """The best new items of a domain, each way up to its count."""
    found: dict[int, RelatedItem] = {}
    for scores, to in ways:
        passing = [
            (score, item)
            for item, score in scores.items()
            if score >= values.expansion_threshold
            and item not in seen
            and isinstance(prepared.items[item], Tool) is (domain is Domain.tools)
        ]
        passing.sort(key=lambda entry: (-entry[0], entry[1]))
        for score, item in passing[: values.expansion_top_n]:
            if item not in found or found[item].score < score:
                found[item] = RelatedItem(prepared.items[item], score, to[item])
    return sorted(found.values(), key=lambda entry: -entry.score)


def expand_result(
    result: str,
    tool: str,
    candidates: Sequence[Item],
    settings: AgentSettings,
    index: ItemIndex,
    *,
    wanted: bool = False,
) -> tuple[RelatedItem, ...]:
    """The candidates that go with what a tool returned; raises what the embedder raises.

    With `wanted` they come whatever the settings say, because the agent says so of this tool.
    """
    pieces = pieces_of(result)
    if len(pieces) > RESULT_PIECES:
        pieces = pieces[: RESULT_PIECES // 2] + pieces[-RESULT_PIECES // 2 :]
    prepared = index.prepare(candidates)
    if not pieces or not prepared.items:
        return ()
    queries = index.embedder.embed_documents(list(dict.fromkeys(pieces)))
    scores = index.scale().relations(prepared.best(queries @ prepared.vectors.T).max(axis=0))
    reached = (dict(enumerate(map(float, scores))), dict.fromkeys(range(len(scores)), tool))
    found: list[RelatedItem] = []
    for domain in Domain:
        values = settings.of(domain)
        if wanted or values.tool_results_enabled:
            found += _picked(prepared, [reached], domain, values, set())
    return tuple(found)
