"""Does the fake keep the promises that real embedders give?"""

import numpy as np
import pytest

from asterism.models.embed.provider import Embedder
from asterism.types.errors import ProviderDown
from asterism.types.index import ModelIdentity
from tests.models.embed.counting_embedder import CountingEmbedder


def test_it_is_an_embedder() -> None:
    embedder: Embedder = CountingEmbedder()
    assert embedder.identity == ModelIdentity("fake", "fake", 8)


def test_vectors_depend_on_the_text_alone() -> None:
    vectors = CountingEmbedder().embed_documents(["a", "b", "", "a", " \n"])
    again = CountingEmbedder().embed_queries(["b", "a"])
    assert vectors.dtype == np.float32
    assert (vectors[0] == vectors[3]).all()
    assert (again == vectors[[1, 0]]).all()
    assert (vectors[0] != vectors[1]).any()
    assert not vectors[[2, 4]].any()
    assert (vectors.astype(np.float16) == vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors[:2], axis=1), 1, atol=1e-3)


def test_it_counts() -> None:
    embedder = CountingEmbedder(dimensions=3)
    embedder.embed_documents(["a", "", "b"])
    embedder.embed_queries(["c"])
    assert embedder.embed_documents([]).shape == (0, 3)
    assert (embedder.calls, embedder.texts) == (3, 3)
    assert (embedder.documents, embedder.queries) == (["a", "b"], ["c"])
    assert not embedder.closed
    embedder.close()
    assert embedder.closed


def test_it_fails_when_told_to() -> None:
    embedder = CountingEmbedder(fail_after=3)
    embedder.embed_documents(["a", "b"])
    with pytest.raises(ProviderDown):
        embedder.embed_documents(["c", "d"])
    assert embedder.documents == ["a", "b"]
    embedder.embed_documents(["c"])
    embedder.fail_after = None
    embedder.embed_documents(["d", "e"])
    assert embedder.texts == 5
