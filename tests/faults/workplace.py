"""A repository and its index, worked on by this process and by real commands."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from asterism.config.sections import IndexSettings, WorkSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.search import SearchReply, SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.indexing.report import SILENT, Listener, SyncReport
from asterism.store.registry import Registered
from tests.faults.generated_repository import make_repository
from tests.faults.whole_index import differences, violations, whole

ROOT = Path(__file__).resolve().parents[2]

# On a busy machine a command may take its time; a test that waits longer than this has failed.
PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where the repository, its index and the cache are."""

    home: Path

    @property
    def root(self) -> Path:
        """The repository."""
        return self.home / "repository"

    @property
    def data(self) -> Path:
        """Where indexes are."""
        return self.home / "data"

    def engine(self, data: Path | None = None) -> Engine:
        """An engine in this process, with small batches."""
        settings = Settings(index=IndexSettings(batch_bytes=1), work=WorkSettings(2))
        return Engine(
            DataDirectories(data or self.data, self.home / "cache"), lambda _root: settings
        )

    def registered(self) -> Registered:
        """The repository as the registry knows it."""
        return self.engine().register(self.root)

    @property
    def directory(self) -> Path:
        """Where the index of the repository is."""
        return self.registered().project.directory

    def index(self, listener: Listener = SILENT, force: bool = False) -> SyncReport:
        """Bring the index up to date."""
        return self.engine().index(self.registered(), listener, force)

    def search(self, text: str, data: Path | None = None) -> SearchReply:
        """Ask the index, by a process that has kept nothing."""
        engine = self.engine(data)
        try:
            return engine.search(engine.register(self.root), SearchRequest(text=text))
        finally:
            engine.close()

    def check(self) -> None:
        """The index is whole, up to date, and what a fresh one would be."""
        engine, fresh = self.engine(), self.engine(self.home / "fresh")
        for mine in engine.registry.repositories():
            assert not engine.index(mine).did_something
            other = fresh.register(Path(mine.repository.root), project=mine.project.name)
            fresh.index(other)
        for mine in engine.registry.repositories():
            (other,) = (
                entry
                for entry in fresh.registry.repositories()
                if entry.repository.root == mine.repository.root
            )
            assert not violations(mine.project.directory)
            found = differences(whole(mine.project.directory), whole(other.project.directory))
            assert found == []

    def start(self, *arguments: str, through: Sequence[str] = (), jobs: int = 2) -> "Command":
        """A real command in a process group of its own; `through` is what starts it."""
        return Command(
            subprocess.Popen(
                [*through, sys.executable, "-m", "asterism.cli", *arguments],
                cwd=self.root,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
                    "ASTERISM_DATA_DIR": str(self.data),
                    "ASTERISM_CACHE_DIR": str(self.home / "cache"),
                    "ASTERISM_WORK_JOBS": str(jobs),
                    "HOME": str(self.home),
                },
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        )

    def run(self, *arguments: str, through: Sequence[str] = ()) -> "Outcome":
        """A real command to its end."""
        return self.start(*arguments, through=through).outcome()


class Outcome(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


class Command(NamedTuple):
    """A command under way."""

    process: "subprocess.Popen[bytes]"

    def outcome(self) -> Outcome:
        """Wait for its end."""
        try:
            out, err = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()
            raise
        return Outcome(self.process.returncode, out.decode(), err.decode())


def workplace(home: Path, files: int = 14) -> Workplace:
    """A generated repository that has no index yet."""
    made = Workplace(home)
    make_repository(made.root, files)
    return made


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)
