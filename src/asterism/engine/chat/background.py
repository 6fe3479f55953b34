"""An event loop of its own for turns, which callers of every kind can reach."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Any, TypeVar

_R = TypeVar("_R")


class BackgroundLoop:
    """A thread with an event loop; it begins with the first task, and ends with `close`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def submit(self, work: Coroutine[Any, Any, _R]) -> "Future[_R]":
        """Begin something; whoever asked may wait for it in any thread."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A process whose other threads have ended does not wait for an answer.
                self._thread = Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            return self._loop

    def _run(self) -> None:
        loop = self._loop
        assert loop is not None
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    def close(self) -> None:
        """End the thread; what is still running is dropped."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
