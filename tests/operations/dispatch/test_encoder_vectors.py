"""Do servers compute encoder vectors of the queried indexes, and show their progress?"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from asterism.config.model_sections import EmbeddingSettings
from asterism.config.sections import IndexSettings, WatchSettings, WorkSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.schema import Json
from tests.models.weights.tiny_models import make_encoder
from tests.servers.conftest import copy_of_harbor

# However slow the machine is; a test that waits so long has failed.
PATIENCE = 120.0


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Toolbox]]:
    """Start a server on the example, with a model for encoder vectors or without."""
    started: list[Toolbox] = []
    repository = copy_of_harbor(tmp_path)
    folder = make_encoder(tmp_path / "encoder")

    def start(upgrade: str | None = None) -> Toolbox:
        settings = Settings(
            index=IndexSettings(sync_seconds=600),
            work=WorkSettings(jobs=1),
            watch=WatchSettings(servers=False),
            embedding=EmbeddingSettings(upgrade=str(folder) if upgrade is None else upgrade),
        )
        engine = Engine(
            DataDirectories(tmp_path / "data", tmp_path / "cache"), lambda _root: settings
        )
        started.append(Toolbox(engine, Standpoint(repository, is_root=True)))
        return started[-1]

    yield start
    for toolbox in started:
        toolbox.close()


def state_of(toolbox: Toolbox) -> Json:
    found: Json = dict(toolbox.call("index_status", {}).structured or {})
    return found


def completed(toolbox: Toolbox) -> Json:
    end = time.monotonic() + PATIENCE
    while not state_of(toolbox)["upgrade"]["complete"]:
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)
    found: Json = state_of(toolbox)["upgrade"]
    return found


def ask(toolbox: Toolbox) -> None:
    assert toolbox.call("search_code", {"query": "where is a berth assigned"}).error is None


def test_after_a_question_they_are_made(serve: Callable[..., Toolbox]) -> None:
    toolbox = serve()
    toolbox.call("index_codebase", {})
    before = state_of(toolbox)["upgrade"]
    assert (before["chunks"], before["complete"], before["problem"]) == (0, False, None)
    ask(toolbox)
    after = completed(toolbox)
    assert after["chunks"] == after["total"] > 0
    reply = toolbox.call("index_status", {})
    assert f"vectors of all {after['total']:,} chunks, and answers." in reply.parts[0].text
    ask(toolbox)


def test_two_servers_make_them_once(serve: Callable[..., Toolbox]) -> None:
    first, second = serve(), serve()
    first.call("index_codebase", {})
    ask(first)
    ask(second)
    # The writer of the last one may still be closing its file.
    told = [
        {name: value for name, value in completed(one).items() if name not in {"running", "bytes"}}
        for one in (first, second)
    ]
    assert told[0] == told[1]
    assert told[0]["complete"]


def test_where_none_are_wanted_nothing_is_said(serve: Callable[..., Toolbox]) -> None:
    toolbox = serve("none")
    toolbox.call("index_codebase", {})
    ask(toolbox)
    assert state_of(toolbox)["upgrade"] is None


def test_a_model_that_is_not_there_is_told_once_and_questions_are_answered(
    serve: Callable[..., Toolbox],
) -> None:
    toolbox = serve("/nowhere/at/all")
    toolbox.call("index_codebase", {})
    first = toolbox.call("search_code", {"query": "where is a berth assigned"})
    assert first.error is None
    assert "there is no such model" in str(first.structured)
    again = toolbox.call("search_code", {"query": "who pays for the berth"})
    assert "there is no such model" not in str(again.structured)
    assert "there is no such model" in state_of(toolbox)["upgrade"]["problem"]
