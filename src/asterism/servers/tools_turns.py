"""One question at a time for a project, in the order in which they came."""

from collections import deque
from threading import Lock
from types import TracebackType

from asterism.domain.deadlines import LOOK_SECONDS, check_deadline


class Turns:
    """A lock that is handed on: whoever waits longest is next.

    A plain lock goes to whoever happens to run, and under load some wait for minutes.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_taken = False
        self._waiting: deque[Lock] = deque()

    def __enter__(self) -> None:
        """Wait for a turn, as long as the query that waits may take."""
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return
            own = Lock()
            own.acquire()
            self._waiting.append(own)
        try:
            while not own.acquire(timeout=LOOK_SECONDS):
                check_deadline()
        except BaseException:
            self._leave(own)
            raise

    def _leave(self, own: Lock) -> None:
        """Wait no longer; a turn that came meanwhile is handed on."""
        with self._lock:
            if own in self._waiting:
                self._waiting.remove(own)
                return
        self.__exit__(None, None, None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Hand it on."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_taken = False
