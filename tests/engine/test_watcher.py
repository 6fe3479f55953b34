"""The engine's watcher: what it leaves out, and the record that status shows."""

from pathlib import Path
from threading import Thread

from asterism.engine.engine import Engine
from asterism.indexing.watcher import Outcome, Watcher
from tests.engine.conftest import make


def test_ignored_files_do_not_wake_it(engine: Engine, tmp_path: Path) -> None:
    root = make(tmp_path / "shop", a="def first(): ...\n")
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    (root / "build").mkdir()
    for name in ("run.log", ".env", "data.bin"):
        (root / name).write_bytes(b"\0started\n")
    watcher = engine.watcher(engine.register(root))
    watched = watcher.watched
    assert watched.sync().added == 2
    assert sorted(watched.left_out()) == [".env", "build/", "run.log"]


def test_status_shows_what_it_saw(engine: Engine, tmp_path: Path) -> None:
    root = make(tmp_path / "shop", a="def first(): ...\n")
    registered = engine.register(root)
    watcher = engine.watcher(registered, lambda _state: watcher.stop.set())
    thread = Thread(target=_drain, args=[watcher])
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    seen = engine.status(registered).watcher
    assert seen == watcher.state
    assert seen is not None
    assert (seen.syncs, seen.outcome, seen.running) == (1, Outcome.done, True)
    assert seen.sentence.startswith("Indexed 1 file")


def _drain(watcher: Watcher) -> None:
    for _ in watcher.run():
        pass
