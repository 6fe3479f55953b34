"""Does the fake keep the promises of a reranker?"""

import pytest

from asterism.models.rerank.options import Reranker
from asterism.types.errors import ProviderDown
from tests.models.rerank.word_overlap import WordOverlapReranker


def test_the_share_of_the_questions_words() -> None:
    reranker: Reranker = WordOverlapReranker()
    documents = ["check_token(Signature)", "token", " ", "nothing of it"]
    assert reranker.rerank("check token signature it", documents) == [0.75, 0.25, 0.0, 0.25]
    assert reranker.rerank("", ["text"]) == [0.0]
    assert reranker.rerank("question", []) == []


def test_it_counts_and_fails_as_told() -> None:
    reranker = WordOverlapReranker(fail_after=1)
    reranker.rerank("question", ["a", "", "b"])
    with pytest.raises(ProviderDown):
        reranker.rerank("question", ["c"])
    assert (reranker.calls, reranker.queries) == (1, ["question"])
    assert reranker.documents == ["a", "b"]
    reranker.close()
    assert reranker.closed
