"""One connection to one tool server, on the event loop: opened, listed once, asked, and closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from asterism.toolservers.options import (
    CallResult,
    PreparedServer,
    ServerLimits,
    ServerSurroundings,
    prepared,
    result_of,
    tool_of,
)
from asterism.toolservers.transports import HttpLine, StdioLine
from asterism.types.context import Server, Tool
from asterism.types.errors import (
    ToolServerDied,
    ToolServerError,
    ToolServerFlooding,
    ToolServerMissing,
    ToolServerRefused,
    ToolServerSlow,
)

if TYPE_CHECKING:
    from mcp import Client


_MOST_CHARS = 500
"""Of a server's own words about an error."""


def foreign_errors() -> tuple[type[Exception], ...]:
    """What the SDK and the libraries below it raise where a server does not do what it should."""
    import anyio
    import httpx2
    from mcp.client.streamable_http import StreamableHTTPError
    from mcp.shared.exceptions import MCPError

    return (
        MCPError,
        StreamableHTTPError,
        httpx2.HTTPError,
        httpx2.StreamError,
        anyio.ClosedResourceError,
        anyio.BrokenResourceError,
        anyio.EndOfStream,
        OSError,
        # Answers that are not what the protocol says, and output that breaks a tool's own schema.
        ValueError,
        RuntimeError,
        ExceptionGroup,
    )


def failure(name: str, error: BaseException, server: PreparedServer) -> ToolServerError:
    """The error that a user can act on, without any secret and without its cause."""
    import httpx2
    from mcp.shared.exceptions import MCPError
    from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

    match _innermost(error):
        case ToolServerError() as ours:
            return ours
        case MCPError(code=code) if code == REQUEST_TIMEOUT:
            return too_slow(name)
        case TimeoutError() | httpx2.TimeoutException():
            return too_slow(name)
        case MCPError(code=code) if code == CONNECTION_CLOSED:
            return ToolServerDied(f"The server {name} closed the connection; try again.")
        case MCPError(message=message):
            said = server.redacted(" ".join(message.split()))[:_MOST_CHARS]
            return ToolServerRefused(f"The server {name} refused: {said}")
        case httpx2.ConnectError():
            return ToolServerMissing(
                f"Nothing answers at the address of the server {name}; start it, or correct `url` "
                "in the agent's file."
            )
        case ValueError() | RuntimeError():
            return ToolServerRefused(
                f"The server {name} gave an answer that is not in its protocol; update or disable "
                "it."
            )
    return ToolServerDied(f"The connection to the server {name} broke; try again.")


def too_slow(name: str) -> ToolServerError:
    """A server that did not answer in time."""
    return ToolServerSlow(
        f"The server {name} did not answer in time; see whether it runs, or disable it in the "
        "agent's file."
    )


