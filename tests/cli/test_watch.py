"""`asterism watch` as a process: what it prints, how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest

from tests.cli.conftest import ROOT, Run, spawn
from tests.store.spoiling import change_catalogue

# Long enough for a busy machine; a watcher that works needs much less.
PATIENCE_SECONDS = 120.0


class Watching:
    """The command in a process of its own, and the lines it prints, one by one."""

    def __init__(self, where: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "asterism.cli", "watch", *arguments],
            cwd=where,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "ASTERISM_WATCH_DEBOUNCE_MS": "20"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: Queue[str] = Queue()
        self._reader = Thread(target=self._read)
        self._reader.start()

    def line(self) -> str:
        """The next line, without its time."""
        stamp, _, words = self._lines.get(timeout=PATIENCE_SECONDS).partition(" ")
        assert stamp.count(":") >= 1
        return words

    def end(self, number: int) -> int:
        """Send a signal; the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        return self.process.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))


@contextmanager
def watching(where: Path, *arguments: str) -> Iterator[Watching]:
    made = Watching(where, *arguments)
    try:
        yield made
    finally:
        made.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_indexes_follows_and_ends(
    run: Run, repository: Path, places: Path, number: signal.Signals
) -> None:
    with watching(repository) as watch:
        assert watch.line() == (
            f"Indexed 4 files: 9 chunks written (9 embedded). Watching {repository}; Ctrl-C ends it."
        )
        (places / "new.py").write_text("def new(): ...\n")
        # At once: a file that is seen before it is written to would make two lines.
        (places / "new.py").rename(repository / "new.py")
        assert watch.line().startswith("Files: 1 added: 1 chunk written")
        (repository / "new.py").unlink()
        assert watch.line().startswith("Files: 1 removed")
        watcher = json.loads(run("status", "--json").out)["watcher"]
        assert (watcher["pid"], watcher["running"]) == (watch.process.pid, True)
        assert watch.end(number) == 0
        assert watch.line() == (
            "Ended; the index stays as it is. `asterism index` brings it up to date."
        )
    assert run("status").code == 0


def files_held(run: Run) -> int:
    """How many files the index has, asked without bringing it up to date."""
    (entry,) = json.loads(run("repos", "--json").out)["repositories"]
    return int(entry["files"])


def test_quiet(run: Run, indexed: Path) -> None:
    with watching(indexed, ".", "--quiet") as watch:
        before = files_held(run)
        (indexed / "new.py").write_text("def new(): ...\n")
        # The index follows, and nothing is printed about it.
        deadline = time.monotonic() + PATIENCE_SECONDS
        while files_held(run) == before:
            assert time.monotonic() < deadline
        assert watch.end(signal.SIGTERM) == 0
        watch._reader.join()
        assert watch._lines.empty()


def test_the_root_goes_away(indexed: Path, tmp_path: Path) -> None:
    with watching(tmp_path, str(indexed)) as watch:
        assert "Watching" in watch.line()
        for path in sorted(indexed.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        indexed.rmdir()
        lines = [watch.line()]
        while "is gone" not in lines[-1]:
            lines.append(watch.line())
        assert lines[-1] == f"{indexed} is gone; nothing is left to watch."
        assert watch.wait() == 2


WRONG = {
    "missing path": (["no"], "no does not exist"),
    "a file": (["main.py"], "main.py is not a directory"),
    "unknown option": (["--fast"], "unrecognized arguments: --fast"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_one_line(run: Run, indexed: Path, case: str) -> None:
    arguments, expected = WRONG[case]
    done = run("watch", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert expected in done.err


def test_what_is_wrong_at_the_start_ends_it(indexed: Path, places: Path) -> None:
    (catalogue,) = (places / "data").rglob("catalogue.sqlite")
    change_catalogue(catalogue.parent, "PRAGMA user_version = 999")
    done = spawn(["watch"], indexed)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "build the index again with `asterism index --force`" in done.err
