"""When a query has to end: its time is over, or its client is gone.

A thread cannot be ended from outside. Therefore every loop of a query that grows with the index or
with the request calls `check_deadline`, which raises once the query has to end. The deadline
belongs to the context (`contextvars`), so that no function between the server and the loop has to
pass it on; without a deadline the check is one look-up.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TypeAlias

from asterism.types.errors import Cancelled, DeadlineExceeded, WaitedTooLong

Counting: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Counts the processor time of the current thread while its context manager is entered."""


@dataclass(slots=True)
class HelperTime:
    """Processor seconds of helper processes."""

    seconds: float = 0.0


_time_current: ContextVar[HelperTime | None] = ContextVar("asterism_helper_time", default=None)


def add_helper_time(seconds: float) -> None:
    """Add what a process used to the current query's time; without a query nothing is counted."""
    counted = _time_current.get()
    if counted is not None:
        counted.seconds += seconds


@contextmanager
def helpers_counted() -> Iterator[HelperTime]:
    """Collects what `add_helper_time` adds inside."""
    counted = HelperTime()
    token = _time_current.set(counted)
    try:
        yield counted
    finally:
        _time_current.reset(token)


_counting: ContextVar[Counting | None] = ContextVar("asterism_counting", default=None)


@contextmanager
def counting_threads(counting: Counting) -> Iterator[None]:
    """Threads that work for the current query enter this for each piece of work."""
    token = _counting.set(counting)
    try:
        yield
    finally:
        _counting.reset(token)


def counted_work() -> AbstractContextManager[None]:
    """A context for one piece of work of a thread; counts it if the query's time is counted."""
    counting = _counting.get()
    return nullcontext() if counting is None else counting()


LOOK_SECONDS = 0.05
"""How often a thread that waits looks whether its query has to end."""

MOSTLY = 0.5
"""A query that waited for more than this part of its time is told so, not that it is expensive."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a query has to end."""

    seconds: float
    """The limit, for the message."""
    end: float
    """The moment on `clock`."""
    begun: float | None
    """When the work began; nothing while the query waits for others."""
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
        now = self.clock()
        if now < self.end:
            return
        waited = (now if self.begun is None else self.begun) - (self.end - self.seconds)
        if waited > self.seconds * MOSTLY:
            raise waited_too_long(waited, self.seconds)
        raise DeadlineExceeded(
            f"The query took longer than the {self.seconds:g} s it may take and was ended; "
            "narrow it with filters, ask for fewer results, or simplify its pattern."
        )


def waited_too_long(waited: float, seconds: float) -> WaitedTooLong:
    """The error of a query that waited for others until its time was over, or nearly so."""
    return WaitedTooLong(
        f"The query waited {waited:.1f} s for other queries, of the {seconds:g} s that it may take "
        "from its arrival, and was ended; ask again in a moment."
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
    arrived: float | None = None,
) -> Iterator[Deadline]:
    """Everything inside has to end within some seconds, or sooner if the query around it has to.

    The seconds of a request count from the moment when it arrived. It waits until `work_begun`.
    """
    around = _current.get()
    now = clock()
    start, begun = (now, now) if arrived is None else (arrived, None)
    made = Deadline(seconds, start + seconds, begun, gone, clock)
    if around is not None:
        made = _sooner(around, made)
    token = _current.set(made)
    try:
        made.check()
        yield made
    finally:
        _current.reset(token)


@contextmanager
def work_begun() -> Iterator[None]:
    """The query waits no longer; raises where it has to end already."""
    deadline = _current.get()
    if deadline is None or deadline.begun is not None:
        yield
        return
    deadline.check()
    token = _current.set(replace(deadline, begun=deadline.clock()))
    try:
        yield
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
