"""Is a model's folder believed only where its files are the ones that it describes?"""

import json
from pathlib import Path

import pytest

from asterism.models.weights.folder import check, damage, read_folder
from asterism.types.errors import ProviderRefused
from tests.models.weights.tiny_models import make_encoder, make_reranker, rewrite


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_encoder(tmp_path / "model")


def test_description(folder: Path) -> None:
    found = read_folder(folder, "encoder")
    assert (found.name, found.kind, found.dimensions) == ("tiny", "encoder", 4)
    assert (found.max_tokens, found.query_tokens) == (16, 8)
    assert found.size == sum((folder / name).stat().st_size for name in found.files)
    assert len(found.mark) == 8
    assert damage(found) == []
    check(found)


def test_every_byte_counts(folder: Path) -> None:
    weights = folder / "model.onnx"
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    found = read_folder(folder, "encoder")
    assert damage(found, by_size=True) == []
    assert damage(found) == ["model.onnx is not what it should be"]
    with pytest.raises(ProviderRefused, match=r"model\.onnx is not what it should be"):
        check(found)


def test_half_a_file(folder: Path) -> None:
    weights = folder / "model.onnx"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    [wrong] = damage(read_folder(folder, "encoder"), by_size=True)
    assert wrong == f"model.onnx has {len(whole) // 2:,} bytes instead of {len(whole):,}"


def test_missing_file(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(
        ProviderRefused, match=r"tokenizer\.json is missing\. Install Asterism again"
    ):
        check(read_folder(folder, "encoder"))


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ProviderRefused, match=r"it has no model\.json"):
        read_folder(tmp_path / "nowhere", "encoder")


def test_another_kind(tmp_path: Path) -> None:
    folder = make_reranker(tmp_path / "model")
    with pytest.raises(ProviderRefused, match="kind reranker, not encoder"):
        read_folder(folder, "encoder")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "\ud800",
        '{"kind": "encoder"}',
        '{"kind": "oracle", "name": "x"}',
    ],
)
def test_no_description(folder: Path, content: str) -> None:
    (folder / "model.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(ProviderRefused, match=r"its model\.json"):
        read_folder(folder, "encoder")


@pytest.mark.parametrize(
    "changes",
    [
        {"files": {}},
        {"files": {"model.onnx": {"bytes": 1}}},
        {"weights": "other.onnx"},
        {"dimensions": 0},
        {"max_tokens": "many"},
        {"probe": {"texts": [["a"]]}},
        {"ranking": [1, 2]},
        {"ranking": {"best": "much"}},
    ],
)
def test_wrong_description(folder: Path, changes: dict[str, object]) -> None:
    rewrite(folder, **changes)
    with pytest.raises(ProviderRefused, match="does not describe a model"):
        read_folder(folder, "encoder")


def test_no_way_out_of_the_folder(folder: Path) -> None:
    files = json.loads((folder / "model.json").read_text("utf-8"))["files"]
    rewrite(folder, files=files | {"../model.onnx": {"bytes": 1, "sha256": ""}})
    with pytest.raises(ProviderRefused, match="does not describe a model"):
        read_folder(folder, "encoder")
