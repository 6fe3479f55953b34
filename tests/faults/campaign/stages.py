"""Kills a writer when a stage of its work begins, right after one, or at any time."""

import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from asterism.engine.engine import Engine
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Registered
from asterism.types.errors import AsterismError, IndexMissing
from asterism.types.index import Staleness
from tests.faults.campaign.announcing_writer import (
    Scene,
    Writer,
    WriterFailed,
    age_versions,
    write_for_ever,
)
from tests.faults.campaign.forks import in_child
from tests.faults.campaign.ground import DISK_RATIO, size_of
from tests.faults.campaign.results import Result
from tests.faults.generated_repository import make_repository
from tests.faults.whole_index import differences, scores, violations, whole

FILES = 120

# Kills between two comparisons with a fresh index.
COMPARED_EVERY = 10

# What a killed writer may leave: an index that is behind, or that never began.
_SENSIBLE = {Staleness.content, Staleness.equal, Staleness.missing}

# Stages that every writer comes to soon, and in which it writes.
_WORTHWHILE = (
    "embedding",
    "table: append",
    "table: delete",
    "catalogue: commit",
    "catalogue: name version",
    "upkeep",
    "upkeep: old versions",
)


def run_stages(home: Path, kills: int, seed: int, files: int = FILES) -> Result:
    """Kill so many writers of one repository."""
    result = Result("killed at stages")
    # The table's library is not safe to fork after use: it is used in another process.
    ended = in_child(lambda: _run(home, kills, seed, files), seconds=60.0 * kills)
    if not isinstance(ended.value, Result):
        result.complain(f"seed {seed}", f"the inspector failed: {ended}")
        return result
    return ended.value


def _run(home: Path, kills: int, seed: int, files: int) -> Result:
    scene = Scene(home / "repository", home / "data", home / "cache")
    make_repository(scene.root, files)
    chance = Random(seed)
    inspector = _Inspector(scene, home / "fresh", seed)
    result = inspector.result
    last = 0
    writer = Writer(scene, chance.randrange(2**32))
    try:
        for kill in range(kills):
            if chance.random() < 0.06:
                inspector.forget_index()
            result.runs += 1
            try:
                inspector.struck(_strike(writer, chance, inspector.undone))
                result.orphans += writer.orphans
                if writer.orphans:
                    result.complain(f"kill {kill} of seed {seed}", "processes were left")
            except WriterFailed as error:
                result.tracebacks += "Traceback" in str(error)
                result.complain(f"kill {kill} of seed {seed}", f"the writer failed: {error}")
            # The next one loads its libraries while we look at what this one left.
            writer = Writer(scene, chance.randrange(2**32))
            inspector.inspect(kill)
            if chance.random() < (0.8 if inspector.undone else 0.2) and kill < kills - 1:
                # The next writer finds things as this one left them.
                continue
            inspector.repair(kill)
            if kill // COMPARED_EVERY > last or kill == kills - 1:
                last = kill // COMPARED_EVERY
                inspector.compare(kill)
    finally:
        writer.end()
    inspector.weigh()
    return result


def _strike(writer: Writer, chance: Random, undone: bool) -> str:
    """A third of the kills at any time, a third when something begins, a third right after it.

    A writer that finds something to undo is often killed at that.
    """
    way = chance.randrange(3)
    stage = chance.choice(_WORTHWHILE)
    if undone and chance.random() < 0.5:
        way, stage = chance.choice((1, 2)), "table: restore"
    if way == 0:
        writer.begin()
        return writer.kill_after(chance.uniform(0, chance.choice((0.05, 0.4, 1.5))))
    if way == 1:
        writer.begin()
        moment = chance.uniform(0, chance.choice((0.0005, 0.005, 0.02)))
        return writer.kill_at(stage, chance.choice((1, 1, 2, 3)), moment)
    writer.begin(chance.choice("+-") + stage)
    return writer.await_death()


