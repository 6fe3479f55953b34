"""One query at a time for a project; those that wait alternate between clients."""

from threading import Lock
from types import TracebackType

from asterism.operations.dispatch.clients import current_client
from asterism.operations.dispatch.fair_queue import FairQueue
from asterism.types.deadlines import LOOK_SECONDS, check_deadline


class ProjectTurns:
    """A lock that is handed on, to the client whose last turn is longest ago.

    A plain lock goes to the thread that happens to run, and under load some wait for minutes.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_taken = False
        self._waiting: FairQueue[Lock] = FairQueue()

    def __enter__(self) -> None:
        """Wait for a turn, as long as the query that waits may take."""
        client = current_client()
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                self._waiting.note_turn(client)
                return
            own = Lock()
            own.acquire()
            self._waiting.add(own, client)
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
            waiting = self._waiting.pop()
            if waiting is None:
                self._is_taken = False
            else:
                waiting.release()
