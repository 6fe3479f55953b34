"""What goes with what was chosen: by the pieces' vectors, by kept relations, by a tool's result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from asterism.context.items import pieces_of
from asterism.context.relations import RelationGraph
from asterism.context.scores import Numbers, Scale
from asterism.context.vectors import ItemIndex, Prepared, likeness
from asterism.types.agent_settings import AgentSettings, ContextSettings, Domain
from asterism.types.context import Item, Tool

QUERY_PIECES = 8
"""Pieces of one chosen item that search for others: those that fit the message best."""

RESULT_PIECES = 64
"""Pieces of a tool's result that search: 32,000 characters, half from either end."""


class Related(NamedTuple):
    """An item that goes with another, or with a result."""

    item: Item
    score: float
    to: str
    """The name of what it goes with."""


Reached: TypeAlias = tuple[Mapping[int, float], Mapping[int, str]]
"""Scores of items by number, and what each goes with."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ground:
    """All candidates, the chosen among them, and what is known of them."""

    prepared: Prepared
    scale: Scale
    fit: Numbers | None = None
    """How well each piece fits the message, by which a long item's pieces are picked."""
    graph: RelationGraph | None = None


def expand(ground: Ground, chosen: Sequence[Item], settings: AgentSettings) -> tuple[Related, ...]:
    """The items that go with the chosen ones, in as many passes as the settings say.

    The settings that count are those of the domain that the new item belongs to.
    """
    numbers = {item: number for number, item in enumerate(ground.prepared.items)}
    sources = sorted({numbers[item] for item in chosen if item in numbers})
    seen = set(sources)
    found: list[Related] = []
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
    ground: Ground, sources: Sequence[int], settings: AgentSettings
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


def _by_pieces(ground: Ground, sources: Sequence[int]) -> Reached:
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


def _query_pieces(prepared: Prepared, item: int, fit: Numbers | None) -> list[int]:
    import numpy as np

    first = int(prepared.starts[item])
    is_last = item + 1 == len(prepared.items)
    end = len(prepared.pieces) if is_last else int(prepared.starts[item + 1])
    if end - first <= QUERY_PIECES:
        return list(range(first, end))
    if fit is None:
        return list(range(first, first + QUERY_PIECES))
    return [first + int(at) for at in np.argsort(-fit[first:end], kind="stable")[:QUERY_PIECES]]


def _by_graph(ground: Ground, sources: Sequence[int]) -> Reached:
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
    prepared: Prepared,
    ways: Sequence[Reached],
    domain: Domain,
    values: ContextSettings,
    seen: set[int],
) -> list[Related]:
    """The best new items of a domain, each way up to its count."""
    found: dict[int, Related] = {}
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
                found[item] = Related(prepared.items[item], score, to[item])
    return sorted(found.values(), key=lambda entry: -entry.score)


def expand_result(
    result: str,
    tool: str,
    candidates: Sequence[Item],
    settings: AgentSettings,
    index: ItemIndex,
    *,
    wanted: bool = False,
) -> tuple[Related, ...]:
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
    found: list[Related] = []
    for domain in Domain:
        values = settings.of(domain)
        if wanted or values.tool_results_enabled:
            found += _picked(prepared, [reached], domain, values, set())
    return tuple(found)
