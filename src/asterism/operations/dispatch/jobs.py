"""Indexing jobs: one at a time for each repository, awaited or in the background."""

from threading import Event, Lock, Thread

from asterism.engine.engine import Engine
from asterism.indexing.report import Listener, SyncReport
from asterism.operations.calls import Caller
from asterism.store.registry import Registered
from asterism.telemetry.events import log_failure
from asterism.types.errors import AsterismError, IndexBusy

END_SECONDS = 10.0
"""How long an ending server waits for jobs to stop; a batch of files takes less."""


class Jobs:
    """The indexing jobs of this server."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._running: dict[str, Event] = {}
        self._threads: list[Thread] = []

    def run(self, registered: Registered, force: bool, caller: Caller) -> SyncReport:
        """Index, and answer when it is done; a caller who is gone stops it."""
        stop = self._begin(registered)
        try:
            return self._index(registered, force, stop, caller)
        finally:
            self._end(registered)

    def start(self, registered: Registered, force: bool) -> None:
        """Index in the background."""
        stop = self._begin(registered)

        def work() -> None:
            try:
                self._index(registered, force, stop, Caller())
            except AsterismError as error:
                # The job's record has it; `index_status` shows it.
                log_failure("index_codebase", error)
            finally:
                self._end(registered)

        thread = Thread(target=work, name="asterism-index", daemon=True)
        with self._lock:
            self._threads = [one for one in self._threads if one.is_alive()] + [thread]
        thread.start()

    def stop(self, registered: Registered) -> bool:
        """Ask for an end, here or in another process; False if nothing runs."""
        with self._lock:
            ours = self._running.get(registered.repository.id)
        if ours is not None:
            ours.set()
        return self._engine.cancel(registered) or ours is not None

    def halt(self) -> None:
        """Ask everything to stop, and wait for nothing."""
        with self._lock:
            for stop in self._running.values():
                stop.set()

    def close(self) -> None:
        """Stop everything, and wait for it as long as is reasonable."""
        self.halt()
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(END_SECONDS)

    def _index(
        self, registered: Registered, force: bool, stop: Event, caller: Caller
    ) -> SyncReport:
        listener = Listener(caller.hear, lambda: stop.is_set() or caller.gone())
        return self._engine.index(registered, listener, force, wait_seconds=0)

    def _begin(self, registered: Registered) -> Event:
        with self._lock:
            if registered.repository.id in self._running:
                raise IndexBusy(f"{registered.repository.name} is being indexed already.")
            stop = self._running[registered.repository.id] = Event()
            return stop

    def _end(self, registered: Registered) -> None:
        with self._lock:
            self._running.pop(registered.repository.id, None)
