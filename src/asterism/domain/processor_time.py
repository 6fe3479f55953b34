"""Processor time of a query beside that of its own thread: helper processes and other threads."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

Counting: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Counts the processor time of the current thread while its context manager is entered."""


@dataclass(slots=True)
class HelperTime:
    """Seconds that processes used for the query."""

    seconds: float = 0.0


_current: ContextVar[HelperTime | None] = ContextVar("asterism_helper_time", default=None)


def add_helper_time(seconds: float) -> None:
    """Say what a process used for the current query; without one nobody counts."""
    counted = _current.get()
    if counted is not None:
        counted.seconds += seconds


@contextmanager
def helpers_counted() -> Iterator[HelperTime]:
    """What is added inside."""
    counted = HelperTime()
    token = _current.set(counted)
    try:
        yield counted
    finally:
        _current.reset(token)


_counting: ContextVar[Counting | None] = ContextVar("asterism_counting", default=None)


@contextmanager
def counting_threads(counting: Counting) -> Iterator[None]:
    """Threads that work for the current query count their time with this, one piece at a time."""
    token = _counting.set(counting)
    try:
        yield
    finally:
        _counting.reset(token)


def counted_work() -> AbstractContextManager[None]:
    """What a thread enters while it works for a query; it counts nothing where no one counts."""
    counting = _counting.get()
    return nullcontext() if counting is None else counting()
