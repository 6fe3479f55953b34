"""Does the encoder keep the promises of every embedder, and say what it is without being loaded?"""

import sys
from pathlib import Path

import numpy as np
import pytest

from asterism.models.embed.encoder import EncoderEmbedder, path_and_code, place_and_code
from asterism.models.embed.options import EmbedOptions, identity_of
from asterism.models.embed.provider import Embedder, make_embedder
from asterism.types.errors import ProviderRefused, SettingError
from asterism.types.index import ModelIdentity
from tests.models.weights.tiny_models import make_encoder, rewrite

TEXTS = ["pay cart", "", "check token", " \n", "pay cart", "日本語", "\udc80", "file " * 10_000]


@pytest.fixture
def options(tmp_path: Path) -> EmbedOptions:
    return EmbedOptions(provider="encoder", model=str(make_encoder(tmp_path / "model")))


def test_identity_needs_no_model(options: EmbedOptions) -> None:
    embedder = EncoderEmbedder(options)
    identity = identity_of(options)
    assert embedder.identity == identity
    assert (identity.provider, identity.dimensions) == ("encoder", 4)
    assert identity.model.startswith("tiny@")
    assert embedder._runtime is None


def test_other_weights_are_another_model(options: EmbedOptions, tmp_path: Path) -> None:
    other = make_encoder(tmp_path / "other")
    rewrite(
        other,
        files={
            "model.onnx": {"bytes": 1, "sha256": "0123456789"},
            "tokenizer.json": {"bytes": 1, "sha256": ""},
        },
    )
    found = identity_of(EmbedOptions(provider="encoder", model=str(other)))
    assert found == ModelIdentity("encoder", "tiny@01234567", 4)
    assert found != identity_of(options)


def test_vectors(options: EmbedOptions) -> None:
    embedder: Embedder = make_embedder(options)
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), 4)
    assert vectors.dtype == np.float32
    blank = [not text.strip() for text in TEXTS]
    assert (vectors.any(axis=1) != blank).all()
    lengths = np.linalg.norm(vectors, axis=1)[[not one for one in blank]]
    np.testing.assert_allclose(lengths, 1, atol=1e-3)
    assert (vectors[0] == vectors[4]).all()
    assert (vectors.astype(np.float16) == vectors).all()


def test_neighbours_do_not_matter(options: EmbedOptions) -> None:
    embedder = make_embedder(options)
    together = embedder.embed_documents(TEXTS)
    alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
    assert (together == alone).all()
    assert (embedder.embed_queries(["pay cart"])[0] == together[0]).all()


def test_blank_texts_need_no_model(options: EmbedOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert not make_embedder(options).embed_documents(["", " \n"]).any()


def test_nothing_to_embed(options: EmbedOptions) -> None:
    assert make_embedder(options).embed_documents([]).shape == (0, 4)


def test_within_a_time(options: EmbedOptions) -> None:
    embedder = EncoderEmbedder(options)
    vectors, known = embedder.embed_within(["pay", "", "cart", "read"], 0.0)
    assert known == [True, True, False, False]
    assert vectors.any(axis=1).tolist() == [True, False, False, False]
    vectors, known = embedder.embed_within(["pay", "", "cart", "read"], 60.0)
    assert known == [True] * 4


def test_closed_and_used_again(options: EmbedOptions) -> None:
    embedder = make_embedder(options)
    before = embedder.embed_documents(["pay"])
    embedder.close()
    assert (embedder.embed_documents(["pay"]) == before).all()


def test_damaged_weights_give_no_vectors(options: EmbedOptions) -> None:
    weights = Path(options.model) / "model.onnx"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x00")
    with pytest.raises(ProviderRefused, match="cannot be used"):
        make_embedder(options).embed_documents(["pay"])


@pytest.mark.parametrize("model", ["nothing", "here/nothing"])
def test_no_such_model(model: str) -> None:
    with pytest.raises(SettingError, match=f"There is no encoder '{model}'.* the absolute path"):
        identity_of(EmbedOptions(provider="encoder", model=model))


def test_other_dimensions(options: EmbedOptions) -> None:
    from dataclasses import replace

    assert identity_of(replace(options, dimensions=4)).dimensions == 4
    with pytest.raises(SettingError, match="makes vectors of 4"):
        identity_of(replace(options, dimensions=8))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[TypeScript] web/src/auth/tokenService.ts > TokenService > check\nPurpose: x\n---\ncode",
            "web src auth token Service\ncode",
        ),
        ("[Go] a/b/HTTPServer2.go > x\n---\n1\n---\n2", "a b HTTP Server 2\n1\n---\n2"),
        ("[Bash] run\n---\ncode", "run\ncode"),
        ("[Lua] one/two/three/four/five/six.lua > x\n---\nc", "two three four five six\nc"),
        ("a question\n---\nwith a rule", "a question\n---\nwith a rule"),
        ("[not] a chunk", "[not] a chunk"),
        ("", ""),
    ],
)
def test_path_and_code(text: str, expected: str) -> None:
    assert path_and_code(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[TypeScript] src/auth/tokens.ts > TokenService > check\nPurpose: x\n---\ncode",
            "src auth tokens TokenService\ncode",
        ),
        ("[Go] a/b.go > check\n---\ncode", "a b\ncode"),
        ("[Go] a/b.go\n---\ncode", "a b\ncode"),
        ("[Go] a.go > " + "x" * 100 + " > y\n---\nc", "a " + "x" * 80 + "\nc"),
        ("a question", "a question"),
    ],
)
def test_place_and_code(text: str, expected: str) -> None:
    assert place_and_code(text) == expected


@pytest.mark.parametrize("reads", ["path_and_code", "place_and_code"])
def test_other_texts_are_another_model(options: EmbedOptions, reads: str) -> None:
    """Vectors that are kept must not pass for those of what is read now."""
    before = identity_of(options)
    rewrite(Path(options.model), reads=reads)
    assert identity_of(options) != before


def test_what_a_model_reads(options: EmbedOptions) -> None:
    chunk = "[Python] pay/cart.py > x\nPurpose: check token\n---\nread file"
    whole = make_embedder(options).embed_documents([chunk])
    rewrite(Path(options.model), reads="path_and_code")
    embedder = make_embedder(options)
    parts = embedder.embed_documents([chunk, "pay cart\nread file"])
    assert (parts[0] == parts[1]).all()
    assert (parts[0] != whole[0]).any()
    assert (embedder.embed_queries([chunk]) != parts[:1]).any()
