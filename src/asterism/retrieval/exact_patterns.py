"""Patterns under guard: a child process matches, and is ended when it takes too long."""

import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Timer
from typing import Protocol

from asterism.domain.errors import UsageError, WorkerDied
from asterism.processes.lifeline import lifeline
from asterism.retrieval import exact_worker
from asterism.retrieval.exact_worker import Span


class Matcher(Protocol):
    """Finds a pattern in texts."""

    def __call__(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of the matches in each text."""
        ...


@contextmanager
def guarded(pattern: str, seconds: float) -> Iterator[Matcher]:
    """A matcher whose every call ends within some seconds, with an error if need be.

    The child starts in about 15 ms, and a megabyte takes it some 10 ms with an ordinary pattern.
    """
    # Isolated and without site packages, since it needs nothing but the standard library.
    command = [sys.executable, "-I", "-S", "-W", "ignore", str(exact_worker.__file__)]
    with lifeline() as line:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=line.passed,
            )
        except OSError as error:
            message = f"The process that matches patterns did not start: {error}."
            raise WorkerDied(message) from error
        # It can be in the middle of a pattern when this process is killed.
        line.tie(process.pid)
        yield from _matching(process, pattern, seconds)


def _matching(
    process: "subprocess.Popen[bytes]", pattern: str, seconds: float
) -> Iterator[Matcher]:
    with process:
        assert process.stdin is not None
        try:
            yield _Child(process, pattern, seconds)
        finally:
            process.kill()
            # What was not sent any more cannot be sent to the dead.
            with suppress(OSError):
                process.stdin.close()


class _Child:
    def __init__(self, process: "subprocess.Popen[bytes]", pattern: str, seconds: float) -> None:
        self._process = process
        self._unsent: list[object] = [pattern]
        self._seconds = seconds

    def __call__(self, texts: Sequence[str]) -> list[list[Span]]:
        late = Event()

        def end() -> None:
            late.set()
            self._process.kill()

        timer = Timer(self._seconds, end)
        timer.start()
        try:
            self._send([*self._unsent, list(texts)])
            self._unsent = []
            assert self._process.stdout is not None
            answer: list[list[Span]] = pickle.load(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            if late.is_set():
                raise UsageError(
                    f"The pattern took longer than {self._seconds:g} s on a part of the source; "
                    "make it simpler, for example without a repetition inside a repetition, "
                    "or narrow the search with filters."
                ) from error
            raise WorkerDied(
                "The process that matches patterns died; try again, or search without `regex:`."
            ) from error
        finally:
            timer.cancel()
        return answer

    def _send(self, values: Sequence[object]) -> None:
        assert self._process.stdin is not None
        for value in values:
            pickle.dump(value, self._process.stdin)
        self._process.stdin.flush()
