"""Tries each text in a process that can be killed before this process parses it.

A parse is one call into C that obeys no limit: inside one step of tree-sitter a damaged text can
take exponential time, no callback is called, and no Python signal handler runs. A text whose trial
ended is parsed here again, because a syntax tree cannot be sent to another process; parsing takes
a fifth of the time that reading a file takes. CPU time is limited, not wall time, so that a file is
read in the same way on a busy machine. A process that parses nothing starts none.
"""

import atexit
import hashlib
import marshal
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock, Timer
from typing import NamedTuple

from asterism.analysis.syntax import trial_worker
from asterism.programs.start import DEVNULL, PIPE, Launch, start
from asterism.programs.table import PARSE_TRIAL
from asterism.types.deadlines import add_helper_time
from asterism.types.errors import WorkerDied

# A thread that parses takes one; a server keeps as many as often parse at once, 13 MB each.
IDLE_PROCESSES = 2

# Texts whose result is remembered, some 200 bytes each. The chunker and the pruner parse a text
# again after the outline, and a server's queries meet the same files.
REMEMBERED = 20_000

# Where the kernel has no timer for CPU time, wall time ends a trial: this many times as much.
WALL_FACTOR = 10.0


class Attempt(NamedTuple):
    """A text to parse, with the function of a package that gives the grammar."""

    package: str
    function: str
    folders: tuple[str, ...]
    """Where the package and tree-sitter are installed."""
    text: bytes
    seconds: float


class Trials:
    """The processes that this process tries texts in; any thread may ask."""

    def __init__(self) -> None:
        self.is_expendable = False
        """A parse may kill this process itself: its parent reads the files again."""
        self._lock = Lock()
        self._idle: list[_Process] = []
        self._results: dict[bytes, bool] = {}

    def ends(self, attempt: Attempt) -> bool:
        """Whether a parse ends within the CPU seconds."""
        digest = hashlib.blake2b(attempt.text, digest_size=16, usedforsecurity=False)
        digest.update(repr((attempt.package, attempt.function, attempt.seconds)).encode())
        key = digest.digest()
        with self._lock:
            result = self._results.get(key)
        if result is None:
            result = self._tried(attempt)
            with self._lock:
                if len(self._results) >= REMEMBERED:
                    self._results.clear()
                self._results[key] = result
        return result

    def expend(self) -> None:
        """From now on a parse that takes too long kills this very process."""
        trial_worker.accept_death()
        self.is_expendable = True

    def forget(self) -> None:
        """After a fork: the processes belong to the parent."""
        self._lock = Lock()
        self._idle = []

    def close(self) -> None:
        """End the processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def _tried(self, attempt: Attempt) -> bool:
        # If a process was killed from outside, a new one tries again.
        for kept in (self._kept(), None):
            process = kept or _Process()
            try:
                used = process.seconds_of(attempt)
            except BaseException:
                process.end()
                raise
            if used is not None:
                add_helper_time(used)
                self._put_back(process)
                return True
            if process.end() or process.is_late:
                add_helper_time(attempt.seconds)
                return False
        raise WorkerDied(
            "The process that tries to parse a file died twice, perhaps for lack of memory. End "
            "other programs, then run it again."
        )

    def _kept(self) -> "_Process | None":
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _put_back(self, process: "_Process") -> None:
        with self._lock:
            keeps = len(self._idle) < IDLE_PROCESSES
            if keeps:
                self._idle.append(process)
        if not keeps:
            process.end()


class _Process:
    """One process that tries texts, one after the other."""

    def __init__(self) -> None:
        self.is_late = False
        launch = Launch(
            program=PARSE_TRIAL,
            command=(sys.executable,),
            values={"script": str(trial_worker.__file__)},
        )
        try:
            self._process = start(launch, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        except OSError as error:
            raise WorkerDied(
                f"The process that tries to parse a file did not start: {error}. End other "
                "programs, then run it again."
            ) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._attempts, self._answers = self._process.stdin, self._process.stdout

    def seconds_of(self, attempt: Attempt) -> float | None:
        """The CPU seconds that a parse took; None if the process died of it."""
        watch = None if trial_worker.HAS_TIMER else self._watch(attempt.seconds * WALL_FACTOR)
        try:
            marshal.dump(tuple(attempt), self._attempts)
            self._attempts.flush()
            return float(marshal.load(self._answers))
        except (OSError, EOFError):
            return None
        finally:
            if watch is not None:
                watch.cancel()

    def end(self) -> bool:
        """End the process, if it is still there; whether the kernel ended it at its limit."""
        self._process.kill()
        with suppress(OSError):
            # What was not sent any more cannot be sent to the dead.
            self._attempts.close()
        self._answers.close()
        ended = self._process.wait()
        return trial_worker.HAS_TIMER and ended == -signal.SIGPROF

    def _watch(self, seconds: float) -> Timer:
        def give_up() -> None:
            self.is_late = True
            self._process.kill()

        watch = Timer(seconds, give_up)
        watch.daemon = True
        watch.start()
        return watch


def folders_of(*modules: str) -> tuple[str, ...]:
    """Where imported packages are installed."""
    files = [sys.modules[module].__file__ for module in modules]
    return tuple(dict.fromkeys(str(Path(file).parent.parent) for file in files if file))


TRIALS = Trials()
atexit.register(TRIALS.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TRIALS.forget)
