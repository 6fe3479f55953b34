"""Work that leaves the event loop: so much at a time, so much that waits, no more."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from asterism.indexing.progress import Progress
from asterism.operations.calls import Caller
from asterism.servers.http_replies import Problem, Refused

if TYPE_CHECKING:
    import anyio
    from starlette.requests import Request

AT_ONCE = 16
"""Threads that answer: searches of one project take turns, so more of them would only wait."""
WAITING = 64
"""Requests that wait for a thread: at some ten milliseconds a search, the last waits a second."""
LANES = 64
LANE_AT_ONCE = 8
"""Threads that one repository may take: as many as MCP has, so that in the line for a turn neither
way of asking comes off worse; a slow repository leaves the others theirs."""
INDEXINGS_AT_ONCE = 2
"""Indexings take minutes and every core there is."""
INDEXINGS_WAITING = 8

_Result = TypeVar("_Result")


class Threads:
    """Threads for the requests of one server."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        import anyio

        self._limiter = anyio.CapacityLimiter(at_once)
        self._lanes = [anyio.CapacityLimiter(LANE_AT_ONCE) for _ in range(LANES)]
        self._most = at_once + waiting
        self._taken = 0
        self.ending = Event()
        """Set when the server ends: whoever works for it sees that nobody needs it any more."""

    async def run(
        self,
        request: Request,
        work: Callable[[Caller], _Result],
        hear: Callable[[Progress], None] | None = None,
        lane: str | None = None,
    ) -> _Result:
        """Do the work in a thread; it is told when the client is gone.

        What is asked of one repository shares a lane, so that it takes no more than its share.

        The thread is waited for in any case: one that nobody waited for would make room for the
        next, and clients that come and go would start any number.
        """
        import anyio
        import anyio.to_thread

        if self._taken >= self._most:
            raise Refused(Problem("too_busy", "Too many requests wait; ask again in a moment."))
        gone = Event()
        caller = Caller(gone=lambda: gone.is_set() or self.ending.is_set(), client="http")
        if hear is not None:
            caller = caller._replace(hear=hear)
        self._taken += 1
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_watch, request, gone)
                async with nullcontext() if lane is None else self._lane(lane):
                    result = await anyio.to_thread.run_sync(
                        partial(work, caller), limiter=self._limiter
                    )
                group.cancel_scope.cancel()
            return result
        finally:
            self._taken -= 1

    def _lane(self, name: str) -> anyio.CapacityLimiter:
        return self._lanes[zlib.crc32(name.encode("utf-8", "backslashreplace")) % LANES]


async def _watch(request: Request, gone: Event) -> None:
    """Notice that the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    gone.set()
