"""Faults at every call that reads or writes below the data directory, one run for each call."""

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.faults.campaign.forks import Ended, command, in_child
from tests.faults.campaign.ground import (
    SEARCH,
    Examiner,
    Expected,
    Ground,
    enter,
    expected,
    hits_in,
    make_ground,
    remove,
)
from tests.faults.campaign.layer import Arming, Fault, arm, disarm
from tests.faults.campaign.results import Result
from tests.faults.generated_repository import change, files_of

FILES = 14


class Scenario(NamedTuple):
    """A command, and what it finds."""

    words: tuple[str, ...]
    prepare: Callable[[Ground], None]


def _nothing(_ground: Ground) -> None:
    """No index."""


def _indexed(ground: Ground) -> None:
    """An index of several generations that is up to date."""
    _changed(ground)
    assert ground.do(("index",)).code == 0


def _changed(ground: Ground) -> None:
    """An index, and files that are not as it knows them."""
    assert ground.do(("index",)).code == 0
    # One file only, so that some rows stay; then many.
    first = files_of(ground.root)[0]
    first.write_text(first.read_text().replace("total", "sum"), encoding="utf-8")
    assert ground.do(("index",)).code == 0
    chance = Random(5)
    for _ in range(3):
        change(ground.root, chance)


SCENARIOS = {
    "first build": Scenario(("index",), _nothing),
    "sync": Scenario(("index",), _changed),
    "search that syncs": Scenario(SEARCH, _changed),
    "rebuild": Scenario(("index", "--force"), _indexed),
    "clean": Scenario(("clean",), _indexed),
    "search": Scenario(SEARCH, _indexed),
}

WRITE_FAULTS = (Fault.kill, Fault.full, Fault.broken, Fault.read_only)


class _Prepared(NamedTuple):
    """A scenario with the data directory that each of its runs begins with."""

    ground: Ground
    words: tuple[str, ...]
    kept: Path
    wanted: Expected

    def reset(self) -> None:
        """The state before the command."""
        for name, place in (("data", self.ground.data), ("cache", self.ground.cache)):
            remove(place)
            if (self.kept / name).exists():
                shutil.copytree(self.kept / name, place, symlinks=True)
            else:
                place.mkdir(parents=True)

    def faulty(self, arming: Arming) -> tuple[Ended, tuple[int, int, str]]:
        """The command with a fault; how it ended, and what the layer did."""
        told = self.kept / "told"
        told.unlink(missing_ok=True)

        def work() -> int:
            enter(self.ground)
            arm(arming)
            try:
                return command(self.words)
            finally:
                count, failed, name = disarm()
                told.write_text(f"{count} {failed} {name}")

        ended = in_child(work)
        if not told.exists():
            return ended, (0, 0, "")
        count, failed, *name = told.read_text().split()
        return ended, (int(count), int(failed), "".join(name))


def _prepared(home: Path, scenario: Scenario) -> _Prepared:
    ground = make_ground(home, FILES)
    ground.data.mkdir()
    ground.cache.mkdir()
    scenario.prepare(ground)
    kept = home / "kept"
    for name, place in (("data", ground.data), ("cache", ground.cache)):
        shutil.copytree(place, kept / name, symlinks=True)
    return _Prepared(ground, scenario.words, kept, expected(ground))


def run_writes(home: Path, share: float, seed: int, name: str) -> Result:
    """Kill, fill the disk, break or close it at a share of the calls that write; 1 is all."""
    result = Result(f"faults in writing: {name}")
    prepared = _prepared(home, SCENARIOS[name])
    chance = Random(seed)
    examiner = Examiner(prepared.ground, result)
    prepared.reset()
    ended, (total, _, _) = prepared.faulty(Arming(prepared.ground.data))
    if ended.code != 0 or not total:
        result.complain("without a fault", f"{ended} {total} calls")
    for fault in WRITE_FAULTS:
        for at in _chosen(total, share, chance):
            run = f"{fault.name} at write {at} of {total}"
            prepared.reset()
            ended, (_, failed, call) = prepared.faulty(Arming(prepared.ground.data, at, fault))
            if failed:
                run = f"{run} ({call})"
            examiner.note(run, ended)
            if prepared.words == SEARCH:
                examiner.answers(run, hits_in(ended), prepared.wanted)
            examiner.look(run)
            examiner.mend(run, prepared.wanted)
            examiner.weigh(run, prepared.wanted)
    return result


def run_reads(home: Path, share: float, seed: int, name: str) -> Result:
    """Have a share of the calls that read fail once; 1 is all."""
    result = Result(f"faults in reading: {name}")
    prepared = _prepared(home, SCENARIOS[name])
    chance = Random(seed)
    examiner = Examiner(prepared.ground, result)
    prepared.reset()
    _, (total, _, _) = prepared.faulty(Arming(prepared.ground.data, reads=True))
    for at in _chosen(total, share, chance):
        run = f"broken at read {at} of {total}"
        prepared.reset()
        ended, (_, _, call) = prepared.faulty(
            Arming(prepared.ground.data, at, Fault.broken, reads=True)
        )
        run = f"{run} ({call})"
        examiner.note(run, ended)
        if prepared.words == SEARCH:
            examiner.answers(run, hits_in(ended), prepared.wanted)
        examiner.look(run)
        examiner.mend(run, prepared.wanted)
    return result


def _chosen(total: int, share: float, chance: Random) -> list[int]:
    """Calls, the first and the last always among them."""
    if share >= 1 or total < 3:
        return list(range(1, total + 1))
    wanted = max(1, round(total * share) - 2)
    return sorted({1, total, *chance.sample(range(2, total), min(wanted, total - 2))})
