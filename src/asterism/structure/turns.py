"""One question at a time: whoever comes meanwhile waits for a turn, but not forever."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from asterism.types.errors import ServerTimeout


class Turns:
    """Gives turns to several threads."""

    def __init__(self, name: str, seconds: float) -> None:
        """`name` is who is asked, as a person knows it; `seconds` how long one waits for a turn."""
        self._name = name
        self._seconds = seconds
        self._lock = threading.Lock()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Have the turn, or raise ServerTimeout where others keep it too long."""
        if not self._lock.acquire(timeout=self._seconds):
            raise ServerTimeout(
                f"The {self._name} is busy with other questions; ask again in a moment."
            )
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def take_if_free(self) -> Iterator[bool]:
        """Have the turn at once, or be told that there is none."""
        is_mine = self._lock.acquire(blocking=False)
        try:
            yield is_mine
        finally:
            if is_mine:
                self._lock.release()
