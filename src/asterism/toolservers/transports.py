"""A tool server at an address, bounded in what it says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from asterism.toolservers.allowance import Allowance
from asterism.toolservers.options import Prepared, ServerLimits
from asterism.types.errors import ToolServerError


class HttpLine:
    """The line to a server at an address, as the SDK wants a transport, and why it broke."""

    def __init__(self, name: str, url: str, server: Prepared, limits: ServerLimits) -> None:
        self.trouble: ToolServerError | None = None
        self.allowance = Allowance(name, limits.said_bytes)
        self._url = url
        self._server = server
        self._limits = limits

    @asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[Any, Any]]:
        """Connections are opened as they are needed, and closed at the end."""
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        line = self

        class Bounded(httpx2.AsyncByteStream):
            def __init__(self, stream: httpx2.AsyncByteStream) -> None:
                self._stream = stream

            async def __aiter__(self) -> AsyncIterator[bytes]:
                async for block in self._stream:
                    line.heard(len(block))
                    yield block

            async def aclose(self) -> None:
                await self._stream.aclose()

        class Transport(httpx2.AsyncHTTPTransport):
            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                if request.method == "POST":
                    line.allowance.renew()
                response = await super().handle_async_request(request)
                assert isinstance(response.stream, httpx2.AsyncByteStream)
                response.stream = Bounded(response.stream)
                return response

        async with (
            httpx2.AsyncClient(
                headers=dict(self._server.headers),
                timeout=httpx2.Timeout(
                    self._limits.call_seconds, connect=self._limits.connect_seconds
                ),
                transport=Transport(),
            ) as client,
            streamable_http_client(
                self._url, http_client=client, max_sse_event_size=self._limits.said_bytes
            ) as streams,
        ):
            yield streams

    def heard(self, count: int) -> None:
        """Count what was said; too much breaks the line."""
        try:
            self.allowance.take(count)
        except ToolServerError as error:
            self.trouble = error
            raise
