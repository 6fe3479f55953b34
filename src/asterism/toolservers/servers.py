"""The tool servers of agents, for code that runs in threads: list their tools, call one."""

import asyncio
import atexit
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from asterism.toolservers.connection import ToolServerConnection, too_slow
from asterism.toolservers.options import (
    NOTHING_LISTED,
    CallResult,
    Listing,
    ServerLimits,
    ServerProblem,
    ServerSurroundings,
)
from asterism.types.context import Server, Tool
from asterism.types.errors import ToolServerDied, ToolServerError

_Result = TypeVar("_Result")
_Identity = tuple[object, ...]


class ToolServers:
    """Connections that stay open until `close`; any number of threads may ask.

    Nothing is started before a server is first asked. One that failed rests for a while, so that
    it does not delay every request.
    """

    def __init__(
        self,
        around: ServerSurroundings,
        limits: ServerLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._around = around
        self._limits = limits or ServerLimits()
        self._clock = clock
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        # Both are touched on the event loop alone.
        self._connections: dict[_Identity, ToolServerConnection] = {}
        self._resting: dict[_Identity, tuple[float, ToolServerError]] = {}

    def tools(self, servers: Sequence[Server]) -> Listing:
        """The tools of all servers that are enabled; what cannot be asked is a problem."""
        enabled = [server for server in servers if server.enabled]
        return self._wait(self._list_all(enabled)) if enabled else NOTHING_LISTED

    def call(
        self,
        server: Server,
        tool: str,
        arguments: Mapping[str, object],
        seconds: float | None = None,
    ) -> CallResult:
        """What a tool returns; a server that gives no answer is an error that says why."""
        within = self._limits.call_seconds if seconds is None else seconds
        return self._wait(self._call(server, tool, arguments, within))

    def close(self) -> None:
        """End every connection and every process; the next request starts them again."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        atexit.unregister(self.close)
        asyncio.run_coroutine_threadsafe(self._close_all(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _wait(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._running_loop()).result()
        except CancelledError:
            raise ToolServerDied("The tool servers were closed meanwhile; ask again.") from None

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # The kernel ends our servers' processes with the thread that started them.
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="tool-servers", daemon=True
                )
                self._thread.start()
                atexit.register(self.close)
            return self._loop

    async def _list_all(self, servers: Sequence[Server]) -> Listing:
        results = await asyncio.gather(*map(self._tools_of, servers))
        tools: list[Tool] = []
        problems: list[ServerProblem] = []
        for server, result in zip(servers, results, strict=True):
            if isinstance(result, ToolServerError):
                problems.append(ServerProblem(server.name, result))
            else:
                tools.extend(result)
        return Listing(tuple(tools), tuple(problems))

    async def _tools_of(self, server: Server) -> tuple[Tool, ...] | ToolServerError:
        try:
            return await (await self._connection(server)).tools()
        except TimeoutError:
            return await self._rest(server, too_slow(server.name))
        except ToolServerError as error:
            return await self._rest(server, error)

    async def _call(
        self, server: Server, tool: str, arguments: Mapping[str, object], seconds: float
    ) -> CallResult:
        connection = await self._connection(server)
        try:
            return await connection.call(tool, arguments, seconds)
        except TimeoutError:
            # One slow call says nothing of the next; the server stays.
            raise too_slow(server.name) from None
        except ToolServerError as error:
            if not connection.is_usable:
                await self._drop(_identity(server))
            raise error from None

    async def _connection(self, server: Server) -> ToolServerConnection:
        identity = _identity(server)
        until, error = self._resting.get(identity, (0.0, None))
        if error is not None and self._clock() < until:
            raise error
        held = self._connections.get(identity)
        if held is not None and held.is_usable:
            return held
        await self._drop(identity)
        self._resting.pop(identity, None)
        fresh = ToolServerConnection(server, self._around, self._limits)
        self._connections[identity] = fresh
        return fresh

    async def _rest(self, server: Server, error: ToolServerError) -> ToolServerError:
        identity = _identity(server)
        if identity not in self._resting:
            self._resting[identity] = (self._clock() + self._limits.rest_seconds, error)
        await self._drop(identity)
        return error

    async def _drop(self, identity: _Identity) -> None:
        held = self._connections.pop(identity, None)
        if held is not None:
            await held.close()

    async def _close_all(self) -> None:
        held = list(self._connections.values())
        self._connections.clear()
        self._resting.clear()
        await asyncio.gather(*(connection.close() for connection in held))
        # Threads that wait for an answer are told that there will be none.
        waiting = asyncio.all_tasks() - {asyncio.current_task()}
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def _identity(server: Server) -> _Identity:
    """What makes a connection another one; secrets are in it by the names of their variables."""
    settings = tuple(sorted((name, str(value)) for name, value in server.environment.items()))
    headers = tuple(sorted((name, str(value)) for name, value in server.headers.items()))
    return (server.name, server.command, server.args, server.url, settings, headers)
