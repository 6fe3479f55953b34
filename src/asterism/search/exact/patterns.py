"""Patterns under guard: a child process matches, and is ended when it takes too long."""

import os
import pickle
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any, Protocol

from asterism.programs.start import DEVNULL, PIPE, Launch, Popen, start
from asterism.programs.table import PATTERN_MATCHER
from asterism.search.exact import worker
from asterism.search.exact.worker import Columns, Span
from asterism.types.deadlines import (
    LOOK_SECONDS,
    Deadline,
    add_helper_time,
    check_deadline,
    current_deadline,
)
from asterism.types.errors import UsageError, WorkerDied


class Matcher(Protocol):
    """Finds a pattern in texts."""

    def __call__(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of the matches in each text."""
        ...

    def first_columns(self, line: str) -> Columns | None:
        """The first match in a line; None without a match, or with an empty one."""
        ...


@contextmanager
def guarded(pattern: str, seconds: float) -> Iterator[Matcher]:
    """A matcher whose every call ends within some seconds, with an error if need be.

    It also ends when the query that it works for has to: at its deadline, or when its client left.
    A pattern that cannot be used is a `UsageError` at once. The child starts in about 15 ms, and a
    megabyte takes it some 10 ms with an ordinary pattern.
    """
    # Isolated and without site packages, since it needs nothing but the standard library.
    launch = Launch(
        program=PATTERN_MATCHER, command=(sys.executable,), values={"script": str(worker.__file__)}
    )
    try:
        process = start(launch, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    except OSError as error:
        raise WorkerDied(f"The process that matches patterns did not start: {error}.") from error
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        try:
            child = _Child(process, seconds)
            child.accept(pattern)
            yield child
        finally:
            process.kill()
            _collect(process)
            # What was not sent any more cannot be sent to the dead.
            with suppress(OSError):
                process.stdin.close()


def _collect(process: "Popen[bytes]") -> None:
    """Wait for the end of the child, and count the processor time that it used."""
    if not hasattr(os, "wait4") or process.returncode is not None:
        return
    with suppress(ChildProcessError):
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        add_helper_time(used.ru_utime + used.ru_stime)


class _Child:
    def __init__(self, process: "Popen[bytes]", seconds: float) -> None:
        self._process = process
        self._seconds = seconds

    def accept(self, pattern: str) -> None:
        """Send the pattern; a `UsageError` says what is wrong with it."""
        problem = self._asked(pattern)
        if problem is not None:
            raise UsageError(str(problem))

    def __call__(self, texts: Sequence[str]) -> list[list[Span]]:
        return self._found([*texts])

    def first_columns(self, line: str) -> Columns | None:
        """The first match in a line; None without a match, or with an empty one."""
        found: Columns | None = self._found((line,))[0]
        return found

    def _found(self, texts: list[str] | tuple[str, ...]) -> list[Any]:
        answer = self._asked(texts)
        if not isinstance(answer, list):
            raise UsageError(
                f"The pattern took more than {worker.MEMORY_BYTES >> 20:,} MB of memory on a "
                "part of the source; make it simpler, or narrow the search with filters."
            )
        return answer

    def _asked(self, value: object) -> object:
        """The child's answer to a pattern or to texts."""
        with _Watch(self._process, self._seconds) as watch:
            try:
                assert self._process.stdin is not None
                assert self._process.stdout is not None
                pickle.dump(value, self._process.stdin)
                self._process.stdin.flush()
                return pickle.load(self._process.stdout)
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                if watch.query_ended.is_set():
                    check_deadline()
                if watch.late.is_set():
                    raise UsageError(
                        f"The pattern took longer than {self._seconds:g} s on a part of the "
                        "source; make it simpler, for example without a repetition inside a "
                        "repetition, or narrow the search with filters."
                    ) from error
                raise WorkerDied(
                    "The process that matches patterns died; try again, or search without `regex:`."
                ) from error


class _Watch:
    """Ends a process that takes too long, or whose query has ended."""

    def __init__(self, process: "Popen[bytes]", seconds: float) -> None:
        self._process = process
        self._end = time.monotonic() + seconds
        self._deadline: Deadline | None = current_deadline()
        self._done = Event()
        self.late = Event()
        self.query_ended = Event()
        self._thread = Thread(target=self._look, name="asterism-pattern", daemon=True)

    def __enter__(self) -> "_Watch":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(LOOK_SECONDS):
            if self._deadline is not None and self._deadline.is_over():
                self.query_ended.set()
            elif time.monotonic() >= self._end:
                self.late.set()
            else:
                continue
            self._process.kill()
            return
