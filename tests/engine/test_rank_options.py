"""What counts how much depends on the model whose vectors are compared, and its folder says so."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.engine.rerank import rank_options
from asterism.models.embed.options import EmbedOptions
from asterism.search.ranking.options import RankOptions
from asterism.types.errors import ProviderRefused
from tests.models.weights.tiny_models import make_encoder, rewrite

USUAL = RankOptions()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_encoder(tmp_path / "model")


def options(folder: Path) -> RankOptions:
    return rank_options(EmbedOptions(provider="encoder", model=str(folder)))


def test_the_built_in_model_has_the_usual_weights() -> None:
    assert rank_options(EmbedOptions()) == USUAL
    assert rank_options(EmbedOptions(provider="voyage")) == USUAL


def test_so_has_a_folder_that_says_nothing(folder: Path) -> None:
    assert options(folder) == USUAL


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("weights.vector", replace(USUAL, weights=replace(USUAL.weights, vector=7.0))),
        ("chunk.vector", replace(USUAL, chunk=replace(USUAL.chunk, vector=7.0))),
        ("calibration.cosine", replace(USUAL, calibration=replace(USUAL.calibration, cosine=7.0))),
        ("by_meaning.offset", replace(USUAL, by_meaning=replace(USUAL.by_meaning, offset=7.0))),
        ("recall.pool", replace(USUAL, recall=replace(USUAL.recall, pool=7))),
        ("same_file", replace(USUAL, same_file=7.0)),
        ("distance_cutoff", replace(USUAL, distance_cutoff=7.0)),
        ("change_start", replace(USUAL, change_start=7.0)),
        ("wished_start", replace(USUAL, change_start=7.0)),  # its older name
    ],
)
def test_a_number_takes_the_place_of_the_usual_one(
    folder: Path, name: str, expected: RankOptions
) -> None:
    rewrite(folder, ranking={f"vectors.{name}": 7.0, "calibration.cosine": 3.0, "best": 1.0})
    assert options(folder) == expected


@pytest.mark.parametrize(
    "name", ["weights.unheard_of", "weights", "off", "definition_kinds.method", "same_file.more"]
)
def test_a_number_that_means_nothing_is_refused(folder: Path, name: str) -> None:
    rewrite(folder, ranking={f"vectors.{name}": 7.0})
    with pytest.raises(ProviderRefused, match=f"sets vectors.{name}, which this version"):
        options(folder)


def test_a_folder_that_changed_is_read_again(folder: Path) -> None:
    assert options(folder) == USUAL
    before = (folder / "model.json").stat().st_mtime_ns
    rewrite(folder, ranking={"vectors.same_file": 0.5})
    os.utime(folder / "model.json", ns=(before + 10**9, before + 10**9))
    assert options(folder).same_file == 0.5