class _Inspector:
    """Looks at what a killed writer left, and repairs it."""

    def __init__(self, scene: Scene, beside: Path, seed: int) -> None:
        self.result = Result("killed at stages")
        self.stages: Counter[str] = Counter()
        self.undone = False
        """Whether there is something for the next writer to undo."""
        self._scene = scene
        self._beside = beside
        self._seed = seed
        self._engine = scene.engine()
        self._registered = self._engine.register(scene.root)
        self._directory = self._registered.project.directory

    def struck(self, stage: str) -> None:
        """Count where the writer was."""
        self.stages[stage] += 1

    def forget_index(self) -> None:
        """Let the next writer begin with a first build."""
        shutil.rmtree(self._directory)
        self._directory.mkdir()

    def inspect(self, kill: int) -> None:
        """As a reader, before any repair."""
        self._guarded(kill, "could not be opened", lambda: self._read(kill))

    def repair(self, kill: int) -> None:
        """By indexing, after which a second time finds nothing to do."""
        self.undone = False
        if not self._guarded(kill, "could not be repaired", lambda: self._index_twice(kill)):
            self.result.not_mended += 1
            self._engine.index(self._registered, force=True)

    def compare(self, kill: int) -> None:
        """With an index of the same files that was built in one go, all vectors computed anew."""
        engine, fresh = self._fresh()
        engine.index(fresh)
        found = differences(whole(self._directory), whole(fresh.project.directory))
        if found:
            self.result.wrong += 1
            self._complain(kill, "differs from a fresh index: " + "; ".join(found))
            # One fault is to be counted once.
            self._engine.index(self._registered, force=True)

    def weigh(self) -> None:
        """What is left on the disk once old versions may go, beside an index built in one go."""
        engine, fresh = self._fresh()
        engine.index(fresh)
        for who, registered in ((self._engine, self._registered), (engine, fresh)):
            for _ in range(2):
                age_versions(registered)
                who.clean()
        mine, other = self._directory, fresh.project.directory
        self.result.disk = size_of(mine) / size_of(other)
        last = self.result.runs - 1
        if self.result.disk > DISK_RATIO:
            self._complain(last, f"{self.result.disk:.2f} times the disk of a fresh index")
        if scores(mine) != scores(other):
            self._complain(last, "scores differ from those of a fresh index")

    def _guarded(self, kill: int, what: str, work: Callable[[], None]) -> bool:
        try:
            work()
        except AsterismError as error:
            self._complain(kill, f"{what}: {error!r}")
            return False
        return True

    def _read(self, kill: int) -> None:
        state = self._engine.status(self._registered)
        if state.verdict.staleness not in _SENSIBLE or state.running:
            self._complain(kill, f"status said {state.verdict}, running {state.running}")
        try:
            with Catalogue.open(self._directory) as catalogue:
                version, name = catalogue.chunks_version(), catalogue.table.name
        except IndexMissing:
            # Nothing was committed, so nothing can be wrong.
            return
        self.undone = version != _newest(self._directory / name / "_versions")
        self._count(kill, "before the repair")

    def _index_twice(self, kill: int) -> None:
        self._engine.index(self._registered)
        second = self._engine.index(self._registered)
        after = self._engine.status(self._registered).verdict
        if second.did_something or after.staleness is not Staleness.equal:
            self.result.not_mended += 1
            self._complain(kill, f"not up to date: {second.sentence} {after.message}")
        self._count(kill, "after the repair")

    def _count(self, kill: int, when: str) -> None:
        found = violations(self._directory)
        self.result.lost += found.lost + found.orphans
        if found:
            self._complain(kill, f"{when}: {found}")

    def _complain(self, kill: int, what: str) -> None:
        self.result.complain(f"kill {kill} of seed {self._seed}", what)

    def _fresh(self) -> tuple[Engine, Registered]:
        shutil.rmtree(self._beside, ignore_errors=True)
        scene = Scene(self._scene.root, self._beside / "data", self._beside / "cache")
        engine = scene.engine()
        return engine, engine.register(scene.root)


def _newest(versions: Path) -> int:
    """The newest version of a table, by the names of its manifests, which count down."""
    names = [int(manifest.stem) for manifest in versions.glob("*.manifest")]
    return 2**64 - 1 - min(names) if names else 0


if __name__ == "__main__":
    number, *places = sys.argv[1:]
    write_for_ever(Scene(*map(Path, places)), int(number))
