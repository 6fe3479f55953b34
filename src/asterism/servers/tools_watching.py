"""The repositories a server was asked about are watched, so that questions find a fresh index."""

from threading import Event, Lock, Thread

from asterism.backends.store.registry import Registered
from asterism.domain.errors import AsterismError
from asterism.engine.engine import Engine
from asterism.telemetry.events import log_failure

MOST_WATCHED = 16
"""Repositories that one server watches; each takes a thread, and a watch for every directory."""
AGAIN_SECONDS = 60.0
"""After a watch broke off (the system's limit, a folder that is gone) it is tried again."""
END_SECONDS = 10.0
"""How long an ending server waits for a sync to end."""


class Watchers:
    """The watches of one server. Of several servers on an index one watches at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._stop = Event()
        self._threads: dict[str, Thread] = {}

    def attend(self, registered: Registered) -> None:
        """Watch a repository from now on, if the user lets servers do so."""
        id_ = registered.repository.id
        if id_ in self._threads or not self._engine.settings_of(registered).watch.servers:
            return
        with self._lock:
            if id_ in self._threads or len(self._threads) >= MOST_WATCHED or self._stop.is_set():
                return
            thread = Thread(
                target=self._watch, args=(registered,), name="asterism-watch", daemon=True
            )
            self._threads[id_] = thread
        thread.start()

    def close(self) -> None:
        """End all watches."""
        with self._lock:
            self._stop.set()
            threads = list(self._threads.values())
        for thread in threads:
            thread.join(END_SECONDS)

    def _watch(self, registered: Registered) -> None:
        while not self._stop.is_set():
            try:
                for _state in self._engine.watch(registered, self._stop):
                    pass
            except AsterismError as error:
                log_failure("watch", error)
            self._stop.wait(AGAIN_SECONDS)
