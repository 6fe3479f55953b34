"""HTTP on a connection, with an end to clients that open one and do not say what they want."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from asterism.servers.http_replies import Problem, encoded, problem_json
from asterism.telemetry.requests import request

MOST_CONNECTIONS = 2_048
"""Open at a time: four times the requests that are; a client that asks now and then keeps one."""
HEADER_SECONDS = 15.0
"""How long the headers of a request may take; connections are few, and whoever holds them holds
the server."""

_NO_HTTP = Problem(
    "malformed", "This is not a request of HTTP/1.1 with one Host; mend it, and send it again."
)


class PatientProtocol(H11Protocol):
    """Waits for headers as long as is reasonable; for bodies, the gate does."""

    header_seconds = HEADER_SECONDS
    most_connections = MOST_CONNECTIONS
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there: it has to say something."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Something came: all of a request's headers, or a part of them."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._waiting is None and data:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._stop_waiting()
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
