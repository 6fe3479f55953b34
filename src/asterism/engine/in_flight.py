"""Which questions a process is answering, for whoever should not be in their way."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Event

from asterism.types.deadlines import limited_to

LOOK_SECONDS = 1.0
"""How often someone who waits looks whether he is to stop."""


class Questions:
    """How many questions a process is answering; whoever works behind them waits for none."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0

    @contextmanager
    def answering(self, seconds: float = math.inf) -> Iterator[None]:
        """One more, which has to end within some seconds."""
        with self._changed:
            self._running += 1
        try:
            with limited_to(seconds):
                yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def wait_for_none(self, stop: Event) -> None:
        """Return when nobody waits for an answer, or when told to stop."""
        with self._changed:
            while self._running and not stop.is_set():
                self._changed.wait(LOOK_SECONDS)
