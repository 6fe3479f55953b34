"""Kills a process while it indexes, again and again, and checks what is left each time.

Run it as `python -m tests.faults.kill_writer --kills 200 --seed 1`; it prints a table.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.registry import Registered
from asterism.domain.errors import AsterismError, IndexMissing
from asterism.domain.index import Staleness
from asterism.engine.engine import Engine
from tests.faults.generated_repository import make_repository
from tests.faults.killed_writer import (
    STAGES,
    Scene,
    Writer,
    WriterFailed,
    age_versions,
    write_for_ever,
)
from tests.faults.whole_index import Violations, differences, scores, violations, whole

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


@dataclass
class Tally:
    """What came of all kills."""

    stages: Counter[str] = field(default_factory=Counter)
    uncommitted: int = 0
    """Kills that left something in the chunk table that the next writer had to undo."""
    opens_failed: int = 0
    violated: int = 0
    lost: int = 0
    orphans: int = 0
    compared: int = 0
    different: int = 0
    writers_failed: int = 0
    complaints: list[str] = field(default_factory=list)
    seconds: float = 0.0
    table_bytes: tuple[int, int] = (0, 0)
    """Of the chunk table after cleaning, and of a fresh one."""
    catalogue_bytes: tuple[int, int] = (0, 0)

    @property
    def kills(self) -> int:
        """How many there were."""
        return self.stages.total()

    def complain(self, kill: int, what: str) -> None:
        """Note something that should not be."""
        self.complaints.append(f"kill {kill}: {what}")


def run(directory: Path, kills: int, seed: int, fresh_every: int = 10, files: int = 120) -> Tally:
    """Kill so many writers of one repository, and say what was found."""
    scene = Scene(directory / "repository", directory / "data", directory / "cache")
    make_repository(scene.root, files)
    chance = Random(seed)
    inspector = _Inspector(scene, directory / "fresh")
    tally = inspector.tally
    began = time.monotonic()
    last = 0
    writer = Writer(scene, chance.randrange(2**32))
    try:
        for kill in range(kills):
            if chance.random() < 0.06:
                inspector.forget_index()
            try:
                tally.stages[_strike(writer, chance, inspector.undone)] += 1
            except WriterFailed as error:
                tally.writers_failed += 1
                tally.stages["died by itself"] += 1
                tally.complain(kill, f"the writer failed: {error}")
            # The next one loads its libraries while we look at what this one left.
            writer = Writer(scene, chance.randrange(2**32))
            inspector.inspect(kill)
            if chance.random() < (0.8 if inspector.undone else 0.2) and kill < kills - 1:
                # The next writer finds things as this one left them.
                continue
            inspector.repair(kill)
            if kill // fresh_every > last or kill == kills - 1:
                last = kill // fresh_every
                inspector.compare(kill)
    finally:
        writer.end()
    inspector.weigh()
    tally.seconds = time.monotonic() - began
    return tally


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

    def __init__(self, scene: Scene, beside: Path) -> None:
        self.tally = Tally()
        self.undone = False
        """Whether there is something for the next writer to undo."""
        self._scene = scene
        self._beside = beside
        self._engine = scene.engine()
        self._registered = self._engine.register(scene.root)
        self._directory = self._registered.project.directory

    def forget_index(self) -> None:
        """Let the next writer begin with a first build."""
        shutil.rmtree(self._directory)
        self._directory.mkdir()

    def inspect(self, kill: int) -> None:
        """As a reader, before anything is mended."""
        tally = self.tally
        try:
            found = self._read(kill)
            tally.lost += found.lost
            tally.orphans += found.orphans
            if found:
                tally.violated += 1
                tally.complain(kill, f"before repair: {found}")
        except AsterismError as error:
            tally.opens_failed += 1
            tally.complain(kill, f"could not be opened: {error!r}")

    def repair(self, kill: int) -> None:
        """By indexing, after which a second time finds nothing to do."""
        self.undone = False
        try:
            self._index_twice(kill)
        except AsterismError as error:
            self.tally.opens_failed += 1
            self.tally.complain(kill, f"could not be brought up to date: {error!r}")
            self._engine.index(self._registered, force=True)

    def _read(self, kill: int) -> Violations:
        state = self._engine.status(self._registered)
        if state.judgement.staleness not in _SENSIBLE or state.running:
            self.tally.complain(kill, f"status said {state.judgement}, running {state.running}")
        try:
            with Catalogue.open(self._directory) as catalogue:
                version = catalogue.chunks_version()
        except IndexMissing:
            # Nothing was committed, so nothing can be wrong.
            return Violations()
        table = self._directory / "chunks.lance" / "_versions"
        self.undone = version != _newest(table)
        self.tally.uncommitted += self.undone
        return violations(self._directory)

    def _index_twice(self, kill: int) -> None:
        self._engine.index(self._registered)
        second = self._engine.index(self._registered)
        after = self._engine.status(self._registered).judgement
        if second.did_something or after.staleness is not Staleness.equal:
            self.tally.complain(kill, f"not up to date: {second.sentence} {after.message}")
        found = violations(self._directory)
        if found:
            self.tally.violated += 1
            self.tally.complain(kill, f"after repair: {found}")

    def compare(self, kill: int) -> None:
        """With an index of the same files that was built in one go, all vectors computed anew."""
        self.tally.compared += 1
        engine, fresh = self._fresh()
        engine.index(fresh)
        found = differences(whole(self._directory), whole(fresh.project.directory))
        if found:
            self.tally.different += 1
            self.tally.complain(kill, "differs from a fresh index: " + "; ".join(found))
            # One fault is to be counted once.
            self._engine.index(self._registered, force=True)

    def weigh(self) -> None:
        """What is left on the disk once old versions may go, beside an index built in one go."""
        engine, fresh = self._fresh()
        engine.index(fresh)
        for who, registered in ((self._engine, self._registered), (engine, fresh)):
            who.clean()
            age_versions(registered)
            who.clean()
        mine, other = self._directory, fresh.project.directory
        table = "chunks.lance"
        self.tally.table_bytes = _size(mine / table), _size(other / table)
        everything = _size(mine), _size(other)
        self.tally.catalogue_bytes = (
            everything[0] - self.tally.table_bytes[0],
            everything[1] - self.tally.table_bytes[1],
        )
        if scores(mine) != scores(other):
            self.tally.complain(self.tally.kills, "scores differ from those of a fresh index")

    def _fresh(self) -> tuple[Engine, Registered]:
        shutil.rmtree(self._beside, ignore_errors=True)
        scene = Scene(self._scene.root, self._beside / "data", self._beside / "cache")
        engine = scene.engine()
        return engine, engine.register(scene.root)


def _newest(versions: Path) -> int:
    """The newest version of a table, by the names of its manifests, which count down."""
    names = [int(manifest.stem) for manifest in versions.glob("*.manifest")]
    return 2**64 - 1 - min(names) if names else 0


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def table(tally: Tally) -> str:
    """The result as Markdown."""
    stages = tally.stages
    lines = [
        "| killed | while it ran | right after it |",
        "| --- | ---: | ---: |",
        *(f"| {stage} | {stages[stage]} | {stages[f'-{stage}']} |" for stage in STAGES),
        "",
        "| found | count |",
        "| --- | ---: |",
        f"| kills | {tally.kills} |",
        f"| uncommitted versions to undo | {tally.uncommitted} |",
        f"| indexes that could not be opened or brought up to date | {tally.opens_failed} |",
        f"| invariants violated | {tally.violated} |",
        f"| committed rows lost | {tally.lost} |",
        f"| rows without a file | {tally.orphans} |",
        f"| comparisons with a fresh index | {tally.compared} |",
        f"| of these different | {tally.different} |",
        f"| writers that failed by themselves | {tally.writers_failed} |",
        "| bytes of the chunk table after `asterism clean`, and of a fresh one |"
        f" {tally.table_bytes[0]:,}, {tally.table_bytes[1]:,} |",
        "| bytes of everything else in the project's directory, and beside a fresh one |"
        f" {tally.catalogue_bytes[0]:,}, {tally.catalogue_bytes[1]:,} |",
        f"| seconds | {tally.seconds:.0f} |",
    ]
    return "\n".join(lines)


def main() -> int:
    """Run and print; exit 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fresh-every", type=int, default=10, help="kills between comparisons")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        seed, *places = options.child
        write_for_ever(Scene(*map(Path, places)), int(seed))
    with tempfile.TemporaryDirectory() as directory:
        tally = run(Path(directory), options.kills, options.seed, options.fresh_every)
    sys.stdout.write(table(tally) + "\n")
    sys.stderr.write("".join(f"{complaint}\n" for complaint in tally.complaints))
    return 1 if tally.complaints else 0


if __name__ == "__main__":
    raise SystemExit(main())
