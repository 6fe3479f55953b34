"""A process that changes a repository and indexes it for ever, to be killed at any moment."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from asterism.backends.store import lance_upkeep
from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.lance_table import LanceTable
from asterism.backends.store.registry import Registered
from asterism.config.settings import IndexSettings, Settings, WorkSettings
from asterism.engine.engine import Engine
from asterism.engine.wiring import Places
from asterism.indexing.progress import Listener, Progress
from tests.faults.generated_repository import change

ROOT = Path(__file__).resolve().parents[2]

STAGES = (
    "changing files",
    "listing",
    "reading",
    "writing",
    "finishing",
    "table: append",
    "table: delete",
    "table: restore",
    "catalogue: commit",
    "catalogue: name version",
    "upkeep",
    "upkeep: old versions",
)
"""What a writer may be doing; each is announced when it begins."""

# So small that every packet of files is a batch of its own.
_BATCH_BYTES = 1
_HOUR_NS = 2 * 3600 * 10**9


class Scene(NamedTuple):
    """Where a writer works."""

    root: Path
    data: Path
    cache: Path

    def engine(self, cache: Path | None = None) -> Engine:
        """An engine that commits many small batches and reads with two processes."""
        settings = Settings(index=IndexSettings(batch_bytes=_BATCH_BYTES), work=WorkSettings(2))
        return Engine(Places(self.data, cache or self.cache), lambda _root: settings)


def age_versions(registered: Registered) -> None:
    """Let the versions of a table look as if they had been there for hours."""
    for manifest in (registered.project.directory / "chunks.lance" / "_versions").glob("*"):
        moment = manifest.stat().st_mtime_ns - _HOUR_NS
        os.utime(manifest, ns=(moment, moment))


def write_for_ever(scene: Scene, seed: int) -> None:
    """Announce `ready`, wait for a line, then change and index until the end."""
    _load_everything()
    for owner, name, stage in (
        (LanceTable, "append", "table: append"),
        (LanceTable, "delete", "table: delete"),
        (LanceTable, "restore", "table: restore"),
        (LanceTable, "maintain", "upkeep"),
        (lance_upkeep, "remove_versions", "upkeep: old versions"),
        (Catalogue, "commit", "catalogue: commit"),
        (Catalogue, "set_chunks_version", "catalogue: name version"),
    ):
        setattr(owner, name, _announced(getattr(owner, name), stage))
    chance = Random(seed)
    engine = scene.engine()
    _announce("ready")
    sys.stdin.readline()
    registered = engine.register(scene.root)
    while True:
        _announce("changing files")
        change(scene.root, chance)
        engine.index(registered, Listener(_hear), force=chance.random() < 0.12)
        if chance.random() < 0.2:
            age_versions(registered)
            engine.clean()


def _load_everything() -> None:
    """Import now what a sync would import, so that the time until a kill is spent on work."""
    import lance
    import pyarrow
    import tokenizers

    import asterism.indexing.reembedding
    import asterism.indexing.writing

    assert lance
    assert pyarrow
    assert tokenizers
    assert asterism.indexing.reembedding
    assert asterism.indexing.writing


def _announce(stage: str) -> None:
    os.write(1, f"{stage}\n".encode())


def _hear(progress: Progress) -> None:
    _announce(progress.stage.value)


def _announced(work: Callable[..., Any], stage: str) -> Callable[..., Any]:
    def announced(*arguments: Any, **named: Any) -> Any:
        _announce(stage)
        result = work(*arguments, **named)
        _announce(f"after {stage}")
        return result

    return announced


class Writer:
    """Such a process, seen from outside."""

    def __init__(self, scene: Scene, seed: int) -> None:
        """Start it; it loads its libraries and waits."""
        command = [sys.executable, "-m", "tests.faults.kill_writer", "--child", str(seed)]
        self._process = subprocess.Popen(
            [*command, *map(str, scene)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._heard = b""

    def begin(self) -> None:
        """Let it work, once it is ready."""
        assert self._process.stdin is not None
        self._until(lambda: b"ready\n" in self._heard, 60)
        self._process.stdin.write(b"go\n")
        self._process.stdin.flush()

    def kill_after(self, seconds: float) -> str:
        """Kill it with all its processes after a time; what it was doing."""
        self._until(lambda: False, seconds)
        return self._kill()

    def kill_at(self, stage: str, times: int, seconds: float) -> str:
        """Kill it when a stage has begun so many times, a moment later; what it was doing."""
        line = f"\n{stage}\n".encode()
        self._until(lambda: self._heard.count(line) >= times, 4)
        time.sleep(seconds)
        return self._kill()

    def _until(self, enough: Callable[[], bool], seconds: float) -> None:
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        while not enough() and (left := deadline - time.monotonic()) > 0:
            if select.select([self._process.stdout], [], [], left)[0]:
                some = os.read(self._process.stdout.fileno(), 65536)
                if not some:
                    return
                self._heard += some

    def _kill(self) -> str:
        died = self._process.poll()
        os.killpg(self._process.pid, signal.SIGKILL)
        rest, complaint = self._process.communicate()
        if died is not None:
            raise WriterFailed(complaint.decode(errors="replace"))
        stages = [line for line in (self._heard + rest).decode().splitlines() if line]
        return stages[-1]

    def end(self) -> None:
        """Kill one that is not needed."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


class WriterFailed(Exception):
    """The writer ended by itself, which it never should."""
