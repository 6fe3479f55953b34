"""Is a static model from a folder used as the built-in one is, and refused where it is damaged?"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from asterism.models.embed.options import MODELS, STATIC_IDENTITY, EmbedOptions, identity_of
from asterism.models.embed.provider import make_embedder
from asterism.models.embed.static import StaticEmbedder
from asterism.types.errors import ProviderRefused, SettingError
from tests.models.weights.tiny_models import make_encoder, rewrite
from tests.models.weights.tiny_static import make_static


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_static(tmp_path / "model")


def options_for(folder: Path) -> EmbedOptions:
    return EmbedOptions(model=str(folder))


def marked(folder: Path) -> None:
    """Describe the files as they are now, as their author would."""
    files = {
        name: {
            "bytes": (folder / name).stat().st_size,
            "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
        }
        for name in ("embeddings.int8.npy", "tokenizer.json")
    }
    rewrite(folder, files=files)


def test_used_like_the_built_in_one(folder: Path) -> None:
    embedder = make_embedder(options_for(folder))
    assert embedder.identity.provider == "local"
    assert embedder.identity.model.startswith("tiny@")
    vectors = embedder.embed_documents(["pay cart", "", "PAY cart", "unknown"])
    assert vectors.shape == (4, 4)
    assert (vectors[0] == vectors[2]).all()
    assert not vectors[[1, 3]].any()
    assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-3)
    assert (embedder.embed_queries(["pay cart"])[0] == vectors[0]).all()


def test_other_weights_are_another_model(folder: Path, tmp_path: Path) -> None:
    other = make_static(tmp_path / "other", seed=8)
    identities = {identity_of(options_for(one)) for one in (folder, other)}
    assert len(identities) == 2
    one, two = (make_embedder(options_for(some)).embed_queries(["pay"]) for some in (folder, other))
    assert (one != two).any()


@pytest.mark.parametrize("model", ["", STATIC_IDENTITY.model, str(MODELS / STATIC_IDENTITY.model)])
def test_the_built_in_one_by_any_name(model: str) -> None:
    assert StaticEmbedder(EmbedOptions(model=model)).identity == STATIC_IDENTITY


def without_table(folder: Path) -> None:
    (folder / "embeddings.int8.npy").unlink()


def without_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def half_a_table(folder: Path) -> None:
    table = folder / "embeddings.int8.npy"
    table.write_bytes(table.read_bytes()[:-20])


def another_tokenizer(folder: Path) -> None:
    """Of the same length; ids would mean other words."""
    path = folder / "tokenizer.json"
    path.write_text(path.read_text("utf-8").replace("cart", "crat"), "utf-8")


def no_tokenizer(folder: Path) -> None:
    path = folder / "tokenizer.json"
    path.write_bytes(b"x" * path.stat().st_size)


def another_table(folder: Path) -> None:
    """Of the same size, so that only the probe can tell."""
    table = folder / "embeddings.int8.npy"
    np.save(table, np.roll(np.load(table), 1, axis=0))


def no_table(folder: Path) -> None:
    table = folder / "embeddings.int8.npy"
    table.write_bytes(b"<" * table.stat().st_size)


def table_of_objects(folder: Path) -> None:
    np.save(folder / "embeddings.int8.npy", np.array([{}, "x"], dtype=object), allow_pickle=True)
    marked(folder)


def table_of_floats(folder: Path) -> None:
    np.save(folder / "embeddings.int8.npy", np.load(folder / "embeddings.int8.npy") / 2)
    marked(folder)


def table_of_too_few(folder: Path) -> None:
    np.save(folder / "embeddings.int8.npy", np.load(folder / "embeddings.int8.npy")[:5])
    marked(folder)


def wrong_probe(folder: Path) -> None:
    probe = json.loads((folder / "model.json").read_text("utf-8"))["probe"]
    rewrite(folder, probe=probe | {"values": [[0.9, 0.1, 0.0, 0.0], *probe["values"][1:]]})


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (without_table, r"embeddings\.int8\.npy is missing"),
        (without_tokenizer, r"tokenizer\.json is missing"),
        (half_a_table, r"embeddings\.int8\.npy has \d+ bytes instead of"),
        (another_tokenizer, r"tokenizer\.json is not what it should be"),
        (no_tokenizer, r"tokenizer\.json is not what it should be"),
        (another_table, "its vectors are not those it should make"),
        (no_table, r"embeddings\.int8\.npy cannot be read"),
        (table_of_objects, r"embeddings\.int8\.npy cannot be read"),
        (table_of_floats, r"embeddings\.int8\.npy is no table of its size"),
        (table_of_too_few, r"embeddings\.int8\.npy has too few rows for tokenizer\.json"),
        (wrong_probe, "its vectors are not those it should make"),
    ],
)
def test_damage_gives_no_vectors(folder: Path, damage: Callable[[Path], None], words: str) -> None:
    damage(folder)
    embedder = make_embedder(options_for(folder))
    with pytest.raises(ProviderRefused, match=words):
        embedder.embed_documents(["pay cart"])
    with pytest.raises(ProviderRefused, match=words):
        embedder.embed_queries(["pay cart"])


def test_paths_that_are_no_model_folders(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"There is no static model '.*nowhere'"):
        make_embedder(options_for(tmp_path / "nowhere"))
    with pytest.raises(ProviderRefused, match="kind encoder, not static"):
        make_embedder(options_for(make_encoder(tmp_path / "encoder")))
    with pytest.raises(ProviderRefused, match=r"it has no model\.json"):
        make_embedder(options_for(tmp_path))


def test_other_dimensions(folder: Path) -> None:
    with pytest.raises(SettingError, match="makes vectors of 4"):
        identity_of(EmbedOptions(model=str(folder), dimensions=8))