def _innermost(error: BaseException) -> BaseException:
    """Tasks report what happened in groups; ours, or the first, says most."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [_innermost(each) for each in error.exceptions]
    return next((leaf for leaf in leaves if isinstance(leaf, ToolServerError)), leaves[0])


# The SDK would print its warnings if logging is not configured; our errors say what matters.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class ToolServerConnection:
    """A server that is being talked to. All of it happens on one event loop."""

    def __init__(self, server: Server, around: ServerSurroundings, limits: ServerLimits) -> None:
        self.server = server
        self._around = around
        self._limits = limits
        self._prepared = PreparedServer()
        self._line: StdioLine | HttpLine | None = None
        self._client: Client | None = None
        self._tools: tuple[Tool, ...] = ()
        self._is_stale = False
        self._failure: ToolServerError | None = None
        self._ready = asyncio.Event()
        self._leave = asyncio.Event()
        self._scope: Any = None
        self._listing = asyncio.Lock()
        self._task = asyncio.create_task(self._run(), name=f"tool-server {server.name}")

    @property
    def is_usable(self) -> bool:
        """Whether it is connected, or about to be."""
        is_broken = self._failure is not None or self._trouble() is not None
        return not is_broken and not self._task.done()

    async def tools(self) -> tuple[Tool, ...]:
        """The server's tools: as listed when it was connected, or since it said they changed."""
        client = await self._connected()
        async with self._listing:
            if self._is_stale:
                async with asyncio.timeout(self._limits.connect_seconds):
                    await self._asked(self._list(client))
        return self._tools

    async def call(self, tool: str, arguments: Mapping[str, object], seconds: float) -> CallResult:
        """What a tool returns."""
        client = await self._connected()
        asked = client.call_tool(tool, dict(arguments), read_timeout_seconds=seconds)
        async with asyncio.timeout(seconds):
            answer = await self._asked(asked)
        result = result_of(answer, self._limits.result_chars)
        return result._replace(text=self._prepared.redacted(result.text))

    async def close(self) -> None:
        """End the connection and the server's process."""
        self._leave.set()
        if self._scope is not None and self._client is None:
            # It is still being connected to, which may take any time.
            self._scope.cancel()
        await asyncio.wait({self._task})

    async def _connected(self) -> Client:
        try:
            async with asyncio.timeout(self._limits.connect_seconds):
                await self._ready.wait()
        except TimeoutError:
            self._failure = self._trouble() or self._too_slow()
            await self.close()
        if self._failure is not None or self._client is None:
            raise self._failure or too_slow(self.server.name)
        return self._client

    async def _asked(self, question: Any) -> Any:
        """An answer; a failure that ends the connection is remembered."""
        try:
            return await question
        except ToolServerRefused:
            raise
        except foreign_errors() as error:
            known = self._trouble() or failure(self.server.name, error, self._prepared)
            if not isinstance(known, ToolServerRefused):
                self._failure = known
                self._leave.set()
            raise known from None
        except ToolServerError as error:
            self._failure = error
            self._leave.set()
            raise

    async def _run(self) -> None:
        """The connection's whole life, in one task, as the SDK's scopes want it."""
        import anyio

        try:
            with anyio.CancelScope() as self._scope:
                await self._live()
        except ToolServerError as error:
            self._failure = self._failure or error
        except foreign_errors() as error:
            known = self._trouble() or failure(self.server.name, error, self._prepared)
            self._failure = self._failure or known
        finally:
            self._client = None
            self._ready.set()

    async def _live(self) -> None:
        from mcp import Client
        from mcp.types import Implementation

        self._prepared = prepared(self.server, self._around)
        self._line = self._make_line()
        connecting = Client(
            self._line.open(),
            client_info=Implementation(name="asterism", version=self._around.version),
            message_handler=self._hear,
            read_timeout_seconds=self._limits.connect_seconds,
            cache=None,
        )
        async with connecting as client:
            await self._list(client)
            listening = asyncio.create_task(self._listen(client))
            self._client = client
            self._ready.set()
            await self._leave.wait()
            self._client = None
            listening.cancel()
            await asyncio.wait({listening})

    def _make_line(self) -> StdioLine | HttpLine:
        name = self.server.name
        if self.server.url:
            return HttpLine(name, self.server.url, self._prepared, self._limits)
        return StdioLine(name, self._prepared, self._limits, self._around.directory)

    async def _list(self, client: Client) -> None:
        """All pages of the tools; the first of a name counts."""
        self._is_stale = False
        found: dict[str, Tool] = {}
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            for listed in page.tools:
                found.setdefault(listed.name, tool_of(self.server.name, listed))
            # A page without tools may still have a successor, for ever.
            if len(found) > self._limits.tools or (page.next_cursor and not page.tools):
                raise ToolServerFlooding(
                    f"The server {self.server.name} lists more than {self._limits.tools:,} tools "
                    "and is skipped; correct or disable it in the agent's file."
                )
            if not page.next_cursor or page.next_cursor == cursor:
                break
            cursor = page.next_cursor
        self._tools = tuple(found.values())

    async def _hear(self, message: object) -> None:
        from mcp.types import ToolListChangedNotification

        if isinstance(getattr(message, "root", message), ToolListChangedNotification):
            self._is_stale = True

    async def _listen(self, client: Client) -> None:
        """Newer servers tell of changes only those who subscribed."""
        from mcp.client.subscriptions import ListenNotSupportedError

        with suppress(ListenNotSupportedError, *foreign_errors()):
            async with client.listen(tools_list_changed=True) as events:
                async for _event in events:
                    self._is_stale = True

    def _trouble(self) -> ToolServerError | None:
        return None if self._line is None else self._line.trouble

    def _too_slow(self) -> ToolServerError:
        strange = 0 if self._line is None else self._line.allowance.strange_lines
        slow = too_slow(self.server.name)
        if not strange:
            return slow
        return type(slow)(f"{slow} It printed {strange:,} lines that are no MCP messages.")
