"""Are chunks ranked by their vectors, and vectors kept where the product's index finds them?"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from asterism.evaluation.datasets import Dataset, DatasetRepository, LabelledPlace, Query
from asterism.models.embed.cache import EmbeddingCache
from asterism.models.embed.provider import Matrix
from asterism.types.index import ModelIdentity
from training.evaluation.dense import Vectors, by_vectors, embedded, measured
from training.evaluation.scoring import Collection, Place

PLACES = [Place("a.py", 1, 9), Place("a.py", 10, 19), Place("b.py", 1, 9), Place("c.py", 1, 9)]
SHOP = Collection("python", PLACES, ["one", "two", "three", "four"])


class Letters:
    """Vectors of the letters of a text; it counts what it has read."""

    identity = ModelIdentity("fake", "letters", 26)

    def __init__(self) -> None:
        self.read: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.read += texts
        found = np.zeros((len(texts), 26), dtype=np.float32)
        for row, text in enumerate(texts):
            for letter in text:
                found[row, ord(letter) - ord("a")] += 1
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        rounded: Matrix = (found / np.maximum(lengths, 1)).astype(np.float16).astype(np.float32)
        return rounded

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return self.embed_documents(texts)

    def close(self) -> None:
        pass


def dataset(*queries: Query) -> Dataset:
    return Dataset("set", queries, {"shop": DatasetRepository("shop", "python")})


def ranked(*likeness: float) -> tuple[dict[str, Vectors], dict[str, Vectors]]:
    vectors = np.array(likeness, dtype=np.float32)[:, np.newaxis]
    return {"shop": vectors}, {"q": np.ones(1, dtype=np.float32)}


@pytest.mark.parametrize(
    ("likeness", "target", "files", "chunks"),
    [
        ((0.9, 0.8, 0.7, 0.6), LabelledPlace("a.py"), 1.0, 1.0),
        ((0.9, 0.8, 0.7, 0.6), LabelledPlace("b.py"), 0.6309, 0.5),
        ((0.9, 0.8, 0.7, 0.6), LabelledPlace("a.py", 10, 19), 0.0, 0.6309),
        ((0.1, 0.2, 0.3, 0.4), LabelledPlace("a.py", 10, 19), 0.5, 0.5),
        ((0.1, 0.2, 0.3, 0.4), LabelledPlace("gone.py"), 0.0, 0.0),
    ],
)
def test_ranks(
    likeness: tuple[float, ...], target: LabelledPlace, files: float, chunks: float
) -> None:
    asked = Query("q", "?", "shop", (target,), "python", "symbol")
    found = measured(dataset(asked), {"shop": SHOP}, by_vectors(*ranked(*likeness)))
    assert found.files[0].value == pytest.approx(files, abs=1e-4)
    assert found.chunks[0].value == pytest.approx(chunks, abs=1e-4)
    assert found.files[0][:4] == ("q", "shop", "python", "symbol")


def test_where_a_question_comes_from_earns_no_rank() -> None:
    given = (LabelledPlace("c.py", 1, 9),)
    asked = Query("q", "?", "shop", (LabelledPlace("b.py"),), given=given)
    found = measured(dataset(asked), {"shop": SHOP}, by_vectors(*ranked(0.1, 0.2, 0.8, 0.9)))
    assert found.files[0].value == 1.0


def test_questions_without_an_answer_are_in_no_mean() -> None:
    asked = (Query("q", "?", "shop", ()), Query("x", "?", "other", (LabelledPlace("a.py"),)))
    found = measured(dataset(*asked), {"shop": SHOP}, by_vectors(*ranked(1, 2, 3, 4)))
    assert found == ([], [])


def test_vectors_are_kept(tmp_path: Path) -> None:
    texts = ["pay", "cart", "pay", "", "check"]
    first, second = Letters(), Letters()
    with EmbeddingCache(tmp_path, 10_000_000) as cache:
        made = embedded(first, texts, cache)
    with EmbeddingCache(tmp_path, 10_000_000) as cache:
        again = embedded(second, texts, cache)
    assert sorted(first.read) == ["", "cart", "check", "pay"]
    assert second.read == []
    assert (made == again).all()
    assert (made == Letters().embed_documents(texts)).all()
