"""A local server that speaks the protocols of Voyage and OpenAI, and misbehaves on demand."""

import hashlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

KEY = "sk-very-secret-0123456789"

DIMENSIONS = 8


@dataclass(frozen=True)
class Request:
    """What arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        """The texts to embed, or to rerank."""
        return list(self.body["input"] if "input" in self.body else self.body["documents"])


@dataclass(frozen=True)
class Reply:
    """What is sent back."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0
    """How long the server thinks before."""
    drop: bool = False
    """The connection is reset instead."""
    promised: int = 0
    """Bytes announced beyond those sent."""


Behaviour: TypeAlias = Callable[[Request], Reply]


class MisbehavingServer:
    """Follows its script, one behaviour for each request; then it behaves."""

    def __init__(self) -> None:
        """Not yet listening; see `serving`."""
        self.requests: list[Request] = []
        self.script: list[Behaviour] = []
        self.url = ""
        self.busy = 0
        self.busiest = 0
        self.gone = threading.Event()
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Reply:
        """The next behaviour's reply."""
        with self._lock:
            self.requests.append(request)
            behave = self.script.pop(0) if self.script else well
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
        reply = behave(request)
        # Waiting ends with the test, so that a slow answer delays no other test.
        self.gone.wait(reply.seconds)
        with self._lock:
            self.busy -= 1
        return reply

    @property
    def texts(self) -> list[str]:
        """Every text that arrived, in order."""
        return [text for request in self.requests for text in request.texts]


@contextmanager
def serving() -> Iterator[MisbehavingServer]:
    """A server on a free port of this machine, until the end of the block."""
    server = MisbehavingServer()
    listener = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    listener.daemon_threads = True
    server.url = f"http://127.0.0.1:{listener.server_port}/v1"
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.gone.set()
        listener.shutdown()
        listener.server_close()
        thread.join()


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """What the server's model makes of a text; not of unit length."""
    digest = hashlib.sha256(text.encode()).digest()
    return [3.0 * (byte - 127.25) for byte in (digest * 200)[:dimensions]]


def score(query: str, document: str) -> float:
    """What the server's reranker thinks of a document."""
    return hashlib.sha256(f"{query}\n{document}".encode()).digest()[0] / 255


def well(request: Request) -> Reply:
    """Embeddings or scores as they should be."""
    if request.path.endswith("/rerank"):
        return scores([score(request.body["query"], text) for text in request.texts])
    size = request.body.get("output_dimension") or request.body.get("dimensions") or DIMENSIONS
    return embeddings([vector(text, size) for text in request.texts])


def embeddings(vectors: Sequence[Sequence[float]], order: Sequence[int] | None = None) -> Reply:
    """An answer with these vectors, its entries in the given order."""
    entries = [
        {"object": "embedding", "index": index, "embedding": list(vectors[index])}
        for index in (order if order is not None else range(len(vectors)))
    ]
    content = {"object": "list", "data": entries, "model": "m", "usage": {"total_tokens": 1}}
    return Reply(body=json.dumps(content).encode(), headers={"Content-Type": "application/json"})


def scores(values: Sequence[Any], indexes: Sequence[Any] | None = None) -> Reply:
    """An answer with these scores, the last first: its order is not that of the documents."""
    entries = [
        {"index": index, "relevance_score": value}
        for index, value in zip(indexes or range(len(values)), values, strict=True)
    ]
    content = {"object": "list", "data": entries[::-1], "usage": {"total_tokens": 1}}
    return Reply(body=json.dumps(content).encode(), headers={"Content-Type": "application/json"})


def judging(*values: Any, indexes: Sequence[Any] | None = None) -> Behaviour:
    """These scores, whatever the documents are."""
    return lambda _: scores(values, indexes)


def shuffled(request: Request) -> Reply:
    """The right vectors, the last first."""
    vectors = [vector(text) for text in request.texts]
    return embeddings(vectors, order=range(len(vectors))[::-1])


def too_few(request: Request) -> Reply:
    """A vector is missing."""
    return embeddings([vector(text) for text in request.texts[1:]])


def same_index_twice(request: Request) -> Reply:
    """As many entries as texts, but two for the first."""
    vectors = [vector(text) for text in request.texts]
    return embeddings(vectors, order=[0, *range(len(vectors) - 1)])


def wrong_size(request: Request) -> Reply:
    """Vectors of another model."""
    return embeddings([vector(text, DIMENSIONS + 1) for text in request.texts])


def parts(*values: float | str | None) -> Behaviour:
    """Vectors that begin with the given parts, and are zero after them."""

    def behave(request: Request) -> Reply:
        row: list[Any] = [*values, *[0.0] * (DIMENSIONS - len(values))]
        return embeddings([row] * len(request.texts))

    return behave


def truncated(request: Request) -> Reply:
    """An answer that ends in the middle, although it says that it is whole."""
    whole = well(request)
    return Reply(body=whole.body[: len(whole.body) // 2], headers=whole.headers)


def cut_short(request: Request) -> Reply:
    """A connection that closes before the announced end."""
    return Reply(body=well(request).body[:10], promised=1000)


def page(request: Request) -> Reply:
    """A web page, as proxies and wrong addresses give it."""
    return Reply(
        body=b"\n<!doctype html><title>Welcome</title>", headers={"Content-Type": "text/html"}
    )


def dropped(request: Request) -> Reply:
    """No answer, and the connection is reset."""
    return Reply(drop=True)


def slow(seconds: float) -> Behaviour:
    """The right answer, too late."""

    def behave(request: Request) -> Reply:
        reply = well(request)
        return Reply(reply.status, reply.body, reply.headers, seconds)

    return behave


def failing(status: int, body: object = None, **headers: str) -> Behaviour:
    """An error that quotes the request, its key and its first text, as some servers do."""

    def behave(request: Request) -> Reply:
        quoted = {
            "error": body,
            "key": request.headers.get("authorization"),
            "input": request.texts[0],
        }
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return Reply(status, json.dumps(quoted).encode(), names)

    return behave


def _handler(server: MisbehavingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Else each answer, sent in two pieces, waits for the client's acknowledgement.
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(size))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._send(server.answer(Request(self.path, headers, body)))

        def _send(self, reply: Reply) -> None:
            if reply.drop:
                # Closing with unread time left sends a reset instead of a proper end.
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
                self.close_connection = True
                return
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body) + reply.promised))
                self.end_headers()
                self.wfile.write(reply.body)
            except OSError:
                self.close_connection = True  # the client did not wait
            if reply.promised:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Tests are quiet."""

    return Handler
