"""Compares embedding models on choosing items for requests, each with a curve of its own.

    python -m benchmarks.context.models [local|minilm|FOLDER]... [--write]

A FOLDER holds an encoder or a static model and its `model.json`. The first table is about order:
where the items that matter stand among all, by cosine alone and by cosine and words. The second is
about choosing: what is kept above a floor. Curves and floors are fitted without the requests that
they are used for: requests that need the same item first are left out together, in five folds.
`--write` puts the curve that is fitted on all requests into each folder's `model.json`, where the
engine finds it.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from asterism.context.vectors import ItemIndex
from asterism.context.words import Curve
from asterism.evaluation.tables import table
from asterism.models.embed.cache import NoCache
from asterism.models.weights.folder import DESCRIPTION
from benchmarks.context.fit import (
    FLOORS,
    FOLDS,
    NEAR_ENOUGH,
    Numbers,
    Rows,
    figures,
    fitted,
    held_out,
    probabilities,
    relation_curve,
    rows_of,
)
from benchmarks.context.quality import LabelledSet, embedder_named, load_set

DEPTH = 10


class Ranking(NamedTuple):
    """Ranks of relevant items by one model, over requests that need some item."""

    ndcg: float
    first: float
    """Requests whose first item matters."""
    recall: float
    """Of the items that matter, the share among the first five."""
    told_apart: float
    """How often an item that matters scores above one that does not."""


class Compared(NamedTuple):
    """What is known of one model."""

    name: str
    by_cosine: Ranking
    by_both: Ranking
    chosen: tuple[float, float, float, float]
    """Precision, recall, F1 and idle requests disturbed, on requests that nothing was fitted on."""
    curve: Curve
    milliseconds: float
    """A request's vectors, with one in mind that is asked alone."""


def ranking(rows: Rows, scores: Numbers) -> Ranking:
    """The figures of an order."""
    gains, first, recalls, apart = [], [], [], []
    for number in np.unique(rows.request[rows.needed]):
        mine = rows.request == number
        needed, score = rows.needed[mine], scores[mine]
        places = np.flatnonzero(needed[np.argsort(-score, kind="stable")])
        ideal = (1 / np.log2(np.arange(min(len(places), DEPTH)) + 2)).sum()
        gains.append((1 / np.log2(places[places < DEPTH] + 2)).sum() / ideal)
        first.append(places[0] == 0)
        recalls.append((places < 5).mean())
        apart.append((score[needed][:, None] > score[~needed][None, :]).mean())
    return Ranking(*(float(np.mean(part)) for part in (gains, first, recalls, apart)))


def best_floor(rows: Rows, chance: Numbers) -> float:
    """The lowest floor whose F1 is as good as the best."""
    found = {floor: figures(rows, chance, floor)[2] for floor in FLOORS}
    return min(floor for floor, both in found.items() if both >= max(found.values()) - NEAR_ENOUGH)


def chosen_unseen(rows: Rows) -> tuple[float, float, float, float]:
    """What is chosen with curve and floor fitted on other requests."""
    # A score above its floor is made positive, so that one floor does for all folds.
    margin = np.zeros(len(rows.needed))
    for fold in range(FOLDS):
        test = rows.group % FOLDS == fold
        train = rows.some(~test)
        floor = best_floor(train, held_out(train))
        weights = fitted(train.features, train.needed)
        margin[test] = probabilities(rows.features[test], weights) - floor
    return figures(rows, margin, 0.0)


def compare(labelled: LabelledSet, name: str) -> Compared:
    """Everything about one model."""
    embedder = embedder_named(name)
    index = ItemIndex(embedder, NoCache())
    rows, prepared = rows_of(labelled, index)
    chance = held_out(rows)
    offset, cosine, said, brief = fitted(rows.features, rows.needed)
    floor = best_floor(rows, chance)
    curve = Curve(offset, cosine, said, brief, floor, *relation_curve(prepared))
    return Compared(
        embedder.identity.model,
        ranking(rows, rows.cosines),
        ranking(rows, chance),
        chosen_unseen(rows),
        Curve(*(round(float(value), 3) for value in curve)),
        _milliseconds(name, labelled),
    )


def _milliseconds(name: str, labelled: LabelledSet) -> float:
    """Of the processor, for a request: another embedder, for the first one remembers."""
    embedder = embedder_named(name)
    embedder.embed_queries(["once, to load the model"])
    asked = [request.ask for request in labelled.requests[:50]]
    start = time.process_time()
    for ask in asked:
        embedder.embed_queries([ask])
    return 1_000 * (time.process_time() - start) / len(asked)


def report(found: Sequence[Compared]) -> str:
    """Both tables, and the curves."""
    order = table(
        ("order", "NDCG@10", "first right", "recall@5", "told apart", "NDCG@10 with words", "ms"),
        [
            [
                one.name,
                *(f"{value:.3f}" for value in (*one.by_cosine, one.by_both.ndcg)),
                f"{one.milliseconds:.1f}",
            ]
            for one in found
        ],
    )
    choosing = table(
        ("choosing, unseen requests", "precision", "recall", "F1", "idle requests disturbed"),
        [[one.name, *(f"{value:.2f}" for value in one.chosen)] for one in found],
    )
    curves = [f"{one.name}: {json.dumps(one.curve._asdict())}" for one in found]
    return "\n".join([*order, "", *choosing, "", *curves])


def write_curve(folder: Path, curve: Curve) -> None:
    """Put a curve into the description of a model."""
    path = folder / DESCRIPTION
    content = json.loads(path.read_text("utf-8"))
    content["context"] = curve._asdict()
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("models", nargs="*", default=["local"], metavar="local|minilm|FOLDER")
    parser.add_argument("--write", action="store_true", help="keep the curves in the folders")
    options = parser.parse_args(arguments)
    labelled = load_set()
    found = [compare(labelled, name) for name in options.models]
    sys.stdout.write(report(found) + "\n")
    for name, one in zip(options.models, found, strict=True):
        if options.write and Path(name).is_dir():
            write_curve(Path(name), one.curve)
    return 0


if __name__ == "__main__":
    sys.exit(main())
