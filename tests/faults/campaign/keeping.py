"""Kills of commands that write what is not computed from files, and what is made in the background.

The conversations are the only data that no command can compute again: a turn that was done before a kill
has to be there after it. Encoder vectors are made beside the index: a search answers without them,
and the next upgrade goes on with them.
"""

import os
import sqlite3
import time
from pathlib import Path
from random import Random

from tests.faults.campaign.forks import Ended, command, in_child
from tests.faults.campaign.ground import SEARCH, Examiner, Ground, enter, hits_in, make_ground
from tests.faults.campaign.results import Result
from tests.faults.damage import DAMAGES, apply
from tests.faults.generated_repository import change
from tests.models.weights.tiny_models import make_encoder

FILES = 40
ASK = ("ask", "what is total?")
ASKS = (ASK, (*ASK, "--conversation", "last"), ("conversations", "list"))
UPGRADE = ("index", "--upgrade")

# Every so many kills the file is damaged too.
DAMAGED_EVERY = 4
# Vectors are made in so few milliseconds that a kill at random would mostly find none being made.
_LATE_SHARE = 0.5


def run_conversations(home: Path, kills: int, seed: int) -> Result:
    """Kill commands that ask, at a random time of what they usually take, and damage the file."""
    result = Result("killed conversations")
    ground = make_ground(home, FILES)
    examiner = Examiner(ground, result)
    chance = Random(seed)
    file = ground.data / "records.sqlite"
    assert ground.do(("index",)).code == 0
    assert ground.do(ASK).code == 0
    usual: dict[tuple[str, ...], float] = {}
    for kill in range(kills):
        before = _done(file)
        words = chance.choice(ASKS)
        ended, moment = _killed(ground, words, chance, usual)
        run = f"kill {kill} of seed {seed}: {' '.join(words)} after {moment:.3f} s"
        examiner.note(run, ended)
        lost = before - _done(file)
        result.lost += len(lost)
        if lost:
            result.complain(run, f"{len(lost)} turns that were done are gone")
        name = ""
        if kill % DAMAGED_EVERY == DAMAGED_EVERY - 1:
            name = chance.choice(sorted(DAMAGES))
            in_child(lambda: apply("conversations", name, ground.data, ground.cache))  # noqa: B023
            run = f"{run}, then {name}"
        again = ground.do(ASK)
        _check_ended(result, run, again)
        if not name and not before <= _done(file):
            result.not_mended += 1
            result.complain(run, "after the next turn, turns that were done are gone")
    return result


def run_upgrades(home: Path, kills: int, seed: int) -> Result:
    """Kill upgrades, in the foreground and of a watcher's kind, and damage what they made."""
    result = Result("killed upgrades")
    ground = make_ground(home, FILES)
    make_encoder(ground.encoder)
    examiner = Examiner(ground, result)
    chance = Random(seed)
    assert ground.do(("index",)).code == 0
    usual: dict[tuple[str, ...], float] = {}
    for kill in range(kills):
        change(ground.root, chance)
        if chance.random() < 0.3:
            for path in ground.data.glob("projects/*/second.sqlite*"):
                path.unlink()
        ended, moment = _killed(ground, UPGRADE, chance, usual)
        run = f"kill {kill} of seed {seed}: upgrade after {moment:.3f} s"
        examiner.note(run, ended)
        if kill % DAMAGED_EVERY == DAMAGED_EVERY - 1:
            name = chance.choice(sorted(DAMAGES))
            in_child(lambda: apply("encoder vectors", name, ground.data, ground.cache))  # noqa: B023
            run = f"{run}, then {name}"
        searched = ground.do(SEARCH)
        _check_ended(result, run, searched)
        first = ground.do(UPGRADE)
        answered = ground.do(("search", "adds up the total", "--json"))
        for one in (first, answered):
            _check_ended(result, run, one)
        counts = in_child(lambda: _vectors(ground)).value
        if not isinstance(counts, tuple) or counts[0] != counts[1]:
            result.not_mended += 1
            result.complain(run, f"vectors and texts: {counts}, {first.text}")
        if hits_in(searched).code not in (0, 1):
            result.wrong += 1
            result.complain(run, f"a search beside it: {searched.text}")
    return result


def _killed(
    ground: Ground, words: tuple[str, ...], chance: Random, usual: dict[tuple[str, ...], float]
) -> tuple[Ended, float]:
    """A command that is killed, often in the second half of its usual time."""
    whole = 1.2 * usual.get(words, 1.0)
    moment = chance.uniform(_LATE_SHARE * whole if chance.random() < _LATE_SHARE else 0.0, whole)

    def work() -> int:
        enter(ground)
        os.environ["ASTERISM_WORK_JOBS"] = "2"
        return command(words)

    began = time.monotonic()
    ended = in_child(work, kill_after=moment)
    took = time.monotonic() - began if ended.code >= 0 else moment * 1.1
    usual[words] = took if ended.code >= 0 else max(usual.get(words, 0.3), took)
    return ended, moment


def _check_ended(result: Result, run: str, ended: Ended) -> None:
    """A command after the kill has to answer."""
    result.tracebacks += ended.has_traceback
    result.late += ended.late
    if ended.has_traceback or ended.late or ended.code != 0:
        result.not_mended += 1
        result.complain(run, f"afterwards: {ended.code} {ended.text}")


def _done(file: Path) -> set[str]:
    """The ids of the turns that are done, read without Asterism."""
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        found = {row[0] for row in database.execute("SELECT id FROM turns WHERE status = 'done'")}
    database.close()
    return found


def _vectors(ground: Ground) -> tuple[int, int]:
    """How many encoder vectors there are, and how many texts need one."""
    from asterism.store.catalogue.catalogue import Catalogue
    from asterism.store.encoder_vectors import look_deep_second

    with Catalogue.open(ground.project()) as catalogue:
        needed = len(set(catalogue.text_hashes()))
    return look_deep_second(ground.project()), needed
