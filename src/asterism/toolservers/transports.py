"""A tool server at an address, bounded in what it says."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from asterism.programs.launcher import CANNOT_START
from asterism.programs.start import Launch, Lifeline, prepare
from asterism.programs.table import TOOL_SERVER
from asterism.toolservers.options import PreparedServer, ServerLimits
from asterism.types.errors import (
    ToolServerDied,
    ToolServerError,
    ToolServerFlooding,
    ToolServerMissing,
)

if TYPE_CHECKING:
    from anyio.abc import Process


class Allowance:
    """Counts the bytes that a server sends; each request begins a new count."""

    def __init__(self, server: str, most: int) -> None:
        self._server = server
        self._most = most
        self._said = 0
        self.strange_lines = 0
        """Lines that are no messages of the protocol, such as a greeting."""

    def renew(self) -> None:
        """We asked something."""
        self._said = 0

    def take(self, count: int) -> None:
        """It said so many bytes; too many are an error."""
        self._said += count
        if self._said > self._most:
            raise ToolServerFlooding(
                f"The server {self._server} said more than {self._most:,} bytes to one request and "
                "was ended; correct or disable it in the agent's file."
            )


_LOOK_SECONDS = 0.01


class StdioLine:
    """The line to a server's process, as the SDK wants a transport, and why it broke."""

    def __init__(
        self, name: str, server: PreparedServer, limits: ServerLimits, directory: str | None
    ) -> None:
        self.trouble: ToolServerError | None = None
        """What ended the line, where that is known better than "closed"."""
        self.allowance = Allowance(name, limits.said_bytes)
        self._name = name
        self._server = server
        self._limits = limits
        self._directory = directory

    @asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[Any, Any]]:
        """Start the server; whatever happens, its process and all it started end with this."""
        import anyio
        from mcp.shared.message import SessionMessage

        # Its process, and all it started, also end when ours is killed.
        line = Lifeline()
        try:
            process = await self._start(line)
        except BaseException:
            line.close()
            raise
        heard, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, said = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._hear, process, heard)
                tasks.start_soon(self._say, process, said, heard)
                try:
                    yield read, write
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self._end(process)
            line.close()
            for stream in (heard, read, write, said):
                stream.close()

    async def _start(self, line: Lifeline) -> Process:
        import anyio

        prepared = prepare(
            Launch(
                program=TOOL_SERVER,
                command=self._server.command,
                values={"directory": self._directory or ""},
                environment=self._server.environment,
            )
        )
        try:
            process = await anyio.open_process(
                prepared.command,
                env=prepared.environment,
                cwd=prepared.directory,
                # What it complains of may hold secrets, and would be mixed into what people see.
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=line.passed,
            )
        except (OSError, ValueError) as error:
            # The cause holds the command with its arguments.
            reason = error.strerror if isinstance(error, OSError) else "a zero byte in it"
            raise ToolServerMissing(
                f"The server {self._name} cannot be started: {reason}."
            ) from None
        line.tie(-process.pid)
        return process

    async def _hear(self, process: Process, heard: Any) -> None:
        """Lines become messages; what is no message is counted and passed over."""
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp.types import jsonrpc_message_adapter

        assert process.stdout is not None
        pending = bytearray()
        async with heard:
            try:
                while True:
                    block = await process.stdout.receive()
                    self.allowance.take(len(block))
                    pending += block
                    if b"\n" not in block:
                        continue
                    *lines, pending = pending.split(b"\n")
                    for line in lines:
                        try:
                            message = jsonrpc_message_adapter.validate_json(
                                bytes(line), by_name=False
                            )
                        except ValueError:
                            self.allowance.strange_lines += bool(line.strip())
                            continue
                        await heard.send(SessionMessage(message))
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self.trouble = self.trouble or await self._how_it_ended(process)
            except ToolServerError as error:
                self.trouble = error

    async def _say(self, process: Process, said: Any, heard: Any) -> None:
        import anyio

        assert process.stdin is not None
        try:
            async for message in said:
                self.allowance.renew()
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(text.encode() + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            # The server takes no more: the request that waits for an answer is told why.
            self.trouble = self.trouble or await self._how_it_ended(process)
            heard.close()

    async def _how_it_ended(self, process: Process) -> ToolServerError:
        code = await _exit_code(process, self._limits.leaving_seconds)
        if code == CANNOT_START:
            return ToolServerMissing(
                f"The server {self._name} cannot be started: there is no program "
                f"{self._server.redacted(self._server.command[0])}, or it cannot be run. Install "
                "it, or correct `command` in the agent's file."
            )
        how = "closed the line" if code is None else f"ended with exit code {code}"
        return ToolServerDied(f"The server {self._name} {how}; run its command by hand to see why.")

    async def _end(self, process: Process) -> None:
        """Its input ends; if it does not leave by itself, it and all it started are killed."""
        import anyio

        assert process.stdin is not None
        broken = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)
        with contextlib.suppress(*broken):
            await process.stdin.aclose()
        await _exit_code(process, self._limits.leaving_seconds)
        # It leads a group of its own; what it started may still be there when it has gone.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await _exit_code(process, self._limits.leaving_seconds)
        with contextlib.suppress(*broken):
            await process.aclose()


async def _exit_code(process: Process, seconds: float) -> int | None:
    """How it ended, if it does so in time; looked at, for a grandchild may hold its pipes open."""
    import anyio

    with anyio.move_on_after(seconds):
        while process.returncode is None:
            await anyio.sleep(_LOOK_SECONDS)
    return process.returncode


class HttpLine:
    """The line to a server at an address, as the SDK wants a transport, and why it broke."""

    def __init__(self, name: str, url: str, server: PreparedServer, limits: ServerLimits) -> None:
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
