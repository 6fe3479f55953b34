"""Watches the repositories that a server was queried about, so that their indexes stay fresh."""

from threading import Event, Lock, Thread
from typing import NamedTuple

from asterism.engine.engine import Engine
from asterism.store.registry import Registered
from asterism.telemetry.events import log_failure
from asterism.types.errors import AsterismError

MOST_WATCHED = 16
"""Repositories that one server watches; each takes a thread, and a watch for every directory."""
AGAIN_SECONDS = 60.0
"""After a watch broke off (the system's limit, a folder that is gone) it is tried again."""
END_SECONDS = 10.0
"""How long an ending server waits for a sync to end."""


class _Watch(NamedTuple):
    thread: Thread
    stop: Event


class Watchers:
    """The watches of one server. Of several servers on an index one watches at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._closed = False
        self._watches: dict[str, _Watch] = {}

    def attend(self, registered: Registered) -> None:
        """Watch a repository from now on, if the user lets servers do so."""
        id_ = registered.repository.id
        if id_ in self._watches or not self._engine.settings_of(registered).watch.servers:
            return
        with self._lock:
            if id_ in self._watches or len(self._watches) >= MOST_WATCHED or self._closed:
                return
            stop = Event()
            thread = Thread(
                target=self._watch, args=(registered, stop), name="asterism-watch", daemon=True
            )
            self._watches[id_] = _Watch(thread, stop)
        thread.start()

    def forget(self, registered: Registered) -> None:
        """End the watch of a repository that is to be removed: its index must not come back."""
        with self._lock:
            ended = self._watches.pop(registered.repository.id, None)
        if ended is not None:
            ended.stop.set()
            ended.thread.join(END_SECONDS)

    def close(self) -> None:
        """End all watches."""
        with self._lock:
            self._closed = True
            watches = list(self._watches.values())
        for watch in watches:
            watch.stop.set()
        for watch in watches:
            watch.thread.join(END_SECONDS)

    def _watch(self, registered: Registered, stop: Event) -> None:
        while not stop.is_set():
            try:
                for _state in self._engine.watch(registered, stop):
                    pass
            except AsterismError as error:
                log_failure("watch", error)
            stop.wait(AGAIN_SECONDS)
