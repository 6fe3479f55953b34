"""An event loop of its own for turns, which callers of every kind can reach."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from asterism.types.chat import (
    ApprovalWanted,
    CitationsFound,
    ContextReady,
    Discarded,
    Noted,
    Token,
    ToolEnded,
    ToolStarted,
    Turn,
    TurnDone,
    TurnEvent,
    TurnFailed,
    TurnStatus,
)
from asterism.types.deadlines import counted_work
from asterism.types.errors import AsterismError, RecordsError, StorageFailed

if TYPE_CHECKING:
    # It brings the database, which a server loads with the first conversation.
    from asterism.records.turns import Turns

SEARCHES_AT_ONCE = 4
"""Searches of one project take turns in any case."""
WRITES_AT_ONCE = 4
"""A write takes a millisecond; a database that hangs must not take every thread there is."""

_P = ParamSpec("_P")
_R = TypeVar("_R")


class ChatThreads:
    """Threads that look up code, and others that keep records; made when they are first needed."""

    def __init__(self) -> None:
        self._searching = ThreadPoolExecutor(SEARCHES_AT_ONCE, "asterism-ask-search")
        self._keeping = ThreadPoolExecutor(WRITES_AT_ONCE, "asterism-ask-records")

    async def search(self, work: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Look something up."""
        return await _in(self._searching, partial(work, *args, **kwargs))

    async def keep(self, work: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Read or write records."""
        return await _in(self._keeping, partial(work, *args, **kwargs))

    def close(self) -> None:
        """End the threads once they have nothing to do."""
        self._searching.shutdown(wait=False, cancel_futures=True)
        self._keeping.shutdown(wait=True)


async def _in(threads: ThreadPoolExecutor, work: Callable[[], _R]) -> _R:
    # The log of a request names the request in every thread.
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(threads, context.run, _counted, work)


def _counted(work: Callable[[], _R]) -> _R:
    """The work, counted for the client of a server that asked the question."""
    with counted_work():
        return work()


BEAT_SECONDS = 10.0
"""A sixth of the time after which a silent owner is taken for dead."""
LOOK_SECONDS = 0.5
"""How long a stop that another process asked for may take to be heard."""


class Keeping:
    """Keeps one turn; the recorder of its chat."""

    def __init__(self, turns: Turns, threads: ChatThreads) -> None:
        self._turns = turns
        self._threads = threads

    async def save(self, turn: Turn) -> None:
        """Replace what is known of the turn."""
        running = turn.status is TurnStatus.running
        try:
            await self._threads.keep(self._turns.save if running else self._turns.finish, turn)
        except RecordsError as error:
            # The answer comes in any case, with a word that it is not kept.
            raise StorageFailed(str(error)) from error

    async def note(self, id_: str, kind: str, data: dict[str, object]) -> None:
        """Note something that happened; the turn itself is kept in any case."""
        with suppress(AsterismError):
            await self._threads.keep(self._turns.record, id_, kind, data)

    @asynccontextmanager
    async def attended(self, id_: str, stop: asyncio.Event) -> AsyncIterator[None]:
        """Inside, the turn counts as being answered, and `stop` is set when it is to end."""
        watching = asyncio.create_task(self._watch(id_, stop))
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    async def _watch(self, id_: str, stop: asyncio.Event) -> None:
        since = 0.0
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            since += LOOK_SECONDS
            # A database that does not answer now is said when the turn is saved.
            with suppress(AsterismError):
                if await self._threads.keep(self._turns.is_stopped, id_):
                    stop.set()
                if since >= BEAT_SECONDS:
                    since = 0.0
                    await self._threads.keep(self._turns.beat, id_)


def recorded_event(event: TurnEvent) -> tuple[str, dict[str, object]] | None:
    """The kind of an event and a few facts; None for pieces of the answer, which is kept whole.

    Results, citations and context are kept whole with the turn itself.
    """
    match event:
        case ContextReady(context):
            return "context", {"items": len(context.items), "leftOut": len(context.left_out)}
        case ToolStarted(call):
            return "tool_start", {"callId": call.id, "name": call.name}
        case ToolEnded(call, result):
            return "tool_end", {
                "callId": call.id,
                "name": call.name,
                "isError": result.is_error,
                "characters": len(result.text),
                "milliseconds": result.milliseconds,
            }
        case ApprovalWanted(calls):
            return "approval", {"calls": [call.id for call in calls]}
        case CitationsFound(citations):
            return "citations", {"count": len(citations)}
        case Noted(text):
            return "note", {"text": text}
        case TurnDone(turn):
            return "done", {"status": turn.status.value}
        case TurnFailed(_, error):
            return "error", {"code": error.code}
        case Token() | Discarded():
            return None


class BackgroundLoop:
    """A thread with an event loop; it begins with the first task, and ends with `close`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def submit(self, work: Coroutine[Any, Any, _R]) -> Future[_R]:
        """Start a coroutine in the loop; the future can be awaited from any thread."""
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
