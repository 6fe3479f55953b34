"""A search with a reranker over a real index: what it changes, and what happens without it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.config.model_sections import RerankSettings
from asterism.config.sections import MaskingSettings
from asterism.engine.engine import Engine
from asterism.engine.modes import with_bm25_weight
from asterism.engine.search import SearchReply, SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.search.ranking.options import RankOptions
from asterism.types.errors import UsageError
from asterism.types.search import Mode, Signal
from tests.disclosure.examples import AWS
from tests.engine.conftest import SETTINGS, make
from tests.models.http.misbehaving_server import (
    MisbehavingServer,
    Reply,
    Request,
    failing,
    judging,
    scores,
    serving,
)

FILES = {
    "tokens": 'def check_token(token):\n    """Whether a signature is valid."""\n    return token.ok\n',
    "cart": 'def checkout(cart):\n    """Pay for a cart."""\n    return cart.total()\n',
    "prices": 'def total(cart):\n    """Sum up the prices of a cart."""\n    return sum(cart)\n',
}
QUESTION = "how is a cart paid"

Ask = Callable[..., SearchReply]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MisbehavingServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for variable in ("VOYAGE_API_KEY", "ASTERISM_RERANK_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with serving() as running:
        yield running


@pytest.fixture
def ask(server: MisbehavingServer, places: DataDirectories, tmp_path: Path) -> Iterator[Ask]:
    """Searches a small repository, reranked by the server unless the settings say otherwise."""
    usual = RerankSettings(provider="voyage", url=server.url)
    chosen = {"rerank": usual}
    engine = Engine(places, lambda _root: replace(SETTINGS, rerank=chosen["rerank"]))
    registered = engine.register(make(tmp_path / "shop", **FILES))
    engine.index(registered)

    def ask(text: str = QUESTION, rerank: RerankSettings = usual, **more: object) -> SearchReply:
        chosen["rerank"] = rerank
        return engine.search(registered, SearchRequest(text=text, **more))  # type: ignore[arg-type]

    yield ask
    if engine._warm is not None:
        engine._warm.close()


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("counts", "(2 AWS access key); `asterism files --tokens` shows where they are."),
        ("places", "(2 AWS access key): keys.py:3."),
        ("none", None),
    ],
)
def test_a_note_says_what_was_masked(
    server: MisbehavingServer,
    places: DataDirectories,
    tmp_path: Path,
    report: str,
    said: str | None,
) -> None:
    rerank = RerankSettings(provider="voyage", url=server.url)
    masking = MaskingSettings(report=report)
    engine = Engine(places, lambda _root: replace(SETTINGS, rerank=rerank, masking=masking))
    keys = f"import os\n\nKEY = '{AWS}'\n"
    registered = engine.register(make(tmp_path / "shop", keys=keys, **FILES))
    engine.index(registered)
    server.script = [favouring("KEY")]
    reply = engine.search(registered, SearchRequest(text="which key is used"))
    assert AWS not in str([request.body for request in server.requests])
    start = "2 tokens were masked in what was sent to the reranker "
    assert reply.notes == (() if said is None else (start + said,))
    engine.close()


def favouring(word: str) -> Callable[[Request], Reply]:
    """A reranker that likes texts with this word."""
    return lambda request: scores([float(word in text) for text in request.texts])


def names(reply: SearchReply) -> list[str]:
    return [kept.hit.chunk.name for kept in reply.selection.kept]


@pytest.mark.parametrize("mode", [Mode.hybrid, Mode.semantic])
def test_the_reranker_decides_what_comes_first(
    ask: Ask, server: MisbehavingServer, mode: Mode
) -> None:
    server.script = [favouring("check_token")]
    reply = ask(mode=mode)
    first, *others = [kept.hit for kept in reply.selection.kept]
    assert first.chunk.name == "check_token"
    by_symbol = any(signal.name.startswith("symbol:") for signal in first.why)
    assert by_symbol is (mode is Mode.hybrid)
    assert first.why[-1] == Signal("rerank", 1.0, 1)
    assert {one.why[-1].value for one in others} == {0.0}
    assert reply.notes == ()
    for one in (first, *others):
        assert one.distance is not None, "a reranked hit was compared by its vector too"
        similarity = max(1 - one.distance / 2, 0)
        judged = one.why[-1].value
        assert one.score == pytest.approx(0.65 * judged + 0.35 * similarity, abs=1e-6)
    (request,) = server.requests
    assert request.body["query"] == QUESTION
    assert sorted(text.split("\n")[0] for text in request.texts) == [
        "[Python] cart.py > checkout",
        "[Python] prices.py > total",
        "[Python] tokens.py > check_token",
    ]


def test_weight_and_top_are_settings(ask: Ask, server: MisbehavingServer) -> None:
    usual = RerankSettings(provider="voyage", url=server.url)
    plain = names(ask(rerank=RerankSettings(provider="none")))
    assert server.requests == []
    server.script = [judging(0.25)]
    reply = ask(rerank=replace(usual, top=1, weight=1.0))
    assert names(reply) == plain
    first, *others = [kept.hit.score for kept in reply.selection.kept]
    assert first == 0.25
    assert max(others) <= first
    assert [len(request.texts) for request in server.requests] == [1]


@pytest.mark.parametrize("mode", [Mode.hybrid, Mode.semantic])
@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (failing(401), "Voyage at http://127.0.0.1"),
        (judging(0.1), "Voyage gave 1 scores for 3 texts."),
        (failing(400, "too many tokens for its context window"), "A question of 18 characters"),
    ],
)
def test_without_the_reranker_there_is_an_answer_that_says_so(
    ask: Ask,
    server: MisbehavingServer,
    mode: Mode,
    behaviour: Callable[[Request], Reply],
    reason: str,
) -> None:
    plain = ask(mode=mode, rerank=RerankSettings(provider="none"))
    server.script = [behaviour]
    reply = ask(mode=mode)
    assert [kept.hit for kept in reply.selection.kept] == [
        kept.hit for kept in plain.selection.kept
    ]
    (note,) = reply.notes
    assert note.startswith(f"Answered without the reranker: {reason}")


def test_a_missing_key_is_said_with_the_answer(ask: Ask) -> None:
    reply = ask(rerank=RerankSettings(provider="voyage"))
    assert len(names(reply)) == 3
    assert reply.notes == (
        "Answered without the reranker: Voyage wants a key. Set VOYAGE_API_KEY or "
        "ASTERISM_RERANK_API_KEY, or rerank.provider to none.",
    )


@pytest.mark.parametrize(
    "request_",
    [
        {"text": "symbol = total"},
        {"text": "cart", "mode": Mode.exact},
        {"text": "total", "mode": Mode.definition},
        {"text": FILES["cart"], "mode": Mode.similar},
        {"text": QUESTION, "exhaustive": True, "limit": 2},
    ],
    ids=["symbol", "exact", "definition", "similar", "pages"],
)
def test_what_is_not_reranked(
    ask: Ask, server: MisbehavingServer, request_: dict[str, object]
) -> None:
    """Complete answers need none, code is no question, and pages have to agree with each other."""
    assert names(ask(**request_))
    assert server.requests == []


def test_words_or_meaning_by_weight(ask: Ask) -> None:
    """The deprecated weight: half changes nothing, less is for vectors, more for words."""
    off = RerankSettings(provider="none")
    plain = ask(rerank=off)
    half = ask(rerank=off, bm25_weight=0.5)
    assert [one.hit for one in half.selection.kept] == [one.hit for one in plain.selection.kept]
    assert half.notes == ("bm25_weight is deprecated; the mode chooses between words and meaning.",)
    assert plain.notes == ()
    spread = {
        weight: {
            kept.hit.chunk.name: kept.hit.score
            for kept in ask("check signature", rerank=off, bm25_weight=weight).selection.kept
        }
        for weight in (0.0, 0.5, 1.0)
    }
    assert spread[0.0] != spread[0.5] != spread[1.0]


@pytest.mark.parametrize(("weight", "words", "meaning"), [(0, 0, 2), (0.25, 0.5, 1.5), (1, 2, 0)])
def test_what_the_weight_weighs(weight: float, words: float, meaning: float) -> None:
    before, after = RankOptions(), with_bm25_weight(RankOptions(), weight)
    for name in ("text", "text_sum", "said", "said_at_once"):
        assert getattr(after.weights, name) == words * getattr(before.weights, name)
        assert getattr(after.change_weights, name) == words * getattr(before.change_weights, name)
    for name in ("vector", "vector_sum"):
        assert getattr(after.weights, name) == meaning * getattr(before.weights, name)
        assert getattr(after.change_weights, name) == meaning * getattr(before.change_weights, name)
    for old, new in (
        (before.symbols.short, after.symbols.short),
        (before.symbols.long, after.symbols.long),
    ):
        for name in ("text", "body", "head_prose", "said"):
            assert getattr(new, name) == words * getattr(old, name)
        for name in ("vector_title", "vector_mean", "beside_vector"):
            assert getattr(new, name) == meaning * getattr(old, name)
        assert (new.function, new.encoder) == (old.function, old.encoder)
    assert after.chunk.text == words * before.chunk.text
    assert after.chunk.vector == meaning * before.chunk.vector
    assert after.priors == before.priors
    assert after.weights.definition == before.weights.definition


def test_the_weight_in_other_modes_and_out_of_range(ask: Ask) -> None:
    reply = ask(rerank=RerankSettings(provider="none"), bm25_weight=0.3, mode=Mode.semantic)
    assert reply.notes == ("bm25_weight is deprecated, and not used in semantic search.",)
    for weight in (-0.1, 1.5, float("nan")):
        with pytest.raises(UsageError, match=r"bm25_weight is .*; give a number from 0 to 1"):
            ask(bm25_weight=weight)


def test_a_cursor_belongs_to_its_weight(ask: Ask) -> None:
    """Another weight is another order, in which the next page would begin elsewhere."""
    pages: dict[str, object] = {
        "exhaustive": True,
        "limit": 1,
        "rerank": RerankSettings(provider="none"),
    }
    cursor = ask(bm25_weight=0.2, **pages).cursor
    assert len(names(ask(bm25_weight=0.2, cursor=cursor, **pages))) == 1
    with pytest.raises(UsageError, match="cursor"):
        ask(cursor=cursor, **pages)
