"""The recipe over a real index: what comes first, why, and what switches which prior off."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from asterism.search.query.parse import understand
from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.recipe import rank
from asterism.search.recall import Pools, Sources, recall, recall_by_meaning
from asterism.store.chunk_table import ChunkSnapshot, Vector
from asterism.types.search import Filter, Hit, Question
from tests.indexing.workshop import Workshop, workshop

FILES = {
    "shop/tokens.py": '''"""Signed tokens for sessions."""

import hmac


class TokenService:
    """Issues and checks tokens."""

    def issue(self, user):
        """Sign a token for a user."""
        return hmac.new(user.key, user.name)

    def check(self, token):
        """Tell whether the signature of a token is valid."""
        return hmac.compare_digest(token.signature, self.issue(token.user))
''',
    "shop/cart.py": '''from shop.prices import total


def checkout(cart, service):
    """Pay for a cart and empty it."""
    service.charge(total(cart))
    cart.clear()
''',
    "shop/prices.py": '''def total(cart):
    """Sum up the prices of a cart."""
    return sum(item.price for item in cart)
''',
    "tests/test_tokens.py": '''from shop.tokens import TokenService


def test_token_signature_is_checked():
    """A token with another signature is not valid."""
    service = TokenService()
    assert not service.check(service.issue("user"))
''',
    "docs/tokens.md": "# Tokens\n\nHow the signature of a token is checked.\n",
    "vendor/tokens.py": "def check_token_signature(token):\n    return token.signature\n",
}


class Library(NamedTuple):
    """An index, ready to be asked."""

    shop: Workshop
    chunks: ChunkSnapshot

    def vectors(self, question: Question) -> list[Vector]:
        """A vector for each sentence."""
        return [*self.shop.embedder.embed_queries(question.sentences)]

    def pools(self, text: str, where: Filter | None = None, limit: int = 10) -> Pools:
        """What every channel finds."""
        question = understand(text)
        sources = Sources(self.chunks, self.shop.index.catalogue, where or Filter())
        return recall(question, self.vectors(question), sources, limit, RankOptions().recall)

    def ask(self, text: str, off: frozenset[str] = frozenset()) -> list[Hit]:
        """The hits for a question."""
        options = RankOptions(off=off)
        return rank(understand(text), self.pools(text), self.chunks.chunks, options)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    directory: Path = tmp_path_factory.mktemp("library")
    with workshop(directory, "memory") as shop:
        for path, text in FILES.items():
            shop.put(path, text)
        shop.sync()
        version = shop.index.catalogue.chunks_version()
        yield Library(shop, shop.index.table().snapshot(version))


def shown(hits: list[Hit]) -> list[str]:
    return [f"{hit.chunk.relative_path} {hit.chunk.qualified_name}" for hit in hits]


def first_files(hits: list[Hit]) -> list[str]:
    return list(dict.fromkeys(hit.chunk.relative_path for hit in hits))


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("TokenService", "shop/tokens.py TokenService"),
        ("TokenService.check", "shop/tokens.py TokenService.check"),
        ("checkout", "shop/cart.py checkout"),
        ("how are the prices of a cart summed up", "shop/prices.py total"),
        ("what happens in shop/cart.py", "shop/cart.py checkout"),
    ],
)
def test_the_best_answer_comes_first(library: Library, question: str, first: str) -> None:
    assert shown(library.ask(question))[0] == first


def test_change_requests_have_separate_weights(library: Library) -> None:
    def scores(text: str, options: RankOptions) -> list[float]:
        hits = rank(understand(text), library.pools(text), library.chunks.chunks, options)
        return [hit.score for hit in hits]

    usual = RankOptions()
    topics_apart = replace(usual, weights=replace(usual.weights, said=9.0))
    changes_apart = replace(usual, change_weights=replace(usual.change_weights, said=9.0))
    for text, other, same in (
        ("Fix a token without a signature", changes_apart, topics_apart),
        ("signature of tokens", topics_apart, changes_apart),
    ):
        assert scores(text, usual) == scores(text, same)
        assert scores(text, usual) != scores(text, other)


def test_every_hit_of_a_change_request_starts_higher(library: Library) -> None:
    def asked(text: str, start: float) -> list[tuple[str, float]]:
        options = replace(RankOptions(), change_start=start)
        hits = rank(understand(text), library.pools(text), library.chunks.chunks, options)
        return [(hit.chunk.id, hit.score) for hit in hits]

    low, high = (asked("Fix a token without a signature", start) for start in (0.0, 2.0))
    assert [name for name, _ in low] == [name for name, _ in high]
    assert all(before < after for (_, before), (_, after) in zip(low, high, strict=True))
    assert asked("signature of tokens", 0.0) == asked("signature of tokens", 2.0)


def test_code_comes_before_tests_pages_and_vendored_code(library: Library) -> None:
    files = first_files(library.ask("check the signature of a token"))
    assert files[0] == "shop/tokens.py"


@pytest.mark.parametrize(
    ("question", "prior", "path"),
    [
        ("tests of the token signature", "prior:test", "tests/test_tokens.py"),
        ("documentation of token signatures", "prior:documentation", "docs/tokens.md"),
    ],
)
def test_a_question_that_asks_for_a_kind_of_file_switches_its_prior_off(
    library: Library, question: str, prior: str, path: str
) -> None:
    plain = {hit.chunk.relative_path: hit for hit in library.ask("token signature")}
    asked = {hit.chunk.relative_path: hit for hit in library.ask(question)}
    assert prior in {signal.name for signal in plain[path].why}
    assert prior not in {signal.name for signal in asked[path].why}


@pytest.mark.parametrize("name", ["test", "documentation", "generated", "same_file", "imports"])
def test_every_prior_is_named_and_can_be_switched_off(library: Library, name: str) -> None:
    before = library.ask("token signature check")
    after = library.ask("token signature check", off=frozenset({name}))
    assert any(signal.name == f"prior:{name}" for hit in before for signal in hit.why)
    assert not any(signal.name == f"prior:{name}" for hit in after for signal in hit.why)


def test_priors_reorder_and_never_exclude(library: Library) -> None:
    every = frozenset(
        ("test", "documentation", "generated", "barrel", "imports", "comment", "detail")
    )
    with_priors = library.ask("token signature")
    without = library.ask("token signature", off=every)
    assert set(shown(with_priors)) == set(shown(without))
    assert shown(with_priors) != shown(without)


def test_scores_are_probabilities_and_fall(library: Library) -> None:
    scores = [hit.score for hit in library.ask("token signature")]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 < score < 1.0 for score in scores)


def test_a_hit_tells_where_each_channel_had_it(library: Library) -> None:
    best = library.ask("TokenService")[0]
    channels = {signal.name: signal.rank for signal in best.why if signal.rank is not None}
    assert channels.keys() == {"text", "vector", "name"}
    assert all(rank >= 1 for rank in channels.values())
    assert "definition" in {signal.name for signal in best.why}
    assert best.distance is not None


def test_the_order_does_not_depend_on_the_limit(library: Library) -> None:
    assert library.pools("token signature", limit=1) == library.pools("token signature", limit=50)


def test_a_filter_holds_for_every_channel(library: Library) -> None:
    pools = library.pools("TokenService", Filter(kinds=("method",)))
    found = [match.key for match in (*pools.text, *pools.vector, *pools.name, *pools.path)]
    chunks = library.chunks.chunks([*found, *pools.definitions])
    assert {chunk.node_kind for chunk in chunks} == {"method"}
    assert not pools.definitions


def test_without_vectors_words_answer(library: Library) -> None:
    question = understand("TokenService")
    sources = Sources(library.chunks, library.shop.index.catalogue)
    pools = recall(question, [], sources, 10, RankOptions().recall)
    best = rank(question, pools, library.chunks.chunks, RankOptions())[0]
    assert best.chunk.qualified_name == "TokenService"
    assert best.distance is None


def test_by_meaning_only_vectors_are_asked(library: Library) -> None:
    question = understand("check the signature of a token")
    sources = Sources(library.chunks, library.shop.index.catalogue)
    vectors = library.vectors(question)
    pools = recall_by_meaning(vectors, sources, 10, RankOptions().recall)
    assert pools.vector
    assert (pools.text, pools.name, pools.path, pools.definitions) == ((), (), (), {})
    hits = rank(question, pools, library.chunks.chunks, RankOptions())
    assert len(hits) == len(pools.vector)


def test_several_sentences_bring_what_is_near_to_any(library: Library) -> None:
    question = understand("Sum up the prices of a cart. Sign a token for a user.")
    sources = Sources(library.chunks, library.shop.index.catalogue)
    together = recall_by_meaning(library.vectors(question), sources, 10, RankOptions().recall)
    alone = [
        recall_by_meaning([vector], sources, 10, RankOptions().recall)
        for vector in library.vectors(question)
    ]
    nearest = min(pools.vector[0].score for pools in alone)
    assert len(question.sentences) == 2
    assert together.vector[0].score == nearest


def test_each_sentence_has_a_hit_among_the_first(library: Library) -> None:
    text = "Sum up the prices of a cart. Sign a token for a user."
    question, pools = understand(text), library.pools(text)
    alone = [library.chunks.nearest(vector, 10) for vector in library.vectors(question)]
    assert pools.sentences == tuple(tuple(match.key for match in matches) for matches in alone)
    first = {(hit.chunk.repo, hit.chunk.id) for hit in library.ask(text)[:5]}
    assert all(first.intersection(keys) for keys in pools.sentences)
    assert library.pools("Sum up the prices of a cart.").sentences == ()


def test_nothing_found_is_no_hit() -> None:
    assert rank(understand("anything"), Pools(), lambda _: [], RankOptions()) == []
