"""Two ways to talk to a server: the pipes of its process, and a unix socket."""

import contextlib
import socket
from typing import IO, Protocol

from asterism.types.errors import ServerMissing


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
