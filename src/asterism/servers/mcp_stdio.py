"""MCP over standard input and output, for one client; its end is the server's end."""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from io import TextIOBase
from queue import SimpleQueue
from threading import Thread
from types import FrameType
from typing import IO, TYPE_CHECKING, cast

from asterism.servers.mcp_front import Front, NotOurs, Opening

if TYPE_CHECKING:
    # It brings the engine, which is not needed before the first call.
    from asterism.servers.tools_running import Toolbox


READ_BYTES = 65_536
"""What is asked of the system at a time: as much as a pipe holds."""


def serve_stdio(make_toolbox: "Callable[[], Toolbox]") -> None:
    """Serve until the client closes standard input; the toolbox is made at its first need."""
    with _wire() as (incoming, outgoing):
        opening = _opened(incoming, outgoing)
        if opening is None:
            return
        toolbox = make_toolbox()
        try:
            _serve(toolbox, _Lines(incoming, opening), _Replies(outgoing, opening.dropped))
        finally:
            toolbox.close()


class _Incoming:
    """Lines from the client. Nothing is locked while it waits, so that the process can end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    def readline(self) -> bytes:
        """The next line; nothing at the end of all."""
        pieces = [self._rest]
        while b"\n" not in pieces[-1]:
            pieces.append(os.read(self._descriptor, READ_BYTES))
            if not pieces[-1]:
                self._rest = b""
                return b"".join(pieces)
        last, _, self._rest = pieces[-1].partition(b"\n")
        return b"".join([*pieces[:-1], last, b"\n"])


def _opened(incoming: _Incoming, outgoing: IO[bytes]) -> Opening | None:
    """The opening of the session; nothing if the client left before it was over."""
    front = Front()
    while not front.over:
        line = incoming.readline()
        if not line:
            return None
        text = line.decode("utf-8", "replace")
        try:
            reply = front.answer(text)
        except NotOurs:
            return front.opening((text,))
        if reply is not None:
            outgoing.write(reply.encode("utf-8", "backslashreplace") + b"\n")
            outgoing.flush()
    return front.opening()


def _serve(toolbox: "Toolbox", lines: "_Lines", replies: "_Replies") -> None:
    # The SDK takes longer to load than a server has to be ready.
    import anyio
    from mcp.server.stdio import stdio_server

    from asterism.servers.mcp_server import make_server

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
    """What the client says: first the opening once more, then each line as it comes."""

    def __init__(self, incoming: _Incoming, opening: Opening) -> None:
        self._queue: SimpleQueue[str] = SimpleQueue()
        for line in (*opening.handshake, *opening.pending):
            self._queue.put(line)

        def read() -> None:
            with contextlib.suppress(OSError):
                while line := incoming.readline():
                    self._queue.put(line.decode("utf-8", "replace"))
            self.end()

        # A read that nobody can interrupt must not keep the process.
        Thread(target=read, name="asterism-stdin", daemon=True).start()

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

    def write(self, text: str) -> int:
        """Write a message; a client that is gone will close its end too."""
        if self._dropped is not None and self._is_dropped(text):
            self._dropped = None
            return len(text)
        with contextlib.suppress(OSError):
            self._outgoing.write(text.encode("utf-8", "backslashreplace"))
        return len(text)

    def flush(self) -> None:
        """Send what was written."""
        with contextlib.suppress(OSError):
            self._outgoing.flush()

    def _is_dropped(self, text: str) -> bool:
        message = json.loads(text)
        return "method" not in message and message.get("id") == self._dropped


@contextlib.contextmanager
def _wire() -> Iterator[tuple[_Incoming, IO[bytes]]]:
    """The client's two streams, out of reach for helper processes and for stray output."""
    sys.stdout.flush()
    # It stays open: somebody may wait there for a line until the very end.
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
