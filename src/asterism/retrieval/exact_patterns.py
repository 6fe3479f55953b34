"""Patterns under guard: a child process matches, and is ended when it takes too long."""

import pickle
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Timer
from typing import Protocol

from asterism.domain.errors import UsageError, WorkerDied
from asterism.programs.launching import DEVNULL, PIPE, Launch, Popen, start
from asterism.programs.table import PATTERN_MATCHER
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
    launch = Launch(
        program=PATTERN_MATCHER,
        command=(sys.executable,),
        values={"script": str(exact_worker.__file__)},
    )
    try:
        process = start(launch, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    except OSError as error:
        raise WorkerDied(f"The process that matches patterns did not start: {error}.") from error
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        try:
            yield _Child(process, pattern, seconds)
        finally:
            process.kill()
            # What was not sent any more cannot be sent to the dead.
            with suppress(OSError):
                process.stdin.close()


class _Child:
    def __init__(self, process: "Popen[bytes]", pattern: str, seconds: float) -> None:
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
