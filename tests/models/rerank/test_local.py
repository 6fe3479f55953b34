"""Does our own reranker keep the promises of every reranker?"""

import sys
from pathlib import Path

import pytest

from asterism.models.rerank.options import RerankOptions, model_of
from asterism.models.rerank.provider import LocalReranker, make_reranker
from asterism.types.errors import ProviderRefused
from tests.models.weights.tiny_models import make_reranker as make_folder


@pytest.fixture
def options(tmp_path: Path) -> RerankOptions:
    return RerankOptions(provider="local", model=str(make_folder(tmp_path / "model")))


def test_scores(options: RerankOptions) -> None:
    reranker = make_reranker(options)
    assert reranker is not None
    documents = ["read file", "pay cart", "", "cart", "cart " * 10_000, "\udc80"]
    scores = reranker.rerank("how", documents)
    assert all(0 <= score <= 1 for score in scores)
    assert scores[1] == pytest.approx(0.97069, abs=1e-5)
    assert scores[2] == 0
    assert scores[1] > scores[3] > scores[0] == scores[5] == 0.5
    assert [reranker.rerank("how", [text])[0] for text in documents] == scores
    reranker.close()
    assert reranker.rerank("how", documents) == scores


def test_within_a_time(options: RerankOptions) -> None:
    reranker = LocalReranker(options)
    assert reranker.score_within("pay", ["", "pay", "cart"], 0.0) == [None, 4.0, None]
    assert reranker.score_within("read", ["", "pay", "cart"], 60.0) == [None, 2.0, 1.5]


@pytest.mark.parametrize(("query", "documents"), [("", ["pay"]), (" ", ["pay"]), ("pay", [])])
def test_nothing_to_rerank(
    options: RerankOptions, query: str, documents: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert LocalReranker(options).rerank(query, documents) == [0.0] * len(documents)


def test_library_missing(options: RerankOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ProviderRefused, match=r"rerank\.provider to none"):
        LocalReranker(options).rerank("pay", ["cart"])


def test_model_missing(tmp_path: Path) -> None:
    with pytest.raises(ProviderRefused, match=r"it has no model\.json"):
        make_reranker(RerankOptions(provider="local", model=str(tmp_path)))


def test_names() -> None:
    assert model_of(RerankOptions(provider="local")) == "asterism-reranker-1"
    assert make_reranker(RerankOptions(provider="encoder")) is None


def test_none_is_built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asterism.models.rerank.options.MODELS", tmp_path)
    with pytest.raises(ProviderRefused, match=r"Set rerank\.model to a folder"):
        make_reranker(RerankOptions(provider="local"))
