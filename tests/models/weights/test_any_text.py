"""Whatever is given to read: a vector or a score that is right, or none; never one of another text."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from asterism.models.embed.options import EmbedOptions
from asterism.models.embed.provider import Embedder, make_embedder
from asterism.models.rerank.options import RerankOptions
from asterism.models.rerank.provider import LocalReranker
from tests.models.weights.tiny_models import make_encoder, make_reranker
from tests.models.weights.tiny_static import make_static

MEGABYTE = 1_000_000
_CHANCE = random.Random(5)

TEXTS = {
    "empty": "",
    "blank": " \t\n\u00a0",
    "huge": "pay cart " * (10 * MEGABYTE // 9),
    "one huge word": "x" * (10 * MEGABYTE),
    "huge, of unknown signs": "日" * MEGABYTE,
    "bytes": "".join(chr(_CHANCE.randrange(256)) for _ in range(5_000)),
    "control signs": "\x00\x01\x02\x1b[0m\x7f\ufeff\ufffe",
    "half a pair": "pay \ud83d cart \udc80",
    "japanese": "カートの支払いを確認する",
    "arabic": "تحقق من الرمز",
    "emoji": "👩‍👩‍👧‍👦 pay 🛒",
    "combining": "e\u0301" * 3_000,
    "joined": "ﬁle İstanbul ß",
    "marks of the tokenizer": "<s> </s> <pad> <unk> [PAD] [UNK] pay",
}


def static(folder: Path) -> Embedder:
    return make_embedder(EmbedOptions(model=str(make_static(folder))))


def built_in(_folder: Path) -> Embedder:
    return make_embedder(EmbedOptions())


def encoder(folder: Path) -> Embedder:
    return make_embedder(EmbedOptions("encoder", str(make_encoder(folder))))


@pytest.mark.parametrize("make", [static, built_in, encoder])
def test_vectors(tmp_path: Path, make: Callable[[Path], Embedder]) -> None:
    """Unit vectors or zeros, the same alone and in a batch, each its own text's."""
    embedder = make(tmp_path / "model")
    texts = list(TEXTS.values())
    together = embedder.embed_documents([*texts, "pay cart"])
    assert np.isfinite(together).all()
    lengths = np.linalg.norm(together, axis=1)
    assert ((np.abs(lengths - 1) < 2e-3) | (lengths == 0)).all()
    assert not together[[0, 1]].any()
    assert lengths[-1] > 0
    for number, text in enumerate(texts):
        assert (embedder.embed_documents([text])[0] == together[number]).all()
    assert (embedder.embed_queries(["pay cart"])[0] == together[-1]).all()


def test_what_is_behind_the_limit_is_not_read(tmp_path: Path) -> None:
    embedder = encoder(tmp_path / "model")
    long = "pay cart " * 50
    assert (embedder.embed_documents([long]) == embedder.embed_documents([long + "price"])).all()
    built = built_in(tmp_path)
    assert (
        built.embed_documents([long * 20]) == built.embed_documents([long * 20 + "zebra"])
    ).all()


def test_scores(tmp_path: Path) -> None:
    reranker = LocalReranker(RerankOptions("local", str(make_reranker(tmp_path / "model"))))
    texts = list(TEXTS.values())
    judged = reranker.score_within("how", [*texts, "pay"], None)
    assert judged[-1] == 2.0
    for text, score in zip(texts, judged, strict=False):
        assert (score is None) == (not text.strip())
        assert score is None or np.isfinite(score)
        assert reranker.score_within("how", [text], None) == [score]
    for query in texts:
        [score] = reranker.score_within(query, ["pay"], None)
        assert (score is None) == (not query.strip())
