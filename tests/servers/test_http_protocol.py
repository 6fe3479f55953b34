"""Is a client given up that opens a connection and does not say what it wants?"""

import asyncio
import contextlib
import json
import resource

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from asterism.servers.http.process import PatientProtocol, listen, make_room

WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Quick(PatientProtocol):
    """Hardly waits."""

    header_seconds = 0.05


async def hello(_scope: Scope, _receive: Receive, send: Send) -> None:
    headers = [(b"content-length", b"5")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"hello"})


async def heard_after(sent: bytes, protocol: type[PatientProtocol] = Quick) -> bytes:
    """Everything that comes until the server closes the connection."""
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(hello, http=protocol, lifespan="off", log_config=None))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    reader, writer = await asyncio.open_connection(*listening.getsockname())
    writer.write(sent)
    try:
        with contextlib.suppress(ConnectionResetError):
            return await asyncio.wait_for(reader.read(), 60)
        return b""
    finally:
        writer.close()
        server.should_exit = True
        await serving
        listening.close()


@pytest.mark.parametrize("sent", [b"", b"GET / HTT", WHOLE[:-2]])
def test_headers_that_do_not_end(sent: bytes) -> None:
    assert asyncio.run(heard_after(sent)) == b""


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        WHOLE[:-2] + b"Host: evil.example\r\n\r\n",
        WHOLE[:-2] + b"Content-Length: -1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    ],
)
def test_what_is_no_http_is_an_error_like_others(sent: bytes) -> None:
    head, _, body = asyncio.run(heard_after(sent)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request")
    error = json.loads(body)["error"]
    assert error["code"] == "malformed"
    assert f"x-request-id: {error['request_id']}".encode() in head


def test_one_connection_too_many_is_closed() -> None:
    class Full(Quick):
        """Is full."""

        most_connections = 0

    assert asyncio.run(heard_after(WHOLE, Full)) == b""


def test_a_request_is_answered_before_the_next_one_is_given_up() -> None:
    heard = asyncio.run(heard_after(WHOLE + WHOLE[:10]))
    assert heard.startswith(b"HTTP/1.1 200 OK")
    assert heard.endswith(b"hello")


def test_connections_are_asked_for_and_the_limit_is_told() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        assert make_room(300) == 300
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (300, before[1])
        assert make_room(100) == 300
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
