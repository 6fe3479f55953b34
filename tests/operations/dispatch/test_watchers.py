"""Do servers keep the indexes they are asked about fresh, one of them at a time?"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from asterism.config.sections import IndexSettings, WatchSettings, WorkSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.indexing import lock
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from tests.servers.conftest import copy_of_harbor

# However slow the machine is; a test that waits so long has failed.
PATIENCE = 120.0


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lock, "TURN_SECONDS", 0.05)
    return copy_of_harbor(tmp_path)


@pytest.fixture
def serve(tmp_path: Path, repository: Path) -> Iterator[Callable[..., Toolbox]]:
    """Start a server on the example."""
    started: list[Toolbox] = []

    def start(watching: bool = True) -> Toolbox:
        settings = Settings(
            index=IndexSettings(sync_seconds=600),
            work=WorkSettings(jobs=1),
            watch=WatchSettings(debounce_ms=10, servers=watching),
        )
        engine = Engine(
            DataDirectories(tmp_path / "data", tmp_path / "cache"), lambda _root: settings
        )
        started.append(Toolbox(engine, Standpoint(repository, is_root=True)))
        return started[-1]

    yield start
    for toolbox in started:
        toolbox.close()


def watch_of(toolbox: Toolbox) -> dict[str, object]:
    return dict(toolbox.call("watch_status", {}).structured or {})


def files_in(toolbox: Toolbox) -> int:
    """What the index holds; asking for its state changes nothing."""
    statistics = (toolbox.call("index_status", {}).structured or {})["statistics"]
    return int(statistics["files"])


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def ask(toolbox: Toolbox) -> None:
    assert toolbox.call("search_code", {"query": "berth"}).error is None


def test_an_edit_is_indexed_without_a_question(
    serve: Callable[..., Toolbox], repository: Path
) -> None:
    toolbox = serve()
    toolbox.call("index_codebase", {})
    assert not watch_of(toolbox)["running"]
    ask(toolbox)
    until(lambda: bool(watch_of(toolbox)["running"]))
    before = files_in(toolbox)
    (repository / "tugboat.py").write_text("def pull_the_tugboat():\n    return 1\n")
    until(lambda: files_in(toolbox) == before + 1)


def test_of_two_servers_one_watches_until_it_ends(
    serve: Callable[..., Toolbox], repository: Path
) -> None:
    first, second = serve(), serve()
    first.call("index_codebase", {})
    ask(first)
    until(lambda: bool(watch_of(first)["running"]))
    (repository / "tugboat.py").write_text("def pull_the_tugboat():\n    return 1\n")
    until(lambda: watch_of(first)["syncs"] != 1)
    ask(second)
    first.close()
    # The other one takes over with a record of its own, which begins to count anew.
    until(lambda: watch_of(second)["syncs"] == 1)
    before = files_in(second)
    (repository / "barge.py").write_text("def load_the_barge():\n    return 1\n")
    until(lambda: files_in(second) == before + 1)


def test_the_user_may_forbid_it(serve: Callable[..., Toolbox]) -> None:
    toolbox = serve(watching=False)
    toolbox.call("index_codebase", {})
    ask(toolbox)
    assert toolbox._watchers._watches == {}
    assert not watch_of(toolbox)["running"]
