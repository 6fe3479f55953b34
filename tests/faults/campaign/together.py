"""Several processes on one index at once: writers, watchers, servers and readers."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.faults.campaign.forks import PATIENCE, Ended, await_end
from tests.faults.campaign.ground import SEARCH, Examiner, Ground, expected, hits_in, make_ground
from tests.faults.campaign.results import Result
from tests.faults.generated_repository import change
from tests.faults.kinship import Kin

FILES = 70

# What runs side by side; the commands end by themselves, the others are ended with Ctrl-C.
_INDEX, _FORCE, _CLEAN = ("index",), ("index", "--force"), ("clean",)
_WATCH, _SERVE = ("watch",), ("serve", "--port", "0")
_LASTING = {"watch", "serve"}
COMPANIES = {
    "two indexers": (_INDEX, _INDEX),
    "two rebuilds": (_FORCE, _FORCE),
    "a rebuild beside readers": (_FORCE, SEARCH, SEARCH, SEARCH),
    "a watcher, a server, an indexer, a reader": (_WATCH, _SERVE, _INDEX, SEARCH),
    "an indexer, a rebuild, a cleaning, a reader": (_INDEX, _FORCE, _CLEAN, SEARCH),
    "a removal beside an indexer and a watcher": (_WATCH, _INDEX, ("repos", "remove", ".")),
}


def run_together(home: Path, rounds: int, seed: int) -> Result:
    """Each company so many times, with changes before and while it is at work."""
    result = Result("processes at once")
    ground = make_ground(home, FILES)
    chance = Random(seed)
    examiner = Examiner(ground, result)
    for number in range(rounds):
        for name, company in COMPANIES.items():
            change(ground.root, chance)
            wanted = expected(ground)
            run = f"{name}, round {number} of seed {seed}"
            for words, ended in _company(ground, company, chance):
                examiner.note(f"{run}: {words[0]}", ended)
                if words == SEARCH:
                    examiner.answers(run, hits_in(ended), wanted)
            examiner.look(run)
            examiner.mend(run, wanted)
        examiner.weigh(f"round {number} of seed {seed}", wanted)
    return result


def _company(
    ground: Ground, company: tuple[tuple[str, ...], ...], chance: Random
) -> list[tuple[tuple[str, ...], Ended]]:
    kin = Kin()
    started = []
    for words in company:
        process = subprocess.Popen(
            [sys.executable, "-m", "asterism.cli", *words],
            cwd=ground.root,
            env={**os.environ, **ground.variables(), **kin.variables, "ASTERISM_WORK_JOBS": "2"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        started.append((words, process))
        time.sleep(chance.uniform(0, 0.3))
    ended = []
    # Those that last are asked to end once the others are done.
    for words, process in sorted(started, key=lambda pair: pair[0][0] in _LASTING):
        if words[0] in _LASTING:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
        late = False
        try:
            said, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            late = True
            process.kill()
            said, _ = process.communicate()
        code = process.returncode
        if words[0] in _LASTING and code in (130, -signal.SIGINT):
            code = 0
        ended.append((words, Ended(code, said.decode(errors="replace"), late=late)))
    left = await_end(kin)
    if left:
        ended.append((("all",), Ended(0, "", orphans=len(left))))
    return ended
