"""MCP over standard input and output, for one client; its end is the server's end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from io import TextIOBase
from queue import SimpleQueue
from threading import Lock, Thread
from types import FrameType
from typing import IO, TYPE_CHECKING, cast

from asterism.servers.mcp.frames import FRAME_BYTES, INVALID_REQUEST, Broken, message_in
from asterism.servers.mcp.handshake import Front, NotOurs, Opening

if TYPE_CHECKING:
    # It brings the engine, which is not needed before the first call.
    from asterism.operations.dispatch.toolbox import Toolbox

READ_BYTES = 65_536
"""What is asked of the system at a time: as much as a pipe holds."""


def serve_stdio(make_toolbox: Callable[[], Toolbox]) -> None:
    """Serve until the client closes standard input; the toolbox is made at its first need."""
    with _wire() as (incoming, outgoing):
        opening = _opened(incoming, outgoing)
        if opening is None:
            return
        toolbox = make_toolbox()
        replies = _Replies(outgoing, opening.dropped)
        try:
            _serve(toolbox, _Lines(incoming, opening, replies), replies)
        finally:
            toolbox.close()


class _Incoming:
    """Lines from the client. Nothing is locked while it waits, so that the process can end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    def readline(self) -> bytes:
        """The next line; empty at the end of input. A line that is too long is truncated."""
        kept: list[bytes] = []
        size, part = 0, self._rest
        while True:
            line, end, rest = part.partition(b"\n")
            if size <= FRAME_BYTES:
                kept.append(line)
                size += len(line)
            if end:
                self._rest = rest
                return b"".join([*kept, end])
            part = os.read(self._descriptor, READ_BYTES)
            if not part:
                self._rest = b""
                return b"".join(kept)


def _opened(incoming: _Incoming, outgoing: IO[bytes]) -> Opening | None:
    """The opening of the session; None if the client left before its end."""
    front = Front()
    while not front.over:
        line = incoming.readline()
        if not line:
            return None
        message = message_in(line)
        if message is None:
            continue
        try:
            reply = message.reply() if isinstance(message, Broken) else front.answer(message)
        except NotOurs:
            assert isinstance(message, str)
            return front.opening((message,))
        if reply is not None:
            outgoing.write(reply.encode("utf-8", "backslashreplace") + b"\n")
            outgoing.flush()
    return front.opening()


def _serve(toolbox: Toolbox, lines: _Lines, replies: _Replies) -> None:
    # The SDK takes longer to load than a server has to be ready.
    import anyio
    from mcp.server.stdio import stdio_server

    from asterism.servers.mcp.server import make_server

    async def session() -> None:
        server = make_server(toolbox)
        streams = stdio_server(
            anyio.wrap_file(cast("IO[str]", lines)), anyio.wrap_file(cast("IO[str]", replies))
        )
        async with streams as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    with _ended_by_signals(lines):
        anyio.run(session)


class _Lines(TextIOBase):
    """What the client says: first the opening once more, then each line at once."""

    def __init__(self, incoming: _Incoming, opening: Opening, replies: _Replies) -> None:
        # Here, for two threads that load the SDK at once would each find half of it.
        from mcp.types import jsonrpc_message_adapter

        self._queue: SimpleQueue[str] = SimpleQueue()
        self._messages = jsonrpc_message_adapter
        self._replies = replies
        for line in (*opening.handshake, *opening.pending):
            self._hear(line)

        def read() -> None:
            with contextlib.suppress(OSError):
                while line := incoming.readline():
                    self._hear(message_in(line))
            self.end()

        # A read cannot be interrupted and must not keep the process.
        Thread(target=read, name="asterism-stdin", daemon=True).start()

    def _hear(self, message: str | Broken | None) -> None:
        """Hand a message on; the SDK would pass over what it does not understand."""
        if isinstance(message, str):
            try:
                self._messages.validate_json(message, by_name=False)
            except ValueError:
                id_ = json.loads(message).get("id")
                said = "This is no message of MCP; correct its fields."
                message = Broken(INVALID_REQUEST, said, id_ if isinstance(id_, int | str) else None)
        if isinstance(message, Broken):
            self._replies.write(f"{message.reply()}\n")
            self._replies.flush()
        elif message is not None:
            self._queue.put(f"{message}\n")

    def end(self) -> None:
        """Nothing more comes."""
        self._queue.put("")

    def readline(self, _size: int = -1) -> str:  # type: ignore[override]
        """The next line; an empty text is the end."""
        return self._queue.get()


class _Replies(TextIOBase):
    """What the client hears; an answer that it has had is left out."""

    def __init__(self, outgoing: IO[bytes], dropped: object) -> None:
        self._outgoing = outgoing
        self._dropped = dropped
        # The SDK answers from one thread, and broken frames are answered from another.
        self._lock = Lock()

    def write(self, text: str) -> int:
        """Write a message; a client that is gone will close its end too."""
        if self._dropped is not None and self._is_dropped(text):
            self._dropped = None
            return len(text)
        with self._lock, contextlib.suppress(OSError):
            self._outgoing.write(text.encode("utf-8", "backslashreplace"))
        return len(text)

    def flush(self) -> None:
        """Send what was written."""
        with self._lock, contextlib.suppress(OSError):
            self._outgoing.flush()

    def _is_dropped(self, text: str) -> bool:
        message = json.loads(text)
        return "method" not in message and message.get("id") == self._dropped


@contextlib.contextmanager
def _wire() -> Iterator[tuple[_Incoming, IO[bytes]]]:
    """The client's two streams, out of reach for helper processes and for stray output."""
    sys.stdout.flush()
    # It stays open: another thread may wait there for a line until the end.
    descriptor = os.dup(0)
    with os.fdopen(os.dup(1), "wb") as outgoing:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        try:
            yield _Incoming(descriptor), outgoing
        finally:
            with contextlib.suppress(OSError):
                outgoing.flush()
            os.dup2(descriptor, 0)
            os.dup2(outgoing.fileno(), 1)


@contextlib.contextmanager
def _ended_by_signals(lines: _Lines) -> Iterator[None]:
    """A signal ends the session as the client's leaving does."""

    def end(_number: int, _frame: FrameType | None) -> None:
        lines.end()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
