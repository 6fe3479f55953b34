"""Fits the curve by which items are scored for one model, on the labelled requests.

    python -m benchmarks.context.fit [--embedder local|minilm|encoder|FOLDER]

Prints the numbers for `asterism.context.words`, and how good they are on requests they were
not fitted on (five folds). The relation of two items is not fitted, because no pairs are labelled:
the nearest ones are listed, to be labelled by hand.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from asterism.context.items import query_sentences
from asterism.context.vectors import ItemIndex, PreparedItems, likeness
from asterism.context.words import PROBES, brevity
from asterism.models.embed.cache import NoCache
from asterism.types.context import Tool
from benchmarks.context.quality import (
    LabelledSet,
    embedder_named,
    key_of,
    load_pairs,
    load_set,
)

FOLDS = 5
TOP_N = 5
FLOORS = (0.04, 0.06, 0.08, 0.10, 0.12, 0.15, 0.20, 0.25, 0.30, 0.40)
NEAR_ENOUGH = 0.015
"""Two F1 that differ by less are equally good on so few requests."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rows:
    """A row for each pair of request and item."""

    features: Numbers
    """1, cosine, said and brief, of the sentence and piece that fit best."""
    needed: NDArray[np.bool_]
    request: NDArray[np.intp]
    is_tool: NDArray[np.bool_]
    group: NDArray[np.intp]
    """Requests that need the same item first; they are fitted on together or not at all."""
    cosines: Numbers
    """Of the sentence and piece that are nearest, whatever words say."""

    def some(self, chosen: NDArray[np.bool_]) -> "Rows":
        """Some of the rows."""
        return Rows(*(getattr(self, part.name)[chosen] for part in fields(self)))


def rows_of(labelled: LabelledSet, index: ItemIndex) -> tuple[Rows, PreparedItems]:
    """What is known of every pair."""
    prepared = index.prepare([*labelled.agent.texts, *labelled.tools])
    features, needed, requests, tools, groups, nearest = [], [], [], [], [], []
    numbers = {item.key: number for number, item in enumerate(prepared.items)}
    for number, request in enumerate(labelled.requests):
        sentences = query_sentences(request.ask)
        cosines = prepared.best(index.embedder.embed_queries(sentences) @ prepared.vectors.T)
        said = np.stack([prepared.words.said(sentence) for sentence in sentences])
        brief = np.array([brevity(sentence) for sentence in sentences])
        best = np.argmax(cosines + said, axis=0)
        items = np.arange(len(prepared.items))
        features.append(
            np.stack([np.ones(len(items)), cosines[best, items], said[best, items], brief[best]], 1)
        )
        needed += [item.key in request.needs for item in prepared.items]
        requests += [number] * len(items)
        # A request that needs nothing is a group of its own.
        group = min((numbers[key] for key in request.needs), default=len(items) + number)
        groups += [group] * len(items)
        nearest.append(cosines.max(axis=0))
        tools += [isinstance(item, Tool) for item in prepared.items]
    rows = Rows(
        np.concatenate(features).astype(np.float64),
        np.array(needed),
        np.array(requests, dtype=np.intp),
        np.array(tools),
        np.array(groups, dtype=np.intp),
        np.concatenate(nearest).astype(np.float64),
    )
    return rows, prepared


