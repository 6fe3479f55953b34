"""When a query has to end: its time is over, or its client is gone.

A thread cannot be ended from outside. Therefore every loop of a query that grows with the index or
with the request calls `check_deadline`, which raises once the query has to end. The deadline
belongs to the context (`contextvars`), so that no function between the server and the loop has to
pass it on; without a deadline the check is one look-up.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from asterism.domain.errors import Cancelled, DeadlineExceeded

LOOK_SECONDS = 0.05
"""How often a thread that waits looks whether its query has to end."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a query has to end."""

    seconds: float
    """The limit, for the message."""
    end: float
    """The moment on `clock`."""
    gone: Callable[[], bool] = _never
    """Whether the client has left."""
    clock: Callable[[], float] = time.monotonic

    def left(self) -> float:
        """Seconds that are left, at least 0."""
        return max(0.0, self.end - self.clock())

    def is_over(self) -> bool:
        """Whether the query has to end."""
        return self.gone() or self.clock() >= self.end

    def check(self) -> None:
        """Raise where the query has to end."""
        if self.gone():
            raise Cancelled("The request was cancelled.")
        if self.clock() >= self.end:
            raise DeadlineExceeded(
                f"The query took longer than the {self.seconds:g} s it may take and was ended; "
                "narrow it with filters, ask for fewer results, or simplify its pattern."
            )


_current: ContextVar[Deadline | None] = ContextVar("asterism_deadline", default=None)


def current_deadline() -> Deadline | None:
    """The deadline of the query that this thread answers; nothing outside of one."""
    return _current.get()


def check_deadline() -> None:
    """Raise `DeadlineExceeded` or `Cancelled` where the current query has to end."""
    deadline = _current.get()
    if deadline is not None:
        deadline.check()


@contextmanager
def limited_to(
    seconds: float,
    gone: Callable[[], bool] = _never,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Deadline]:
    """Everything inside has to end within some seconds, or sooner if the query around it has to."""
    around = _current.get()
    made = Deadline(seconds, clock() + seconds, gone, clock)
    if around is not None:
        made = _sooner(around, made)
    token = _current.set(made)
    try:
        made.check()
        yield made
    finally:
        _current.reset(token)


def _sooner(around: Deadline, inside: Deadline) -> Deadline:
    """The deadline that ends first; a client of either that leaves ends both."""

    def gone() -> bool:
        return around.gone() or inside.gone()

    return replace(around if around.left() <= inside.left() else inside, gone=gone)


@contextmanager
def without_deadline() -> Iterator[None]:
    """Suspends the deadline, for work with a limit of its own or that must be finished."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)
