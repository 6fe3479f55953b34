"""A language model's server on the loopback that says what a test wants, well or badly."""

import json
import select
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

LONGEST_HOLD = 30.0
"""Seconds that a held answer waits at most, so that no test hangs for good."""
GLANCE = 0.02
"""Seconds between two looks at a held connection."""


class Call(NamedTuple):
    """A tool call that the model makes."""

    name: str
    arguments: str = "{}"
    """As the model writes it, broken if the test wants so."""
    id: str = ""


class Say(NamedTuple):
    """What the server answers to one request."""

    text: str = ""
    """Streamed word by word."""
    calls: tuple[Call, ...] = ()
    ending: str = ""
    """The protocol's own word for why it ended; by default what fits."""
    usage: tuple[int, int] = (10, 5)
    status: int = 200
    headers: Mapping[str, str] = {}
    body: str | None = None
    """Sent as it is instead of a stream, as JSON unless the headers say otherwise."""
    drop_after: int | None = None
    """After so many events the connection is cut."""
    hold_after: int | None = None
    """After so many events nothing more comes until the server is released."""
    garble_after: int | None = None
    """After so many events one comes that is not JSON."""
    first: tuple[str, ...] = ()
    """Events that are sent before the others, as they stand."""
    no_end: bool = False
    """The stream ends as if all were well, without saying so."""


class Received(NamedTuple):
    """A request as it came in."""

    path: str
    headers: Mapping[str, str]
    """With names in lower case."""
    body: Any


Script = Sequence[Say] | Callable[[Any], Say]


class FakeServer:
    """Serves a script: its answers in order, the last one again and again; or what it returns."""

    def __init__(self, script: Script) -> None:
        """Listening at once, on a port of its own."""
        self.received: list[Received] = []
        self._script = script
        self._lock = threading.Lock()
        self._released = threading.Event()
        self.holding = threading.Event()
        """Set once an answer is held."""
        self.left = threading.Event()
        """Set once a client went away while its answer was held."""
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def events(self, say: Say, body: Any) -> Iterator[str]:
        """The protocol's stream, event by event, as text ready to be sent."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Serve."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop serving."""
        self.close()

    def release(self) -> None:
        """Let held answers go on."""
        self._released.set()

    def close(self) -> None:
        """Stop listening; held answers end."""
        self.release()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next_say(self, received: Received) -> Say:
        """What this request is answered with."""
        with self._lock:
            self.received.append(received)
            if callable(self._script):
                return self._script(received.body)
            return self._script[min(len(self.received), len(self._script)) - 1]

    def hold(self, connection: socket.socket) -> None:
        """Wait until the server is released, or the client goes away."""
        self.holding.set()
        for _ in range(int(LONGEST_HOLD / GLANCE)):
            if self._released.wait(GLANCE):
                return
            if select.select([connection], [], [], 0)[0] and not connection.recv(
                1, socket.MSG_PEEK
            ):
                self.left.set()
                return


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what some tests want."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without this a stream waits for the client's acknowledgement of each small packet.
    disable_nagle_algorithm = True
    fake: FakeServer

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"null")
        headers = {name.lower(): value for name, value in self.headers.items()}
        say = self.fake.next_say(Received(self.path, headers, body))
        if say.body is not None or say.status != 200:
            self._whole(say)
        else:
            self._stream(say, body)

    def _whole(self, say: Say) -> None:
        content = (say.body if say.body is not None else "{}").encode()
        self.send_response(say.status)
        for name, value in {"content-type": "application/json", **say.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, say: Say, body: Any) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, event in enumerate((*say.first, *self.fake.events(say, body))):
            if number == say.hold_after:
                self.fake.hold(self.connection)
            if number == say.drop_after:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            if number == say.garble_after:
                self._chunk("event: content_block_delta\ndata: {this is not JSON\n\n")
            self._chunk(event)
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Tests are quiet."""


def closed_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def words(text: str) -> list[str]:
    """A text in the pieces in which it is streamed."""
    return [part for part in text.replace(" ", " \0").split("\0") if part]


def halves(text: str) -> tuple[str, str]:
    """A text in two pieces."""
    return text[: len(text) // 2], text[len(text) // 2 :]
