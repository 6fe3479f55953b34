"""Processor time of a query beside that of its own thread: what processes that it started used."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


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
