"""The watcher over real directories: what happens on disk is in the index soon after."""

import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Thread
from typing import NamedTuple

import pytest

from asterism.indexing.report import SyncReport
from asterism.indexing.watcher import (
    Outcome,
    Watched,
    Watcher,
    WatchState,
    load_watch,
    save_watch,
)
from asterism.types.errors import AsterismError, IndexMissing, PathMissing, ProviderDown
from asterism.types.index import Staleness
from tests.indexing.workshop import Workshop, workshop

# Long enough for a busy machine; a test that passes never waits so long.
PATIENCE_SECONDS = 60.0
DEBOUNCE_MS = 20

Files = dict[str, list[str]]


class Moment(NamedTuple):
    """The watcher and the index after one sync: chunk names by path."""

    state: WatchState
    files: Files


class Watch:
    """A watcher in a thread, and what the index held after each of its syncs."""

    def __init__(self, watched: Watched, look: Callable[[], Files]) -> None:
        self.moments: list[Moment] = []
        self.error: AsterismError | None = None
        self._look = look
        self._changed = Condition()
        self._watcher = Watcher(watched, DEBOUNCE_MS, self._record, retry_seconds=0.1)
        self._thread = Thread(target=self._run)

    def wait(self, holds: Callable[[Moment], bool]) -> Moment:
        """The first sync, past or to come, after which this holds."""
        with self._changed:
            self._changed.wait_for(
                lambda: self.error is not None or any(map(holds, self.moments)), PATIENCE_SECONDS
            )
            found = next(filter(holds, self.moments), None)
        assert found is not None, f"never happened; {self.error!r}; last {self.moments[-1:]}"
        return found

    def failure(self) -> AsterismError:
        """What ended the watcher."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.error is not None, PATIENCE_SECONDS)
        assert self.error is not None
        return self.error

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._watcher.stop.set()
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            for _ in self._watcher.run():
                pass
        except AsterismError as error:
            with self._changed:
                self.error = error
                self._changed.notify_all()

    def _record(self, state: WatchState) -> None:
        with self._changed:
            self.moments.append(Moment(state, self._look()))
            self._changed.notify_all()


@contextmanager
def watching(watched: Watched, look: Callable[[], Files] = dict) -> Iterator[Watch]:
    made = Watch(watched, look)
    made.start()
    try:
        yield made
    finally:
        made.end()


def left_out_of(shop: Workshop) -> Collection[str]:
    return [entry.path for entry in shop.index.catalogue.skipped(shop.repository.name)]


def look_at(shop: Workshop) -> Files:
    files: Files = {}
    for chunk in shop.chunks():
        files.setdefault(chunk.relative_path, []).append(chunk.name)
    return files


@contextmanager
def over(shop: Workshop) -> Iterator[Watch]:
    """A watcher over a workshop, after its first sync."""
    watched = Watched(shop.repository.root, shop.sync, lambda: left_out_of(shop))
    with watching(watched, lambda: look_at(shop)) as made:
        made.wait(lambda moment: moment.state.syncs == 1)
        yield made


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with workshop(tmp_path) as made:
        made.put("a.py", "def first():\n    return 1\n")
        made.put("lib/b.py", "def second():\n    return 2\n")
        yield made


def test_it_syncs_at_once(shop: Workshop) -> None:
    with over(shop) as watch:
        moment = watch.moments[0]
        assert moment.files == {"a.py": ["first"], "lib/b.py": ["second"]}
        assert (moment.state.outcome, moment.state.events) == (Outcome.done, 0)
        assert moment.state.pid == os.getpid()


def test_an_edit(shop: Workshop) -> None:
    with over(shop) as watch:
        (shop.root / "a.py").write_text("def changed():\n    return 1\n")
        moment = watch.wait(lambda moment: moment.files.get("a.py") == ["changed"])
    assert moment.state.outcome == Outcome.done
    assert moment.state.sentence.startswith("Files: 1 changed")
    assert moment.state.events > 0
    assert moment.state.last_event > 0


def test_a_new_file_in_a_new_directory(shop: Workshop) -> None:
    with over(shop) as watch:
        (shop.root / "deep" / "er").mkdir(parents=True)
        (shop.root / "deep" / "er" / "c.py").write_text("def third(): ...\n")
        watch.wait(lambda moment: moment.files.get("deep/er/c.py") == ["third"])
        # The new directory is watched as well.
        (shop.root / "deep" / "er" / "c.py").write_text("def fourth(): ...\n")
        watch.wait(lambda moment: moment.files.get("deep/er/c.py") == ["fourth"])


def test_a_deleted_file(shop: Workshop) -> None:
    with over(shop) as watch:
        (shop.root / "a.py").unlink()
        watch.wait(lambda moment: list(moment.files) == ["lib/b.py"])


def test_a_renamed_file_and_a_renamed_directory(shop: Workshop) -> None:
    with over(shop) as watch:
        (shop.root / "a.py").rename(shop.root / "z.py")
        (shop.root / "lib").rename(shop.root / "library")
        watch.wait(lambda moment: moment.files == {"library/b.py": ["second"], "z.py": ["first"]})


def test_an_editor_that_writes_beside_and_renames(shop: Workshop) -> None:
    with over(shop) as watch:
        beside = shop.root / ".a.py.swp"
        beside.write_text("def saved(): ...\n")
        beside.replace(shop.root / "a.py")
        watch.wait(lambda moment: moment.files.get("a.py") == ["saved"])


def test_another_branch_with_two_hundred_files(shop: Workshop) -> None:
    for number in range(200):
        shop.put(f"many/m{number}.py", f"def old{number}(): ...\n")
    with over(shop) as watch:
        for number in range(100):
            (shop.root / f"many/m{number}.py").write_text(f"def new{number}(): ...\n")
        for number in range(100, 200):
            (shop.root / f"many/m{number}.py").unlink()
        for number in range(200, 300):
            (shop.root / f"many/m{number}.py").write_text(f"def new{number}(): ...\n")
        numbers = [*range(100), *range(200, 300)]
        wanted = {f"many/m{number}.py": [f"new{number}"] for number in numbers}
        wanted |= {"a.py": ["first"], "lib/b.py": ["second"]}
        moment = watch.wait(lambda moment: moment.files == wanted)
    # Many events, few syncs.
    assert moment.state.events >= 300
    assert moment.state.syncs < 100


@pytest.mark.parametrize("name", [".gitignore", ".asterismignore", "lib/.gitignore"])
def test_a_new_ignore_rule(shop: Workshop, name: str) -> None:
    with over(shop) as watch:
        (shop.root / name).write_text("b.py\n")
        watch.wait(lambda moment: "lib/b.py" not in moment.files and "a.py" in moment.files)
        (shop.root / name).write_text("# nothing\n")
        watch.wait(
            lambda moment: moment.state.syncs > 2 and moment.files.get("lib/b.py") == ["second"]
        )


def test_a_rule_inside_an_ignored_directory_counts(shop: Workshop) -> None:
    """`.git` is left out, but its own excludes decide what is indexed."""
    git = shop.root / ".git"
    (git / "info").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    with over(shop) as watch:
        assert ".git/" in left_out_of(shop)
        (git / "info" / "exclude").write_text("/a.py\n")
        watch.wait(lambda moment: list(moment.files) == ["lib/b.py"])


def test_what_happens_where_nothing_is_indexed_does_not_count(shop: Workshop) -> None:
    shop.put(".gitignore", "build/\n*.log\n")
    shop.put("build/made.py", "def made(): ...\n")
    for number in range(300):
        shop.put(f"run{number}.log", "started\n")
    with over(shop) as watch:
        before = watch.moments[0].state
        for number in range(300):
            (shop.root / "build" / f"made{number}.py").write_text("x = 1\n")
            (shop.root / f"run{number}.log").write_text("running\n")
        beside = shop.root.parent / "marker.py"
        beside.write_text("def marker(): ...\n")
        beside.rename(shop.root / "marker.py")
        after = watch.wait(lambda moment: moment.files.get("marker.py") == ["marker"])
    # The system tells what happened in order, so the marker's own events are the last ones.
    assert 0 < after.state.events - before.events < 10
    assert all("marker.py" in moment.files for moment in watch.moments[1:])


def test_the_root_is_deleted(shop: Workshop) -> None:
    with over(shop) as watch:
        shutil.rmtree(shop.root)
        error = watch.failure()
    assert isinstance(error, PathMissing)
    assert str(error).endswith("repository is gone; nothing is left to watch.")
    # What is gone from sight is not gone from the index.
    assert sorted(look_at(shop)) == ["a.py", "lib/b.py"]


def test_there_is_no_root(shop: Workshop, tmp_path: Path) -> None:
    watched = Watched(str(tmp_path / "nowhere"), shop.sync, tuple)
    with watching(watched) as watch:
        assert isinstance(watch.failure(), PathMissing)
    assert watch.moments == []


def test_another_directory_in_the_roots_place(shop: Workshop, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "n.py").write_text("def new(): ...\n")
    root = tmp_path / "here"
    root.symlink_to(shop.root)
    shop.repository = shop.repository._replace(root=str(root))
    with over(shop) as watch:
        (tmp_path / "next").symlink_to(other)
        (tmp_path / "next").replace(root)
        watch.wait(lambda moment: moment.files == {"n.py": ["new"]})
        # It is the new directory that is watched now.
        (other / "o.py").write_text("def newer(): ...\n")
        watch.wait(lambda moment: moment.files.get("o.py") == ["newer"])


def test_a_provider_that_is_down_is_asked_again(shop: Workshop) -> None:
    with over(shop) as watch:
        shop.embedder.fail_after = 0
        (shop.root / "a.py").write_text("def later(): ...\n")
        failed = watch.wait(lambda moment: moment.state.outcome == Outcome.failed)
        assert "as it was told to" in failed.state.sentence
        assert failed.files["a.py"] == ["first"]
        shop.embedder.fail_after = None
        done = watch.wait(lambda moment: moment.files.get("a.py") == ["later"])
    assert done.state.outcome == Outcome.done
    assert done.state.syncs > failed.state.syncs


def test_no_index_to_begin_with_is_no_end(tmp_path: Path) -> None:
    """Where the very first sync fails, there is nothing yet that could say what is left out."""
    ready: list[bool] = []

    def sync() -> SyncReport:
        if not ready:
            raise ProviderDown("not yet")
        return SyncReport(before=Staleness.missing, files=1, added=1)

    def left_out() -> list[str]:
        if not ready:
            raise IndexMissing("no index")
        return []

    with watching(Watched(str(tmp_path), sync, left_out)) as watch:
        first = watch.wait(lambda moment: moment.state.syncs == 2).state
        assert (first.outcome, first.sentence) == (Outcome.failed, "not yet")
        ready.append(True)
        watch.wait(lambda moment: moment.state.outcome == Outcome.done)


def test_the_record_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "watch-shop.json"
    assert load_watch(file) is None
    state = WatchState(os.getpid(), 1.5, 2.5, 3, 4, "Files: 1 added.", Outcome.done)
    save_watch(file, state)
    assert load_watch(file) == state
    assert state.running
    for broken in ("", "[]", '{"pid": 1, "unheard_of": 2}'):
        file.write_text(broken)
        assert load_watch(file) is None


def test_a_record_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    save_watch(tmp_path / "no" / "watch.json", WatchState(1, 1.0))
    assert list(tmp_path.iterdir()) == []
