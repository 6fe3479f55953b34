"""Does a model answer the same however it is asked, and never wrongly without a word?"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from asterism.models.weights.folder import read_folder
from asterism.models.weights.runtime import Runtime
from asterism.types.errors import ProviderRefused
from tests.models.weights.tiny_models import make_encoder, make_reranker, rewrite


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_encoder(tmp_path / "model")


def runtime_of(folder: Path) -> Runtime:
    return Runtime(read_folder(folder, "encoder"))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_answers_in_order(folder: Path, threads: int) -> None:
    runtime = runtime_of(folder)
    texts = ["pay cart", "check token", "read file", "pay", "cart " * 50, "unknown to it"]
    rows = runtime.tokens(texts, 16)
    alone = [runtime.answers([row])[0] for row in rows]
    runtime.threads = threads
    for together, one in zip(runtime.answers(rows), alone, strict=True):
        assert together is not None
        assert one is not None
        assert (together == one).all()


def test_tokens_are_cut_with_their_end(folder: Path) -> None:
    runtime = runtime_of(folder)
    [short, long] = runtime.tokens(["pay", "pay cart " * 500], 16)
    assert short == [0, 5, 1]
    assert long == [0, *[5, 4] * 7, 1]


@pytest.mark.parametrize("text", ["", " ", "\x00\x01\x7f", "\udc80\ud800", "日本語", "é" * 100_000])
def test_any_text_has_tokens(folder: Path, text: str) -> None:
    runtime = runtime_of(folder)
    [answer] = runtime.answers(runtime.tokens([text], 16))
    assert answer is not None
    assert np.isfinite(answer).all()


def test_without_time_the_first_is_still_run(folder: Path) -> None:
    runtime = runtime_of(folder)
    first, *others = runtime.answers(runtime.tokens(["pay", "cart", "read"], 16), seconds=0)
    assert first is not None
    assert others == [None, None]


def test_nothing_to_do(folder: Path) -> None:
    assert runtime_of(folder).answers([]) == []


def test_pairs(tmp_path: Path) -> None:
    runtime = Runtime(read_folder(make_reranker(tmp_path / "model"), "reranker"))
    [pair, long] = runtime.pairs("check token", ["pay cart", "read " * 100])
    assert pair == [0, 7, 6, 1, 1, 5, 4, 1]
    assert long == [0, 7, 6, 1, 1, *[8] * 10, 1]
    [answer] = runtime.answers([pair])
    assert answer is not None
    assert answer.tolist() == [3.5]


@pytest.mark.parametrize("values", [[0.3, -0.1, 0.4, 0.2], [0, 0, 0, 0]])
def test_a_processor_that_computes_wrongly(folder: Path, values: list[float]) -> None:
    """The probe has the expected output; a model with another output is not used."""
    probe = json.loads((folder / "model.json").read_text("utf-8"))["probe"]
    rewrite(folder, probe=probe | {"values": [values, *probe["values"][1:]]})
    with pytest.raises(ProviderRefused, match="does not say on this processor what it should"):
        runtime_of(folder)


def test_a_reranker_that_computes_wrongly(tmp_path: Path) -> None:
    folder = make_reranker(tmp_path / "model")
    rewrite(folder, probe={"texts": [["pay", "cart"]], "values": [[9.0]]})
    with pytest.raises(ProviderRefused, match="does not say on this processor what it should"):
        Runtime(read_folder(folder, "reranker"))


def test_small_differences_between_processors(folder: Path) -> None:
    probe = json.loads((folder / "model.json").read_text("utf-8"))["probe"]
    values = [[value + 0.01 for value in row] for row in probe["values"]]
    rewrite(folder, probe=probe | {"values": values})
    assert runtime_of(folder).answers([[0, 4, 1]])[0] is not None


def test_library_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ProviderRefused, match="pip install onnxruntime"):
        runtime_of(folder)


def test_files_that_are_no_weights(folder: Path) -> None:
    """Checksums agree, so the folder was written like this: the library has to refuse it."""
    import hashlib

    content = b"not a graph"
    (folder / "model.onnx").write_bytes(content)
    files = json.loads((folder / "model.json").read_text("utf-8"))["files"]
    mark = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    rewrite(folder, files=files | {"model.onnx": mark})
    with pytest.raises(ProviderRefused, match="cannot load tiny"):
        runtime_of(folder)


def test_another_number_of_dimensions(folder: Path) -> None:
    rewrite(folder, dimensions=5, probe={"texts": [], "values": []})
    with pytest.raises(ProviderRefused, match="gave 4 numbers"):
        runtime_of(folder).answers([[0, 4, 1]])
