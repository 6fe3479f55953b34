"""The HTTP server as a process: a socket, an event loop, and a graceful end."""

import contextlib
import errno
import gc
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from types import FrameType

from asterism.servers.http.state import State
from asterism.types.errors import UsageError

BACKLOG = 512
OPEN_FILES = 4_096
"""What a server needs of the system: connections, those that are just being accepted, and the files
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


def serve(state: State, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until a signal; requests in flight are finished, and what takes longer is stopped."""
    import asyncio

    import uvicorn

    from asterism.servers.http.app import make_app
    from asterism.servers.http.protocol import MOST_CONNECTIONS, PatientProtocol, Silent

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
