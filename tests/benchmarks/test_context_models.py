"""Are models compared by figures that hold by hand, and on requests that nothing was fitted on?"""

import json
from pathlib import Path

import numpy as np
import pytest

from asterism.context.vectors import ItemIndex
from asterism.context.words import LOCAL, Curve, curve_of
from asterism.models.embed.cache import NoCache
from asterism.models.embed.static import StaticEmbedder
from asterism.models.weights.folder import read_folder
from benchmarks.context.fit import FOLDS, Rows, relation_curve, rows_of
from benchmarks.context.models import (
    Ranking,
    best_floor,
    chosen_unseen,
    compare,
    ranking,
    report,
    write_curve,
)
from benchmarks.context.quality import key_of, load_pairs, load_set
from tests.models.weights.tiny_models import make_encoder

SET = load_set()


def rows(needed: list[list[bool]]) -> Rows:
    """Rows of requests over items, with scores nowhere."""
    count, items = len(needed), len(needed[0])
    request = np.repeat(np.arange(count), items)
    size = count * items
    flat = np.array(needed).reshape(-1)
    features = np.stack([np.ones(size), flat * 1.0], 1)
    return Rows(features, flat, request, np.zeros(size, dtype=bool), request, np.zeros(size))


def test_an_order_counted_by_hand() -> None:
    labelled = rows([[True, False, False], [False, True, True], [False, False, False]])
    scores = np.array([0.1, 0.9, 0.05, 0.9, 0.1, 0.8, 0.3, 0.2, 0.1])
    found = ranking(labelled, scores)
    second, third = 1 / np.log2(3), 1 / np.log2(4)
    assert found.ndcg == pytest.approx(np.mean([second, (second + third) / (1 + second)]))
    assert found.first == 0.0
    assert found.recall == 1.0
    assert found.told_apart == pytest.approx(np.mean([0.5, 0.0]))
    assert ranking(labelled, labelled.needed.astype(np.float64)) == Ranking(1.0, 1.0, 1.0, 1.0)


def test_what_tells_all_apart_is_chosen_without_a_fault() -> None:
    labelled = rows([[True, False, False], [False, True, False], [False, False, False]] * FOLDS)
    assert best_floor(labelled, labelled.needed.astype(np.float64)) > 0.0
    assert chosen_unseen(labelled) == (1.0, 1.0, 1.0, 0.0)


def test_requests_for_the_same_item_stay_together() -> None:
    found, prepared = rows_of(SET, ItemIndex(StaticEmbedder(), NoCache()))
    first = {
        number: min(place for place, item in enumerate(prepared.items) if item.key in request.needs)
        for number, request in enumerate(SET.requests)
        if request.needs
    }
    for number, item in first.items():
        assert set(found.group[found.request == number]) == {item}
    idle = [number for number, request in enumerate(SET.requests) if not request.needs]
    assert len({int(found.group[found.request == number][0]) for number in idle}) == len(idle)


def test_pairs_are_items_and_the_nearer_the_likelier() -> None:
    index = ItemIndex(StaticEmbedder(), NoCache())
    prepared = index.prepare([*SET.agent.texts, *SET.tools])
    keys = {item.key for item in prepared.items}
    pairs = load_pairs()
    assert all(key_of(name) in keys for pair in pairs for name in pair)
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)
    offset, slope = relation_curve(prepared)
    assert offset < 0.0 < slope


def test_a_curve_is_found_again_where_it_was_written(tmp_path: Path) -> None:
    folder = make_encoder(tmp_path / "model")
    before = json.loads((folder / "model.json").read_text())
    curve = Curve(-5.0, 9.0, 8.0, -2.0, 0.1, -7.0, 18.0)
    write_curve(folder, curve)
    after = json.loads((folder / "model.json").read_text())
    assert {name: after[name] for name in before} == before
    found = read_folder(folder, "encoder")
    assert curve_of(StaticEmbedder().identity, found.context) == curve


def test_the_built_in_model_is_what_its_curve_says() -> None:
    """The numbers in the code are those that the command would print today."""
    found = compare(SET, "local")
    assert found.curve[:4] == pytest.approx(LOCAL[:4], abs=0.2)
    assert found.curve.floor == LOCAL.floor
    assert found.by_both.ndcg > found.by_cosine.ndcg > 0.35
    assert found.name in report([found])
