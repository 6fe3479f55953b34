"""Searches reranked by local models over a real index, and searches without these models."""

import shutil
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.config.model_sections import EmbeddingSettings, RerankSettings
from asterism.engine.engine import Engine
from asterism.engine.search import SearchReply, SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.models.embed.options import EmbedOptions, encoder_folder
from asterism.types.search import Mode, Signal
from tests.engine.conftest import SETTINGS, make
from tests.models.weights.tiny_models import make_encoder, make_reranker, rewrite

FILES = {
    "tokens": 'def check_token(token):\n    """Is it valid?"""\n    return token.ok\n',
    "cart": 'def checkout(cart):\n    """pay cart"""\n    return cart.total()\n',
    "prices": 'def total(items):\n    """Sum up."""\n    return sum(items)\n',
}
QUESTION = "check a token that is valid"

OFF = RerankSettings(provider="none")

Ask = Callable[..., SearchReply]


@pytest.fixture
def ask(places: DataDirectories, tmp_path: Path) -> Ask:
    """Searches a small repository, reranked as the given settings say."""
    chosen = {"rerank": OFF}
    engine = Engine(places, lambda _root: replace(SETTINGS, rerank=chosen["rerank"]))
    registered = engine.register(make(tmp_path / "shop", **FILES))
    engine.index(registered)

    def ask(rerank: RerankSettings, text: str = QUESTION, **more: object) -> SearchReply:
        chosen["rerank"] = rerank
        return engine.search(registered, SearchRequest(text=text, **more))  # type: ignore[arg-type]

    return ask


@pytest.fixture
def reranker(tmp_path: Path) -> RerankSettings:
    """A model that likes carts, and counts for more than everything else."""
    folder = make_reranker(tmp_path / "reranker", best=40.0)
    return RerankSettings(provider="local", model=str(folder), seconds=60)


@pytest.fixture
def encoder(tmp_path: Path) -> RerankSettings:
    folder = make_encoder(tmp_path / "encoder")
    rewrite(folder, ranking={"best": 1.0, "calibration.offset": -30.0})
    return RerankSettings(provider="encoder", model=str(folder), seconds=60)


def names(reply: SearchReply) -> list[str]:
    return [kept.hit.chunk.name for kept in reply.selection.kept]


@pytest.mark.parametrize("mode", [Mode.hybrid, Mode.semantic])
def test_scores_are_evidence(ask: Ask, reranker: RerankSettings, mode: Mode) -> None:
    assert names(ask(OFF, mode=mode))[0] == "check_token"
    reply = ask(reranker, mode=mode)
    assert names(reply)[0] == "checkout"
    first = reply.selection.kept[0].hit
    [signal] = [one for one in first.why if one.name == "reranker"]
    assert (signal.value > 0, signal.rank) == (True, 1)
    scores = [kept.hit.score for kept in reply.selection.kept]
    assert scores == sorted(scores, reverse=True)
    assert reply.notes == ()


def judged(reply: SearchReply) -> bool:
    """Whether the encoder had a say."""
    return any(one.name == "encoder" for kept in reply.selection.kept for one in kept.hit.why)


def test_close_calls_are_reranked_by_default(ask: Ask) -> None:
    """Of two files that may be meant; a name that one of them defines is no such call."""
    usual = RerankSettings(seconds=60)
    close = ask(usual, text="what is to be paid")
    assert judged(close)
    assert close.notes == ()
    assert names(close)[0] in ("checkout", "total")
    assert not judged(ask(OFF, text="what is to be paid"))
    assert not judged(ask(usual, text="check_token"))


def test_the_encoder_is_not_used_with_vectors_of_another_model(
    places: DataDirectories, tmp_path: Path
) -> None:
    own = EmbeddingSettings(provider="encoder", model=str(make_encoder(tmp_path / "own")))
    engine = Engine(places, lambda _root: replace(SETTINGS, embedding=own))
    registered = engine.register(make(tmp_path / "shop", **FILES))
    engine.index(registered)
    assert not judged(engine.search(registered, SearchRequest(text="what is to be paid")))


