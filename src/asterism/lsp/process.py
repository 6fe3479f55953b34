"""A language server process and the pipes to talk to it."""

import contextlib
import json
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from asterism.programs.launcher import CANNOT_START
from asterism.programs.start import PIPE, Launch, Popen, TimeoutExpired, start
from asterism.programs.table import Program
from asterism.types.errors import (
    LanguageServerError,
    ServerDied,
    ServerGarbled,
    ServerMissing,
    ServerTooLarge,
)

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
    closes may be reused for another file by the time it is used.
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


# How often a guard looks at memory and idleness: a server can grow some 100 MB between two looks.
LOOK_SECONDS = 0.2

# What of a server's complaints is kept for a person to read.
KEPT_COMPLAINTS = 2000

# How long a server may take to leave by itself once its input has ended.
LEAVING_SECONDS = 1.0

_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCommand:
    """How a server is started, and what it may use."""

    name: str
    """As a person knows it: `TypeScript compiler`."""
    program: Program
    """Its row of the table of programs."""
    command: tuple[str, ...]
    """The executable; the table has the arguments."""
    values: Mapping[str, str] = field(default_factory=dict)
    """The values of the table's placeholders."""
    memory_bytes: int = 2_000_000_000
    """Resident memory, of its children too, at which it is ended."""


class ServerProcess:
    """One running server. A thread of its own starts it, listens to its complaints and watches it.

    The kernel ends a tied process with the *thread* that started it, so this thread stays as long
    as the process does.
    """

    def __init__(self, server: ServerCommand, look: Callable[[], None] = lambda: None) -> None:
        """Start it, or raise ServerMissing; `look` is called some times a second while it runs."""
        self._server = server
        self._look = look
        self._started = threading.Event()
        self._trouble: LanguageServerError | None = None
        self._complaints = bytearray()
        self._leave = threading.Event()
        self._popen: Popen[bytes] | None = None
        self._guard = threading.Thread(target=self._run, name="server-guard", daemon=True)
        self._guard.start()
        self._started.wait()
        popen = self._running()
        assert popen.stdin is not None
        assert popen.stdout is not None
        self.pid: int = popen.pid
        self.channel: Pipes = Pipes(popen.stdout, popen.stdin)

    def memory(self) -> int:
        """Resident bytes of the process and its children; 0 where the system does not say."""
        return _memory(self.pid)

    def reason(self, seen: LanguageServerError) -> LanguageServerError:
        """Why it ended, as far as the guard knows more than the one who talked to it."""
        self._guard.join(LEAVING_SECONDS)
        if self._trouble is not None:
            return self._trouble
        if not isinstance(seen, ServerDied) or self._guard.is_alive() or self._popen is None:
            return seen
        words = self.complaints()
        if self._popen.returncode == CANNOT_START:
            return ServerMissing(f"The {self._server.name} cannot be started: {words}.")
        how = _how_it_ended(self._popen.returncode)
        return ServerDied(f"{how}; its last words: {words}" if words else how)

    def complaints(self) -> str:
        """The end of what the server wrote to its error output."""
        return bytes(self._complaints).decode("utf-8", "replace").strip()

    def close(self) -> None:
        """End the process; one whose input has ended is given a moment to leave by itself."""
        self._leave.set()
        if threading.current_thread() is not self._guard:
            self._guard.join()

    def kill(self) -> None:
        """End the process at once."""
        popen = self._popen
        if popen is not None and popen.poll() is None:
            # It leads a group of its own, with all the processes it started.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(popen.pid, signal.SIGKILL)

    def _running(self) -> Popen[bytes]:
        if self._popen is None:
            raise self._trouble or ServerMissing(f"The {self._server.name} cannot be started.")
        return self._popen

    def _run(self) -> None:
        try:
            self._popen = self._spawn()
        except OSError as error:
            self._trouble = ServerMissing(
                f"The {self._server.name} cannot be started: {error.strerror}."
            )
            return
        finally:
            self._started.set()
        try:
            self._watch(self._popen)
        finally:
            self._end(self._popen)

    def _spawn(self) -> Popen[bytes]:
        launch = Launch(
            program=self._server.program,
            command=self._server.command,
            values=self._server.values,
            memory_bytes=self._server.memory_bytes,
        )
        return start(
            launch,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            bufsize=0,
            # Ctrl-C in the terminal is for us alone.
            start_new_session=True,
        )

    def _watch(self, popen: Popen[bytes]) -> None:
        assert popen.stderr is not None
        complaints = popen.stderr.fileno()
        is_open, next_look = True, time.monotonic()
        while popen.poll() is None and not self._leave.is_set():
            if is_open and select.select([complaints], [], [], LOOK_SECONDS)[0]:
                is_open = self._hear(complaints)
            elif not is_open:
                self._leave.wait(LOOK_SECONDS)
            # A flood of complaints must not put off the look.
            if time.monotonic() < next_look:
                continue
            next_look = time.monotonic() + LOOK_SECONDS
            used = _memory(popen.pid)
            if used > self._server.memory_bytes:
                self._trouble = ServerTooLarge(
                    f"the {self._server.name} took {used // 1_000_000:,} MB of memory; "
                    f"it may take {self._server.memory_bytes // 1_000_000:,} MB"
                )
                self.kill()
            self._look()
        while is_open and select.select([complaints], [], [], 0)[0]:
            is_open = self._hear(complaints)

    def _hear(self, complaints: int) -> bool:
        data = os.read(complaints, 1 << 16)
        self._complaints += data
        del self._complaints[:-KEPT_COMPLAINTS]
        return bool(data)

    def _end(self, popen: Popen[bytes]) -> None:
        assert popen.stderr is not None
        try:
            popen.wait(LEAVING_SECONDS)
        except TimeoutExpired:
            self.kill()
            popen.wait()
        # Whatever it started is in its group, and ends with it.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, signal.SIGKILL)
        popen.stderr.close()


def _how_it_ended(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"the server was ended by {signal.Signals(-code).name}"
    return f"the server ended with status {code}"


def _memory(pid: int) -> int:
    """Resident bytes of a process and all below it; what has gone meanwhile counts nothing."""
    total, pending = 0, [pid]
    while pending:
        place = Path(f"/proc/{pending.pop()}")
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int((place / "statm").read_text().split()[1]) * _PAGE
            for task in (place / "task").iterdir():
                pending += [int(child) for child in (task / "children").read_text().split()]
    return total
