"""A process that changes a repository and indexes it for ever, to be killed at any moment."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from asterism.config.sections import IndexSettings, WorkSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.indexing import plan, sync
from asterism.indexing.index import VectorSource
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.lance import upkeep
from asterism.store.lance.table import LanceTable
from asterism.store.registry import Registered
from tests.faults.campaign.forks import await_end
from tests.faults.generated_repository import change
from tests.faults.kinship import Kin

ROOT = Path(__file__).resolve().parents[3]

STAGES = (
    "changing files",
    "opening",
    "listing",
    "reading",
    "writing",
    "embedding",
    "table: append",
    "table: delete",
    "table: restore",
    "catalogue: commit",
    "catalogue: name version",
    "upkeep",
    "upkeep: old versions",
    "cleaning",
)
"""What a writer may be doing. Each is announced when it begins and when it ends."""

# So small that every packet of files is a batch of its own.
_BATCH_BYTES = 1
_HOURS_NS = 2 * 3600 * 10**9
# How long a writer may take to come to the stage at which it is to be killed; then it is anyhow.
_PATIENCE = 2.0


class Scene(NamedTuple):
    """Where a writer works."""

    root: Path
    data: Path
    cache: Path

    def engine(self, cache: Path | None = None) -> Engine:
        """An engine that commits many small batches and reads with two processes."""
        settings = Settings(index=IndexSettings(batch_bytes=_BATCH_BYTES), work=WorkSettings(2))
        return Engine(DataDirectories(self.data, cache or self.cache), lambda _root: settings)


def age_versions(registered: Registered) -> None:
    """Let the versions of a table look as if they had been there for hours."""
    for manifest in registered.project.directory.glob("*.lance/_versions/*.manifest"):
        moment = manifest.stat().st_mtime_ns - _HOURS_NS
        os.utime(manifest, ns=(moment, moment))


def write_for_ever(scene: Scene, seed: int) -> None:
    """Announce `ready`, wait for a line, then change and index until the end."""
    _load_everything()
    for owner, name, stage in (
        (plan, "discover", "listing"),
        (sync._Work, "_read", "reading"),
        (sync._Work, "_write", "writing"),
        (VectorSource, "vectors", "embedding"),
        (LanceTable, "append", "table: append"),
        (LanceTable, "delete", "table: delete"),
        (LanceTable, "restore", "table: restore"),
        (LanceTable, "maintain", "upkeep"),
        (upkeep, "remove_versions", "upkeep: old versions"),
        (Catalogue, "commit", "catalogue: commit"),
        (Catalogue, "set_chunks_version", "catalogue: name version"),
    ):
        setattr(owner, name, _announced(getattr(owner, name), stage))
    chance = Random(seed)
    engine = scene.engine()
    _announce("ready")
    _Death.line = sys.stdin.readline().rstrip("\n")
    registered = engine.register(scene.root)
    changing = _announced(change, "changing files")
    indexing = _announced(engine.index, "opening")
    cleaning = _announced(engine.clean, "cleaning")
    while True:
        changing(scene.root, chance)
        indexing(registered, force=chance.random() < 0.12)
        if chance.random() < 0.2:
            age_versions(registered)
            cleaning()


def _load_everything() -> None:
    """Import now what a sync would import, so that the time until a kill is spent on work."""
    import lance
    import pyarrow
    import tokenizers

    import asterism.indexing.write

    assert lance
    assert pyarrow
    assert tokenizers
    assert asterism.indexing.write


class _Death:
    """The announcement after which the process kills itself, if there is one."""

    line = ""


def _announce(line: str) -> None:
    os.write(1, f"{line}\n".encode())
    if line == _Death.line:
        os.kill(os.getpid(), signal.SIGKILL)


def _announced(work: Callable[..., Any], stage: str) -> Callable[..., Any]:
    def announced(*arguments: Any, **named: Any) -> Any:
        _announce(f"+{stage}")
        result = work(*arguments, **named)
        _announce(f"-{stage}")
        return result

    return announced


def _under_way(lines: list[str]) -> str:
    """The innermost stage that has begun and not ended; with a minus the one just ended."""
    if lines[-1].startswith("-"):
        return lines[-1]
    open_stages: list[str] = []
    for line in lines:
        if line.startswith("+"):
            open_stages.append(line[1:])
        elif line.startswith("-"):
            open_stages.remove(line[1:])
    return open_stages[-1] if open_stages else "opening"


class Writer:
    """Such a process, seen from outside."""

    def __init__(self, scene: Scene, seed: int) -> None:
        """Start it; it loads its libraries and waits."""
        command = [sys.executable, "-m", "tests.faults.campaign.stages", str(seed)]
        self._kin = Kin()
        self.orphans = 0
        self._process = subprocess.Popen(
            [*command, *map(str, scene)],
            cwd=ROOT,
            env={**os.environ, **self._kin.variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._heard = b""

    def begin(self, death: str = "") -> None:
        """Let it work, once it is ready; it may be told the announcement at which to die."""
        assert self._process.stdin is not None
        self._until(lambda: b"ready\n" in self._heard, 60)
        if b"ready\n" not in self._heard:
            self._kill()
            raise WriterFailed("it was not ready within a minute")
        self._process.stdin.write(f"{death}\n".encode())
        self._process.stdin.flush()

    def kill_after(self, seconds: float) -> str:
        """Kill it after a time; what it was doing."""
        self._until(lambda: False, seconds)
        return self._kill()

    def await_death(self) -> str:
        """Wait until it has killed itself; what it was doing."""
        self._until(lambda: False, _PATIENCE)
        return self._kill()

    def kill_at(self, stage: str, times: int, seconds: float) -> str:
        """Kill it when a stage has begun so many times, a moment later; what it was doing."""
        line = f"\n+{stage}\n".encode()
        self._until(lambda: self._heard.count(line) >= times, _PATIENCE)
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
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)
        # Its workers have to end by themselves.
        self.orphans = len(await_end(self._kin))
        rest, complaint = self._process.communicate()
        if died not in (None, -signal.SIGKILL):
            raise WriterFailed(complaint.decode(errors="replace"))
        return _under_way((self._heard + rest).decode().splitlines())

    def end(self) -> None:
        """Kill one that is not needed."""
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGKILL)
        self._process.communicate()


class WriterFailed(Exception):
    """The writer ended by itself, which it never should."""
