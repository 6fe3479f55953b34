"""Does the model that the settings name choose items, and does the built-in one where it cannot?"""

import sys
from contextlib import closing
from dataclasses import replace
from math import log
from pathlib import Path

import pytest

from asterism.config.model_sections import ContextModelSettings
from asterism.config.settings import Settings
from asterism.context.words import Curve
from asterism.engine.agents import built_in, choosing_settings, told_of_cosines
from asterism.engine.doctor.models import choosing_findings
from asterism.engine.engine import Engine
from asterism.engine.sessions import ContextFor, ContextRequest, context_for
from asterism.engine.stores import DataDirectories
from asterism.models.embed.options import EmbedOptions
from asterism.types.errors import SettingError
from tests.engine.conftest import SETTINGS
from tests.models.weights.tiny_models import make_encoder, rewrite

AGENT = """\
rules:
  - name: Refunds
    description: Giving money back to customers
    include: agent
    text: A refund never exceeds what was charged to the customer.
  - name: Weather
    include: agent
    text: Autumn is wet.
"""
# To a tiny model all words that it does not know are one, so everything here is near.
CURVE = Curve(-1.0, 6.0, 0.0, 0.0, 0.05, -7.0, 15.0)
REQUEST = ContextRequest(
    message="give a customer a refund", agent="shop", connect=False, code_hits=0, keep=False
)


def with_model(model: str) -> Settings:
    return replace(SETTINGS, context=ContextModelSettings(model=model))


def asked(places: DataDirectories, model: str) -> ContextFor:
    folder = places.data / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shop.yaml").write_text(AGENT)
    with closing(Engine(places, lambda _root: with_model(model))) as engine:
        return context_for(engine, None, REQUEST)


def chosen(found: ContextFor) -> dict[str, float | None]:
    return {str(item.key): item.score for item in found.context.items}


def test_usually_the_model_of_the_index_chooses(places: DataDirectories) -> None:
    found = asked(places, "index")
    assert set(chosen(found)) == {"rule:Refunds"}
    assert found.notes == ()
    assert chosen(asked(places, "local")) == chosen(found)


def test_a_folder_brings_its_own_curve(places: DataDirectories, tmp_path: Path) -> None:
    folder = make_encoder(tmp_path / "model")
    rewrite(folder, context=CURVE._asdict())
    told = told_of_cosines(EmbedOptions(provider="encoder", model=str(folder)))
    assert told == CURVE._asdict()
    found = asked(places, str(folder))
    assert found.notes == ()
    rewrite(folder, context=CURVE._replace(offset=CURVE.offset - 2.0)._asdict())
    less = chosen(asked(places, str(folder)))
    for key, score in chosen(found).items():
        assert score is not None
        lower = less[key]
        assert lower is not None
        # Two less in the odds, whatever the cosine is.
        assert log(score / (1 - score)) - log(lower / (1 - lower)) == pytest.approx(2.0, abs=0.05)
    rewrite(folder, context=CURVE._replace(offset=-30.0)._asdict())
    assert chosen(asked(places, str(folder))) == {}


def test_the_built_in_model_tells_nothing_that_is_not_in_its_description() -> None:
    assert set(told_of_cosines(EmbedOptions())) <= set(Curve._fields)
    assert told_of_cosines(EmbedOptions(provider="minilm")) == {}


@pytest.mark.parametrize(
    ("model", "note"),
    [
        ("elsewhere", "context.model is 'elsewhere'; it can be index, local, encoder, minilm"),
        ("/nowhere/model", "this installation has no such encoder"),
    ],
)
def test_a_model_that_is_not_there_is_named_and_done_without(
    places: DataDirectories, model: str, note: str
) -> None:
    with pytest.raises(SettingError, match=r"context\.model"):
        choosing_settings(with_model(model))
    found = asked(places, model)
    assert chosen(found) == chosen(asked(places, "local"))
    [said] = found.notes
    assert note in said
    assert said.endswith("The built-in model chose instead.")


def test_damaged_weights_are_done_without(places: DataDirectories, tmp_path: Path) -> None:
    folder = make_encoder(tmp_path / "model")
    (folder / "model.onnx").write_bytes(b"damaged")
    found = asked(places, str(folder))
    assert chosen(found) == chosen(asked(places, "local"))
    [said] = found.notes
    assert "cannot be used" in said
    assert said.endswith("The built-in model chose instead.")


def test_without_the_library_the_built_in_model_chooses(
    places: DataDirectories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_encoder(tmp_path / "other")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    found = asked(places, str(folder))
    assert chosen(found) == chosen(asked(places, "local"))
    assert len(found.notes) == 1


def test_the_built_in_one_is_the_same_whatever_is_set() -> None:
    assert built_in(with_model("minilm")).embedding == Settings().embedding
    assert choosing_settings(with_model("index")).embedding is SETTINGS.embedding
    assert choosing_settings(with_model("minilm")).embedding.provider == "minilm"


@pytest.mark.parametrize(
    ("model", "verdicts"),
    [("index", []), ("local", ["ok"]), ("/nowhere", ["problem"]), ("granite", ["problem"])],
)
def test_the_doctor_looks_at_the_model(model: str, verdicts: list[str]) -> None:
    found = list(choosing_findings(with_model(model)))
    assert [finding.verdict.value for finding in found] == verdicts
    assert {finding.check for finding in found} <= {"Context"}
