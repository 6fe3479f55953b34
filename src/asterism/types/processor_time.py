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
    """Processor seconds of helper processes."""

    seconds: float = 0.0


_current: ContextVar[HelperTime | None] = ContextVar("asterism_helper_time", default=None)


def add_helper_time(seconds: float) -> None:
    """Add what a process used to the current query's time; without a query nothing is counted."""
    counted = _current.get()
    if counted is not None:
        counted.seconds += seconds


@contextmanager
def helpers_counted() -> Iterator[HelperTime]:
    """Collects what `add_helper_time` adds inside."""
    counted = HelperTime()
    token = _current.set(counted)
    try:
        yield counted
    finally:
        _current.reset(token)


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