def fitted(features: Numbers, needed: NDArray[np.bool_], rounds: int = 100) -> Numbers:
    """The logistic function's weights, by Newton's method."""
    weights = np.zeros(features.shape[1])
    ridge = 1e-3 * np.eye(len(weights))
    for _round in range(rounds):
        chance = probabilities(features, weights)
        slope = features.T @ (chance - needed) + ridge @ weights
        curvature = (features * (chance * (1 - chance))[:, None]).T @ features + ridge
        step = np.linalg.solve(curvature, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def probabilities(features: Numbers, weights: Numbers) -> Numbers:
    """How likely each pair belongs together."""
    return np.asarray(1.0 / (1.0 + np.exp(-features @ weights)))


def held_out(rows: Rows) -> Numbers:
    """For each pair the probability by weights that were fitted without its request."""
    chance = np.zeros(len(rows.needed))
    for fold in range(FOLDS):
        test = rows.group % FOLDS == fold
        weights = fitted(rows.features[~test], rows.needed[~test])
        chance[test] = probabilities(rows.features[test], weights)
    return chance


def figures(rows: Rows, chance: Numbers, floor: float) -> tuple[float, float, float, float]:
    """Precision, recall, F1 and the share of idle requests that get something, at a floor."""
    hits = chosen = disturbed = idle = 0
    for number in np.unique(rows.request):
        mine = rows.request == number
        taken: list[int] = []
        for tools in (False, True):
            places = np.flatnonzero(mine & (rows.is_tool == tools))
            best = places[np.argsort(-chance[places], kind="stable")][:TOP_N]
            taken += [int(place) for place in best if chance[place] >= floor]
        chosen += len(taken)
        hits += int(rows.needed[taken].sum())
        if not rows.needed[mine].any():
            idle += 1
            disturbed += bool(taken)
    needed = int(rows.needed.sum())
    precision, recall = hits / max(chosen, 1), hits / needed
    return precision, recall, 2 * hits / max(chosen + needed, 1), disturbed / max(idle, 1)


def relation_curve(prepared: PreparedItems) -> tuple[float, float]:
    """How likely two items go together by their nearest pieces, fitted on the labelled pairs."""
    together = {frozenset(map(key_of, pair)) for pair in load_pairs()}
    by_item = np.maximum.reduceat(likeness(prepared, slice(None)), prepared.starts, axis=0)
    first, second = np.triu_indices(len(prepared.items), 1)
    keys = [item.key for item in prepared.items]
    judged = [frozenset((keys[a], keys[b])) in together for a, b in zip(first, second, strict=True)]
    cosines = by_item[first, second].astype(np.float64)
    offset, slope = fitted(np.stack([np.ones(len(cosines)), cosines], 1), np.array(judged))
    return float(offset), float(slope)


def nearest_pairs(prepared: PreparedItems, count: int = 40) -> list[str]:
    """The most similar items, to be labelled by hand."""
    near = prepared.best(prepared.vectors @ prepared.vectors.T)
    by_item = np.maximum.reduceat(near, prepared.starts, axis=0)
    first, second = np.triu_indices(len(prepared.items), 1)
    values = by_item[first, second]
    return [
        f"{values[at]:.2f}  {prepared.items[first[at]].key} | {prepared.items[second[at]].key}"
        for at in np.argsort(-values, kind="stable")[:count]
    ]


def report(labelled: LabelledSet, index: ItemIndex) -> list[str]:
    """Everything worth reading, as lines."""
    rows, prepared = rows_of(labelled, index)
    offset, cosine, said, brief = fitted(rows.features, rows.needed)
    chance = held_out(rows)
    lines = [
        f"{index.identity}: offset={offset:.2f} cosine={cosine:.2f} said={said:.2f} "
        f"brief={brief:.2f}"
    ]
    found = {floor: figures(rows, chance, floor) for floor in FLOORS}
    for floor, (precision, recall, both, disturbed) in found.items():
        lines.append(
            f"  floor {floor:.2f}: precision {precision:.2f}, recall {recall:.2f}, "
            f"F1 {both:.3f}, idle disturbed {disturbed:.2f}"
        )
    best = max(both for _precision, _recall, both, _disturbed in found.values())
    floor = min(floor for floor, value in found.items() if value[2] >= best - NEAR_ENOUGH)
    noise = prepared.best(index.embedder.embed_queries(PROBES) @ prepared.vectors.T)
    lines.append(f"floor={floor:.2f}; cosines below {noise.max():.2f} are noise")
    return [*lines, "nearest pairs:", *nearest_pairs(prepared)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the curve of a model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--embedder", default="local", metavar="local|minilm|encoder|FOLDER")
    options = parser.parse_args(arguments)
    index = ItemIndex(embedder_named(options.embedder), NoCache())
    sys.stdout.write("\n".join(report(load_set(), index)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
