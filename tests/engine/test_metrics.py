"""Does the engine count and log what it does, and never what files hold?"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asterism.engine.builds import WatchRecord
from asterism.engine.engine import Engine
from asterism.engine.metrics import MeasuredEmbedder, MeasuredReranker
from asterism.engine.search import SearchRequest
from asterism.indexing.watcher import Outcome, WatchState
from asterism.models.embed.options import EmbedOptions
from asterism.models.embed.vendors import openai_embedder
from asterism.telemetry.exposition import snapshot
from asterism.telemetry.log import LogOptions, start_logging, stop_logging
from asterism.types.errors import IndexMissing, ProviderDown
from asterism.types.index import SymbolQuery
from asterism.types.search import Mode
from tests.engine.conftest import make
from tests.models.embed.counting_embedder import CountingEmbedder
from tests.models.http.misbehaving_server import failing, serving
from tests.models.rerank.word_overlap import WordOverlapReranker

CODE = "def unmistakable_name():\n    return 'words of the file'\n"


class Numbers:
    """What every series was when this was made, and what came to it since."""

    def __init__(self) -> None:
        self._before = self._read()

    def since(self) -> dict[str, float]:
        """Each series that grew, as `name label label`."""
        return {
            name: round(value - self._before.get(name, 0.0), 6)
            for name, value in self._read().items()
            if value != self._before.get(name, 0.0)
        }

    def _read(self) -> dict[str, float]:
        return {
            " ".join([name, *(label for label in series["labels"].values() if label)]): series.get(
                "count", series.get("value", 0.0)
            )
            for name, meter in snapshot().items()
            for series in meter["series"]
            if not name.startswith("process_")
        }


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "log"
    start_logging(LogOptions("info", "json", str(file)))
    yield file
    stop_logging()


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_an_index_and_searches(engine: Engine, tmp_path: Path, log: Path) -> None:
    registered = engine.register(make(tmp_path / "shop", one=CODE, two="x = 1\n"))
    numbers = Numbers()
    engine.index(registered)
    grown = numbers.since()
    assert grown["asterism_operation_seconds index ok"] == 1
    assert grown["asterism_sync_files_total added"] == 2
    assert grown["asterism_sync_files_total parsed"] == 2
    assert (
        grown["asterism_sync_vectors_total embedded"] == grown["asterism_sync_chunks_written_total"]
    )
    assert grown["asterism_provider_texts_total embedding local"] > 0

    numbers = Numbers()
    for _ in range(2):
        engine.search(registered, SearchRequest(text="unmistakable name"))
    engine.search(registered, SearchRequest(text="unmistakable", mode=Mode.exact))
    engine.symbols(registered, SymbolQuery("unmistakable_name"))
    grown = numbers.since()
    assert grown["asterism_operation_seconds search hybrid ok"] == 2
    assert grown["asterism_operation_seconds search exact ok"] == 1
    assert grown["asterism_operation_seconds symbols ok"] == 1
    assert grown["asterism_replies_total search"] == 3
    assert grown["asterism_reply_utilisation_ratio search"] == 3
    assert grown["asterism_cache_requests_total question_vectors hit"] == 1
    assert grown["asterism_cache_requests_total question_vectors miss"] == 1
    assert "asterism_truncations_total" not in " ".join(grown)

    searches = [line for line in lines(log) if line["event"] == "search"]
    assert [line["mode"] for line in searches] == ["hybrid", "hybrid", "exact"]
    assert searches[0]["returned"] >= 1
    assert len({line["request"] for line in searches}) == 3
    text = log.read_text(encoding="utf-8")
    assert "unmistakable" not in text
    assert "words of the file" not in text
    engine.close()


def test_a_truncation_is_a_warning_and_a_count(engine: Engine, tmp_path: Path, log: Path) -> None:
    long = "".join(
        f"def step_{n}(value):\n    return value * {n} + other(value)\n\n" for n in range(20)
    )
    registered = engine.register(make(tmp_path / "shop", one=long))
    engine.index(registered)
    numbers = Numbers()
    reply = engine.search(registered, SearchRequest(text="step value", token_budget=40))
    assert reply.selection.account.truncated
    reason = str(reply.selection.account.truncation_info.reason)
    grown = numbers.since()
    assert grown[f"asterism_truncations_total search {reason}"] == 1
    (line,) = [line for line in lines(log) if line["event"] == "truncated"]
    assert (line["level"], line["surface"], line["reason"]) == ("warning", "search", reason)
    (search,) = [line for line in lines(log) if line["event"] == "search"]
    assert (search["truncated"], search["request"]) == (True, line["request"])
    engine.close()


def test_a_search_that_fails(engine: Engine, tmp_path: Path, log: Path) -> None:
    registered = engine.register(make(tmp_path / "shop", one=CODE))
    numbers = Numbers()
    with pytest.raises(IndexMissing):
        engine.search(registered, SearchRequest(text="name"))
    grown = numbers.since()
    assert grown["asterism_operation_seconds search hybrid error"] == 1
    assert grown["asterism_errors_total search IndexMissing"] == 1
    (line,) = lines(log)
    assert (line["level"], line["error"]) == ("warning", "IndexMissing")


def test_models_are_counted_and_their_failures() -> None:
    numbers = Numbers()
    fake = CountingEmbedder(fail_after=3)
    model = MeasuredEmbedder(fake)
    assert model.identity == fake.identity
    assert model.embed_documents(["a", "b"]).shape == (2, 8)
    assert model.embed_queries(["a"]).shape == (1, 8)
    with pytest.raises(ProviderDown):
        model.embed_queries(["c"])
    model.close()
    assert fake.closed
    judge = MeasuredReranker(WordOverlapReranker(), "voyage")
    assert judge.rerank("a", ["a b"]) == [1.0]
    assert numbers.since() == {
        "asterism_provider_seconds embedding fake ok": 2,
        "asterism_provider_seconds embedding fake error": 1,
        "asterism_provider_texts_total embedding fake": 4,
        "asterism_provider_failures_total embedding fake ProviderDown": 1,
        "asterism_provider_seconds rerank voyage ok": 1,
        "asterism_provider_texts_total rerank voyage": 1,
    }


def test_retries_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    numbers = Numbers()
    with serving() as server:
        server.script = [failing(503)] * 2
        options = EmbedOptions("openai", "fake", f"{server.url}", 4, api_key="k")
        model = MeasuredEmbedder(openai_embedder(options, sleep=lambda _seconds: None))
        with pytest.raises(ProviderDown):
            model.embed_queries(["a"])
        model.close()
    grown = numbers.since()
    assert grown["asterism_provider_retries_total embedding"] == 1
    assert grown["asterism_provider_failures_total embedding openai ProviderDown"] == 1


def test_a_watcher_counts_what_is_new() -> None:
    numbers, record = Numbers(), WatchRecord()
    record.add(WatchState(1, 0.0, events=3, outcome=Outcome.done))
    record.add(WatchState(1, 0.0, events=5, outcome=Outcome.failed, sentence="The disk is full."))
    assert numbers.since() == {
        "asterism_watch_events_total": 5,
        "asterism_watch_syncs_total done": 1,
        "asterism_watch_syncs_total failed": 1,
    }
