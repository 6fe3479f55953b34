"""HTTP on a connection, with an end to clients that open one and do not say what they want."""

import asyncio
from collections import Counter

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from asterism.servers.http.peers import Connection
from asterism.servers.http.replies import Problem, encoded, problem_json
from asterism.telemetry.requests import request

MOST_CONNECTIONS = 2_048
"""Open at a time: four times the requests that are; a client that asks now and then keeps one."""
HEADER_SECONDS = 15.0
"""How long the headers of a request may take; connections are few, and whoever holds them holds
the server."""
STALLED_SECONDS = 30.0
"""How long a client may leave a reply unread once the buffers are full; a slow line empties them in
a second or two."""

_NO_HTTP = Problem(
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
