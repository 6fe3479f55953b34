"""The HTTP server as a process: a socket, an event loop, and a graceful end."""

import asyncio
import contextlib
import errno
import gc
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from asterism.servers.http.peers import Connection
from asterism.servers.http.replies import HttpProblem, encoded, problem_json
from asterism.servers.http.state import ServerState
from asterism.telemetry.events import request
from asterism.types.errors import UsageError

MOST_CONNECTIONS = 2_048
"""Open at a time: four times the requests that are; a client that asks now and then keeps one."""
HEADER_SECONDS = 15.0
"""How long the headers of a request may take; connections are few, and a client that holds them
holds the server."""
STALLED_SECONDS = 30.0
"""How long a client may leave a reply unread once the buffers are full; a slow line empties them in
a second or two."""

_NO_HTTP = HttpProblem(
    "malformed", "This is not a request of HTTP/1.1 with one Host; correct it, and send it again."
)


class Silent:
    """A server's connections without a request in flight, the oldest first."""

    def __init__(self) -> None:
        # A dictionary keeps the order in which it was filled.
        self._connections: dict[PatientProtocol, str] = {}

    def add(self, connection: "PatientProtocol", address: str) -> None:
        """Add a connection whose request is answered, or that is new."""
        self._connections.pop(connection, None)
        self._connections[connection] = address

    def remove(self, connection: "PatientProtocol") -> None:
        """Remove a connection that has sent a request or is closed."""
        self._connections.pop(connection, None)

    def close_oldest(self) -> bool:
        """Close the oldest connection of the address that has most; false without connections."""
        if not self._connections:
            return False
        crowded, _ = Counter(self._connections.values()).most_common(1)[0]
        oldest = next(one for one, address in self._connections.items() if address == crowded)
        del self._connections[oldest]
        oldest.transport.abort()
        return True


class PatientProtocol(H11Protocol):
    """Waits for headers and for readers as long as is reasonable; for bodies, the gate does."""

    header_seconds = HEADER_SECONDS
    stalled_seconds = STALLED_SECONDS
    most_connections = MOST_CONNECTIONS
    silent = Silent()
    """Each server has its own."""
    _waiting: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected and has to send a request.

        Over the limit of connections, an older one without a request is closed.
        """
        super().connection_made(transport)
        # What is told of each request of this connection.
        self.app_state = {
            **self.app_state,
            "connection": Connection(transport.get_extra_info("socket")),
        }
        if len(self.connections) > self.most_connections and not self.silent.close_oldest():
            transport.abort()
        else:
            self.silent.add(self, self._address())
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Something came: all of a request's headers, or a part of them."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self.silent.remove(self)
            self._stop_waiting()
        elif self._waiting is None and data:
            self._wait()

    def on_response_complete(self) -> None:
        """The client has its answer; its connection may be closed if others need one."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.cycle.response_complete:
            self.silent.add(self, self._address())

    def pause_writing(self) -> None:
        """The buffers are full: the client does not read its reply."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(self.stalled_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        super().resume_writing()
        self._read_on()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection without waiting for its client to read the rest."""
        super().timeout_keep_alive_handler()
        self._end_unread()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self.silent.remove(self)
        self._stop_waiting()
        self._read_on()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Say in the form of every other failure that this is no HTTP; `msg` says no more."""
        with request() as name:
            body = encoded(problem_json(_NO_HTTP))
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "x-content-type-options": "nosniff",
            "x-request-id": name,
            "connection": "close",
        }
        start = h11.Response(
            status_code=_NO_HTTP.status, headers=[*headers.items()], reason="Bad Request"
        )
        for event in (start, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.header_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
            self._end_unread()

    def _end_unread(self) -> None:
        """A closing connection waits a limited time until its last bytes are read."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _read_on(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _address(self) -> str:
        return self.client[0] if self.client else ""


BACKLOG = 512
OPEN_FILES = 4_096
"""Open files that a server needs: connections, those that are just being accepted, and the files
of indexes. Many systems allow a process 256 or 1,024 until it asks for more."""
END_SECONDS = 10
"""How long requests in flight may take when the server is asked to end; most take a tenth of a
second, and a stream to a client would go on for ever."""
KEEP_SECONDS = 75
"""How long an idle connection is kept: longer than most proxies keep theirs."""
SWITCH_SECONDS = 0.001
"""How long a thread may run on while others want to: Python's 5 ms, times the threads that answer,
would pass before the event loop could answer a health check."""
FREEZES = 3
"""Full garbage collections after which all that is alive counts as long-lived: the first queries
load models and indexes. Each later one would freeze what some query is about to drop."""
HEADERS_BYTES = 32_768
"""What is kept of headers that are not over yet; a client that sends more is refused."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; an error says what to do."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(
            f"{host} is no address of this machine; give one with --host, as 127.0.0.1."
        ) from error
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise UsageError(_why(error, host, port)) from error
    made.setblocking(False)
    return made


def address_of(listening: socket.socket) -> str:
    """Where the server can be asked, as a browser takes it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(state: ServerState, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until a signal; requests in flight are finished, and what takes longer is stopped."""
    import asyncio

    import uvicorn

    from asterism.servers.http.app import make_app

    room = make_room(OPEN_FILES)
    sys.setswitchinterval(SWITCH_SECONDS)

    class Protocol(PatientProtocol):
        """Leaves half of the descriptors to files."""

        most_connections = min(MOST_CONNECTIONS, room // 2)
        silent = Silent()

    class Server(uvicorn.Server):
        """Ends quietly: a signal is the ordinary end of a server, not a failure."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            def end(number: int, frame: FrameType | None) -> None:
                state.end()
                self.handle_exit(number, frame)

            numbers = (signal.SIGINT, signal.SIGTERM)
            before = {number: signal.signal(number, end) for number in numbers}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

    config = uvicorn.Config(
        make_app(state),
        http=Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # So many are accepted before the first of them is looked at.
        backlog=min(BACKLOG, room // 4),
        timeout_keep_alive=KEEP_SECONDS,
        timeout_graceful_shutdown=END_SECONDS,
        h11_max_incomplete_event_size=HEADERS_BYTES,
    )
    with collecting_briefly():
        asyncio.run(Server(config).serve(sockets=[listening]))


@contextlib.contextmanager
def collecting_briefly() -> Iterator[None]:
    """Keep the garbage collector from looking through what lives as long as the server.

    A full collection holds the interpreter, and all threads with it: 110 ms for the 165,000 objects
    of modules, models and an index. A query with ten thousand rows starts one. What is frozen and
    dropped later is freed all the same, unless it is part of a cycle.
    """
    left = FREEZES

    def freeze(phase: str, info: dict[str, int]) -> None:
        nonlocal left
        if left and phase == "stop" and info["generation"] == 2:
            left -= 1
            gc.freeze()

    gc.callbacks.append(freeze)
    gc.collect()
    try:
        yield
    finally:
        gc.callbacks.remove(freeze)
        gc.unfreeze()


def make_room(wanted: int) -> int:
    """How many files and connections the process may have open, after asking for so many."""
    try:
        import resource
    except ImportError:
        # A system without such limits.
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unbound = resource.RLIM_INFINITY
    most = wanted if hard == unbound else min(wanted, hard)
    if soft != unbound and soft < most:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            return most
    return wanted if soft == unbound else soft


def _why(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} of {host} is in use, perhaps by another `asterism serve`; end that, or "
            "give another with --port (0 takes any that is free)."
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"Port {port} may not be used without more rights; give one over 1023 with --port."
    return f"The server cannot listen on {host}, port {port}: {error.strerror}; give others."
