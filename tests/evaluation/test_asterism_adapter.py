"""Asterism under evaluation follows its settings, encoder vectors included."""

from dataclasses import replace
from pathlib import Path

import pytest

from asterism.config.model_sections import EmbeddingSettings
from asterism.config.sections import WorkSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.evaluation.adapters import EngineSearcher
from tests.models.weights.tiny_models import make_encoder


@pytest.mark.parametrize("wanted", [False, True])
def test_encoder_vectors_are_made_before_the_first_query(tmp_path: Path, wanted: bool) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "cart.py").write_text("def checkout(cart): ...\n")
    settings = Settings(work=WorkSettings(jobs=1))
    if wanted:
        folder = make_encoder(tmp_path / "encoder")
        settings = replace(settings, embedding=EmbeddingSettings(upgrade=str(folder)))
    engine = Engine(DataDirectories(tmp_path / "data", tmp_path / "cache"), lambda _root: settings)
    searcher = EngineSearcher(engine, lambda _registered, _query, _limit: [])
    assert searcher.index(root) == "1 chunks"
    state = engine.status(engine.locate(root)).upgrade
    assert (state is not None and state.complete) is wanted
