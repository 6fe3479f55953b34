"""Which reranker do options mean, and what is loaded for it?"""

import subprocess
import sys
from typing import Any

import pytest

from asterism.models.rerank.options import RerankOptions, key_variables, model_of
from asterism.models.rerank.provider import make_reranker
from asterism.models.rerank.voyage import HttpReranker
from asterism.types.errors import SettingError


def test_none_is_the_default() -> None:
    assert make_reranker(RerankOptions()) is None


def test_voyage() -> None:
    options = RerankOptions("voyage", api_key="key")
    reranker = make_reranker(options)
    assert isinstance(reranker, HttpReranker)
    assert repr(reranker) == "HttpReranker(https://api.voyageai.com/v1)"
    assert model_of(options) == "rerank-2.5"
    reranker.close()


@pytest.mark.parametrize("provider", ["unknown", "cohere", ""])
def test_a_provider_that_does_not_exist(provider: Any) -> None:
    with pytest.raises(
        SettingError, match=r"it can be one of: auto, none, local, encoder, voyage\."
    ):
        make_reranker(RerankOptions(provider))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("", "VOYAGE_API_KEY or ASTERISM_RERANK_API_KEY"),
        ("http://localhost:1/v1", "ASTERISM_RERANK_API_KEY"),
    ],
)
def test_where_a_key_can_come_from(url: str, expected: str) -> None:
    assert key_variables(RerankOptions("voyage", url=url)) == expected


def test_nothing_heavy_is_loaded_before_a_question() -> None:
    """Choosing a vendor loads its module; the HTTP library waits for the first request."""
    program = """
import sys
from asterism.models.rerank.options import RerankOptions
from asterism.models.rerank.provider import make_reranker
make_reranker(RerankOptions())
assert "asterism.models.rerank.voyage" not in sys.modules
make_reranker(RerankOptions("voyage", api_key="key"))
assert "asterism.models.rerank.voyage" in sys.modules
assert not {"httpx", "numpy"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
