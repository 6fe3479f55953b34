"""Threads for requests: limits on running and waiting work, shared fairly between clients."""

from __future__ import annotations

import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from asterism.indexing.report import Progress
from asterism.operations.calls import Caller
from asterism.operations.dispatch.clients import Spender
from asterism.operations.dispatch.fair_queue import FairQueue, Room
from asterism.operations.error_codes import code_of
from asterism.servers.http.replies import HttpProblem, Refused
from asterism.types.deadlines import waited_too_long
from asterism.types.errors import AsterismError, Cancelled, TooBusy

if TYPE_CHECKING:
    import anyio
    from starlette.requests import Request

AT_ONCE = 16
"""Threads that answer: searches of one project take turns, so more of them would only wait."""
WAITING = 128
"""Requests that wait for a thread: at some ten milliseconds a search, the last waits two seconds.
One client may have half of them."""
LANES = 64
LANE_AT_ONCE = 8
"""Threads that one repository may take; a slow repository leaves the others theirs."""
INDEXINGS_AT_ONCE = 2
"""Indexings take minutes and every core there is."""
INDEXINGS_WAITING = 8
ANSWERS_AT_ONCE = 32
"""Answers in words over MCP: they wait for a model most of their time."""
ANSWERS_WAITING = 64

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRequest:
    """A thread that a request needs."""

    client: Spender
    lane: str | None = None
    """Requests of one repository share a lane, which has a limit of its own."""
    seconds: float | None = None
    """How long the request may take from its arrival; some have no limit."""
    arrived: float = field(default_factory=time.monotonic)


class Threads:
    """Threads for the requests of one server. Used in its event loop alone."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        import anyio

        self.limiter = anyio.CapacityLimiter(at_once)
        """Of the threads; a request that has a place gets one of them at once."""
        self._open = Room(at_once + waiting)
        self._working = Room(at_once)
        self._lanes = [Room(LANE_AT_ONCE) for _ in range(LANES)]
        self._queue: FairQueue[_Waiting] = FairQueue()
        self.ending = Event()
        """Set when the server ends; running work checks it and stops."""

    async def run(
        self,
        request: Request,
        wanted: ThreadRequest,
        work: Callable[[Caller], _Result],
        hear: Callable[[Progress], None] | None = None,
    ) -> _Result:
        """Do the work in a thread; it ends early, or does not begin, if the client leaves.

        The thread is awaited in any case: an abandoned one would not be counted, and clients that
        come and go could start any number.
        """
        import anyio
        import anyio.to_thread

        gone = Event()
        caller = Caller(
            gone=lambda: gone.is_set() or self.ending.is_set(),
            client="http",
            arrived=wanted.arrived,
        )
        if hear is not None:
            caller = caller._replace(hear=hear)
        results: list[_Result] = []
        error: AsterismError = Cancelled("The request was cancelled.")
        async with anyio.create_task_group() as group:
            group.start_soon(_watch, request, gone, group.cancel_scope)
            try:
                async with self.place(wanted):
                    # A thread that works is not cancelled, but told.
                    done = await anyio.to_thread.run_sync(
                        partial(work, caller), limiter=self.limiter
                    )
                    results.append(done)
            except AsterismError as refused:
                # The group would wrap it.
                error = refused
            group.cancel_scope.cancel()
        if not results:
            raise Refused(HttpProblem(code_of(error).name, str(error)))
        return results[0]

    @asynccontextmanager
    async def place(self, wanted: ThreadRequest) -> AsyncIterator[None]:
        """Wait for a thread and keep it; raises `TooBusy` or `WaitedTooLong` instead."""
        client = wanted.client
        if not self._open.has_room(client):
            whose = "Too many requests" if self._open.is_full() else "Too many of your requests"
            raise TooBusy(f"{whose} wait; ask again in a moment.")
        self._open.take(client)
        try:
            await self._wait(wanted)
            try:
                yield
            finally:
                self._end(wanted)
        finally:
            self._open.free(client)

    async def _wait(self, wanted: ThreadRequest) -> None:
        import anyio

        waiting = _Waiting(wanted, anyio.Event())
        self._queue.add(waiting, wanted.client)
        self._begin()
        left = None if wanted.seconds is None else wanted.seconds - _since(wanted.arrived)
        try:
            with anyio.move_on_after(left):
                await waiting.granted.wait()
        except BaseException:
            # The client is gone.
            self._withdraw(waiting)
            raise
        if not waiting.granted.is_set():
            self._withdraw(waiting)
            raise waited_too_long(_since(wanted.arrived), wanted.seconds or 0.0)

    def _withdraw(self, waiting: _Waiting) -> None:
        if waiting.granted.is_set():
            self._end(waiting.wanted)
        else:
            self._queue.remove(waiting)

    def _begin(self) -> None:
        """Give free threads to the requests whose turn it is."""
        while (waiting := self._queue.pop(self._may_begin)) is not None:
            for room in self._rooms(waiting.wanted):
                room.take(waiting.wanted.client)
            waiting.granted.set()

    def _end(self, wanted: ThreadRequest) -> None:
        for room in self._rooms(wanted):
            room.free(wanted.client)
        self._begin()

    def _may_begin(self, waiting: _Waiting) -> bool:
        wanted = waiting.wanted
        return all(room.has_room(wanted.client) for room in self._rooms(wanted))

    def _rooms(self, wanted: ThreadRequest) -> Iterator[Room]:
        yield self._working
        if wanted.lane is not None:
            number = zlib.crc32(wanted.lane.encode("utf-8", "backslashreplace"))
            yield self._lanes[number % LANES]


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A request that waits for a thread."""

    wanted: ThreadRequest
    granted: anyio.Event


def lane_of(given: Mapping[str, object]) -> str:
    """The lane of a query, from the name of its repository; two names give two lanes."""
    names = ("repository_id", "repository", "project_id")
    return next((str(given[name])[:100] for name in names if given.get(name)), "")


def _since(moment: float) -> float:
    return time.monotonic() - moment


async def _watch(request: Request, gone: Event, scope: anyio.CancelScope) -> None:
    """Notice that the client has left, and end its waiting."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    gone.set()
    scope.cancel()
