"""Is a client given up that opens a connection and does not say what it wants?"""

import asyncio

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from asterism.servers.http_protocol import PatientProtocol
from asterism.servers.http_serving import listen

WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Quick(PatientProtocol):
    """Hardly waits."""

    header_seconds = 0.05


async def hello(_scope: Scope, _receive: Receive, send: Send) -> None:
    headers = [(b"content-length", b"5")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"hello"})


async def heard_after(sent: bytes) -> bytes:
    """Everything that comes until the server closes the connection."""
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(hello, http=Quick, lifespan="off", log_config=None))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    reader, writer = await asyncio.open_connection(*listening.getsockname())
    writer.write(sent)
    try:
        return await asyncio.wait_for(reader.read(), 60)
    finally:
        writer.close()
        server.should_exit = True
        await serving
        listening.close()


@pytest.mark.parametrize("sent", [b"", b"GET / HTT", WHOLE[:-2]])
def test_headers_that_do_not_end(sent: bytes) -> None:
    assert asyncio.run(heard_after(sent)) == b""


def test_a_request_is_answered_before_the_next_one_is_given_up() -> None:
    heard = asyncio.run(heard_after(WHOLE + WHOLE[:10]))
    assert heard.startswith(b"HTTP/1.1 200 OK")
    assert heard.endswith(b"hello")
