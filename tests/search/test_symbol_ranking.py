"""Symbols over a real index: which comes first for a query in words, and for an issue."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from asterism.search.query.parse import understand
from asterism.search.ranking.options import RankOptions, ScorerOptions
from asterism.search.ranking.symbol_order import SymbolRecall, rank_symbols, ranks_symbols
from asterism.search.ranking.symbol_weights import SymbolFeatures, reasons, weighed
from asterism.search.recall import Sources, recall
from asterism.search.symbol_recall import recall_symbols
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot
from asterism.types.index import Chunk
from asterism.types.search import Filter, Hit, Question
from tests.indexing.workshop import Workshop, workshop

FILES = {
    "shop/tokens.py": '''"""Signed tokens for sessions."""

import hmac


class TokenError(Exception):
    """A token that cannot be used."""


class TokenStore:
    """Keeps tokens until they expire."""

    def __init__(self, clock):
        self.clock = clock
        self.tokens = {}

    def renew(self, token):
        """Let a token live on."""
        self._check(token)
        token.expires_at += 3600

    def _check(self, token):
        if token.expires_at < self.clock():
            raise TokenError(f"the token {token.name!r} has expired on {token.expires_at}")

    def forget(self, name):
        """Drop a token."""
        self.tokens.pop(name, None)
''',
    "shop/cart.py": '''from shop.prices import total


class Cart:
    """Articles with prices that a customer wants to pay."""

    def __init__(self):
        self.items = []


def checkout(cart, service):
    """Pay for a cart and empty it."""
    service.charge(total(cart))
    cart.items.clear()


def refund(cart, service):
    """Give the money for a cart back to the customer."""
    service.charge(-total(cart))
''',
    "shop/prices.py": '''def total(cart):
    """Sum up the prices of a cart."""
    return sum(item.price for item in cart.items)
''',
    "tests/test_tokens.py": """from shop.tokens import TokenError, TokenStore


def test_that_an_expired_token_cannot_be_renewed(clock):
    store = TokenStore(clock)
    with raises(TokenError, match="the token 'a' has expired on"):
        store.renew(store.tokens["a"])
""",
}

ISSUE = """\
Session is lost after lunch

Our customers are thrown out of the shop when they come back from lunch. We did not change
anything in the settings, and the clock of the server is right. It began with the last release.

```
Traceback (most recent call last):
  File "app/views.py", line 40, in page
    store.renew(session.token)
  File "/srv/shop/tokens.py", line 19, in renew
    self._check(token)
  File "/srv/shop/tokens.py", line 24, in _check
    raise TokenError(f"the token {token.name!r} has expired on {token.expires_at}")
shop.tokens.TokenError: the token 'a81' has expired on 1700000000
```
"""


class Library(NamedTuple):
    """An index, ready to be asked."""

    shop: Workshop
    chunks: ChunkSnapshot

    def ask(self, text: str, scorer: "Liking | None" = None, *, spread: bool = True) -> list[Hit]:
        """The hits for a query."""
        question, options = understand(text), RankOptions()
        sources = Sources(self.chunks, self.shop.index.catalogue, Filter())
        embed = self.shop.embedder.embed_queries
        vectors = [*embed(question.sentences)]
        details = [*embed(question.details)] if question.details else vectors
        pools = recall(question, vectors, sources, 10, options.recall)
        symbols = recall_symbols(question, details, sources, options.symbols)
        found = SymbolRecall(pools, symbols, self.chunks.chunks)
        return rank_symbols(question, found, options, scorer, spread=spread)


class Liking:
    """A scorer that likes one symbol."""

    options = ScorerOptions(name="encoder", top=20)

    def __init__(self, name: str) -> None:
        self.name = name

    def scores(self, question: Question, chunks: Sequence[Chunk]) -> Mapping[ChunkKey, float]:
        """1 for the symbol, 0 for others."""
        return {ChunkKey(chunk.repo, chunk.id): float(chunk.name == self.name) for chunk in chunks}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    directory: Path = tmp_path_factory.mktemp("library")
    with workshop(directory, "memory") as shop:
        for path, text in FILES.items():
            shop.put(path, text)
        shop.sync()
        version = shop.index.catalogue.chunks_version()
        yield Library(shop, shop.index.table().snapshot(version))


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.qualified_name for hit in hits]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("sum up the prices of a cart", "total"),
        ("pay for a cart and empty it", "checkout"),
        ("give money back to the customer", "refund"),
        ("drop a token", "TokenStore.forget"),
        ("tokens that have expired", "TokenStore._check"),
        (ISSUE, "TokenStore._check"),
    ],
)
def test_the_function_that_does_the_work_comes_first(
    library: Library, query: str, first: str
) -> None:
    assert names(library.ask(query))[0] == first


def test_frames_of_a_traceback_come_with_the_innermost_first(library: Library) -> None:
    found = names(library.ask(ISSUE))
    assert found[:2] == ["TokenStore._check", "TokenStore.renew"]


def test_an_error_message_is_found_where_it_is_raised(library: Library) -> None:
    query = (
        "Lunch breaks\n\nPeople cannot work after lunch any more, all of them have to sign in "
        "again and nothing in the settings helps; we see this in the log of every single server:"
        "\n\nerror: the token 'b22' has expired on 1800000000\n"
    )
    (first, *_) = library.ask(query)
    assert first.chunk.qualified_name == "TokenStore._check"
    assert "symbol:message" in {signal.name for signal in first.why}


def test_scores_fall_and_are_probabilities(library: Library) -> None:
    scores = [hit.score for hit in library.ask("tokens that have expired")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_equal_queries_have_equal_hits(library: Library) -> None:
    assert library.ask(ISSUE) == library.ask(ISSUE)


def test_the_encoder_counts(library: Library) -> None:
    query = "tokens and customers"
    plain = names(library.ask(query)).index("refund")
    liked = library.ask(query, Liking("refund"))
    assert names(liked).index("refund") < plain
    [signal] = [one for one in liked[names(liked).index("refund")].why if one.name == "encoder"]
    assert (signal.value, signal.rank) == (1.0, 1)


def test_lists_show_more_files(library: Library) -> None:
    """A reply with code may show several symbols of one file."""
    query = "keep tokens, renew them, forget them"

    def other(hits: Sequence[Hit]) -> int:
        """The place of the first hit of another file."""
        files = [hit.chunk.relative_path for hit in hits]
        return next(at for at, file in enumerate(files) if file != files[0])

    assert other(library.ask(query)) < other(library.ask(query, spread=False))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("how are tokens renewed", True),
        ("token expiry", True),
        (ISSUE, True),
        ("TokenStore", False),
        ("TokenStore.renew", False),
        ("TokenStore renew_all", False),
        ("shop/tokens.py", False),
        ('where is "has expired on" said', False),
        ("shop/tokens.py:12 fails", False),
        ("where is TokenStore used", False),
        ("def renew(self, token):\n    pass", False),
    ],
)
def test_which_queries_rank_symbols(query: str, expected: bool) -> None:
    assert ranks_symbols(understand(query)) is expected


def test_reasons_add_up_to_the_score() -> None:
    features = SymbolFeatures(text=1.0, test=1.0, length=2.0)
    weights = SymbolFeatures(text=0.5, test=-4.0, length=0.25, code=1.0)
    found = reasons(features, weights)
    assert [(signal.name, signal.value) for signal in found] == [
        ("symbol:test", -4.0),
        ("symbol:length", 0.5),
        ("symbol:text", 0.5),
    ]
    assert weighed(features, weights) == sum(signal.value for signal in found)