@pytest.mark.parametrize("lacks", ["library", "folder"])
def test_a_missing_default_reranker_is_reported_once(
    ask: Ask, lacks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One that is not loaded yet.
    folder = tmp_path / "model"
    if lacks == "library":
        shutil.copytree(encoder_folder(EmbedOptions("encoder")), folder)
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
    for module in ("asterism.engine.rerank", "asterism.models.embed.encoder"):
        monkeypatch.setattr(f"{module}.encoder_folder", lambda _options: folder)
    first, second = (ask(RerankSettings(), text="what is to be paid") for _ in range(2))
    [note] = first.notes
    assert note.startswith("Answered without the ")
    assert second.notes == ()
    assert names(first) == names(second) == names(ask(OFF, text="what is to be paid"))


def test_top_is_a_setting(ask: Ask, reranker: RerankSettings) -> None:
    """Of one hit nothing can be said beside others."""
    plain = ask(OFF)
    assert names(ask(replace(reranker, top=1))) == names(plain)


def test_no_time(ask: Ask, reranker: RerankSettings) -> None:
    reply = ask(replace(reranker, seconds=0))
    assert names(reply) == names(ask(OFF))
    assert reply.notes == (
        "In 0 s the reranker scored 1 of 3 hits; the others keep their places. Raise "
        "rerank.seconds for more.",
    )


def test_vectors_of_candidates_are_kept(
    ask: Ask, encoder: RerankSettings, places: DataDirectories
) -> None:
    reply = ask(encoder)
    assert reply.notes == ()
    assert any(one.name == "encoder" for one in reply.selection.kept[0].hit.why)
    assert max(kept.hit.score for kept in reply.selection.kept) < 0.01, "its own calibration"
    with sqlite3.connect(places.cache / "embeddings.sqlite") as cache:
        query = (
            "SELECT count(*) FROM vectors JOIN models m ON m.id = vectors.model WHERE provider = ?"
        )
        assert cache.execute(query, ("encoder",)).fetchone() == (3,)
    cache.close()
    # Without time nothing is embedded, and nothing needs to be.
    again = ask(replace(encoder, seconds=0))
    assert again.notes == ()
    assert [kept.hit for kept in again.selection.kept] == [
        kept.hit for kept in reply.selection.kept
    ]


@pytest.mark.parametrize("which", ["reranker", "encoder"])
def test_without_the_library_there_is_an_answer_that_says_so(
    ask: Ask, which: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: RerankSettings = request.getfixturevalue(which)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    reply = ask(chosen)
    assert [kept.hit for kept in reply.selection.kept] == [
        kept.hit for kept in ask(OFF).selection.kept
    ]
    [note] = reply.notes
    assert note.startswith(f"Answered without the {which}: tiny needs onnxruntime")


@pytest.mark.parametrize("which", ["reranker", "encoder"])
def test_damaged_weights(ask: Ask, which: str, request: pytest.FixtureRequest) -> None:
    chosen: RerankSettings = request.getfixturevalue(which)
    weights = Path(chosen.model) / "model.onnx"
    weights.write_bytes(weights.read_bytes()[:-1])
    reply = ask(chosen)
    assert names(reply) == names(ask(OFF))
    [note] = reply.notes
    assert note.startswith(f"Answered without the {which}: The model in ")
    assert "model.onnx has" in note


@pytest.mark.parametrize("provider", ["local", "encoder"])
def test_no_model(ask: Ask, provider: str, tmp_path: Path) -> None:
    chosen = RerankSettings(provider=provider, model=str(tmp_path / "nothing"))  # type: ignore[arg-type]
    reply = ask(chosen)
    assert names(reply) == names(ask(OFF))
    [note] = reply.notes
    assert note.startswith("Answered without the reranker: ")


def test_a_model_that_counts_for_nothing(ask: Ask, tmp_path: Path) -> None:
    folder = make_reranker(tmp_path / "reranker")
    reply = ask(RerankSettings(provider="local", model=str(folder)))
    assert names(reply) == names(ask(OFF))
    assert reply.notes == (
        "Answered without the reranker: tiny has no weights for its scores; put the "
        "numbers that `python -m benchmarks.ranking.rerank` finds into its model.json, as ranking.",
    )


@pytest.mark.parametrize(
    "request_",
    [
        {"text": "symbol = total"},
        {"text": "cart", "mode": Mode.exact},
        {"text": "total", "mode": Mode.definition},
        {"text": "where is total used"},
        {"exhaustive": True, "limit": 2},
    ],
    ids=["symbol", "exact", "definition", "usage", "pages"],
)
def test_what_is_not_reranked(
    ask: Ask, reranker: RerankSettings, request_: dict[str, object]
) -> None:
    reply = ask(reranker, **request_)
    assert names(reply)
    assert not any(
        isinstance(one, Signal) and one.name == "reranker"
        for kept in reply.selection.kept
        for one in kept.hit.why
    )
