"""Two ways to talk to a server: the pipes of its process, and a unix socket."""

import contextlib
import json
import socket
from collections.abc import Callable
from typing import IO, Any, Protocol

from asterism.types.errors import ServerDied, ServerGarbled, ServerMissing

# The tree of a 1 MB source file takes some 30 MB; ten times that is a length that was misread.
LARGEST_MESSAGE = 256 * 1024 * 1024

# A header is two short lines. More without an end is not a header.
LARGEST_HEADER = 4096

# How much of something unreadable is shown to a person.
SHOWN_BYTES = 60

READ_BYTES = 1 << 16

Message = dict[str, Any]


def encode(message: Message) -> bytes:
    """The bytes that carry a message."""
    # Lone surrogates, as bad file names have them, stay escaped and so are valid JSON.
    body = json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class MessageReader:
    """Takes messages one after the other from a source of bytes."""

    def __init__(self, read: Callable[[int], bytes], largest: int = LARGEST_MESSAGE) -> None:
        """`read` returns some bytes, at most as many as asked for, and none at the end."""
        self._read = read
        self._largest = largest
        self._buffer = bytearray()

    def next(self) -> Message | None:
        """The next message, or None where the stream ends between two."""
        header = self._header()
        if header is None:
            return None
        length = self._length(header)
        while len(self._buffer) < length:
            if not self._more(length - len(self._buffer)):
                raise ServerDied("the server ended in the middle of a message")
        body = bytes(memoryview(self._buffer)[:length])
        del self._buffer[:length]
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise ServerGarbled(
                f"the server sent something that is not JSON: {_shown(body)}"
            ) from error
        if not isinstance(message, dict):
            raise ServerGarbled(f"the server sent JSON that is not a message: {_shown(body)}")
        return message

    def _header(self) -> bytes | None:
        searched = 0
        while (end := self._buffer.find(b"\r\n\r\n", searched)) < 0:
            if len(self._buffer) > LARGEST_HEADER:
                raise ServerGarbled(
                    f"the server sent something without a header: {_shown(self._buffer)}"
                )
            searched = max(0, len(self._buffer) - 3)
            if not self._more(READ_BYTES):
                if not self._buffer:
                    return None
                raise ServerGarbled(
                    f"the server's last words are no message: {_shown(self._buffer)}"
                )
        header = bytes(self._buffer[:end])
        del self._buffer[: end + 4]
        return header

    def _length(self, header: bytes) -> int:
        for line in header.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit():
                length = int(value)
                if length > self._largest:
                    raise ServerGarbled(
                        f"the server announced a message of {length:,} bytes; "
                        f"at most {self._largest:,} are read"
                    )
                return length
        raise ServerGarbled(f"the server sent a header without a length: {_shown(header)}")

    def _more(self, wanted: int) -> bool:
        # A large body is asked for in one piece: the default size would cost a thousand reads.
        data = self._read(max(READ_BYTES, min(wanted, 1 << 24)))
        self._buffer += data
        return bool(data)


def _shown(data: bytes | bytearray) -> str:
    text = bytes(data[:SHOWN_BYTES]).decode("utf-8", "replace")
    return repr(text) + ("…" if len(data) > SHOWN_BYTES else "")


class Channel(Protocol):
    """A two-way stream of bytes; errors of the operating system mean that it is over.

    One thread reads and one writes, and each ends its own side: a descriptor that another thread
    closes may be somebody else's by the time it is used.
    """

    def read(self, size: int) -> bytes:
        """Some bytes, at most `size`; none at the end."""
        ...

    def write(self, data: bytes) -> None:
        """Send all of it."""
        ...

    def finish_writing(self) -> None:
        """Tell the other side that nothing more comes."""
        ...

    def finish_reading(self) -> None:
        """Let go of everything."""
        ...


class Pipes:
    """The output and the input of a process, both unbuffered."""

    def __init__(self, output: IO[bytes], standard_input: IO[bytes]) -> None:
        self._output = output
        self._input = standard_input

    def read(self, size: int) -> bytes:
        """Some bytes of the process's output."""
        return self._output.read(size)

    def write(self, data: bytes) -> None:
        """Write all of it to the process's input."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._input.write(rest) :]

    def finish_writing(self) -> None:
        """Close the process's input, which asks it to leave."""
        with contextlib.suppress(OSError):
            self._input.close()

    def finish_reading(self) -> None:
        """Close the process's output."""
        self._output.close()


class UnixSocket:
    """A connected unix socket."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise ServerMissing(
                f"Nobody answers at the socket {path}: {error.strerror}."
            ) from error

    def read(self, size: int) -> bytes:
        """Some bytes the other side sent."""
        return self._socket.recv(size)

    def write(self, data: bytes) -> None:
        """Send all of it."""
        self._socket.sendall(data)

    def finish_writing(self) -> None:
        """Shut the socket down, which wakes the reader too."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def finish_reading(self) -> None:
        """Close the socket."""
        self._socket.close()
