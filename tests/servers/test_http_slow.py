"""Do clients that send or read slowly leave the server to the others?"""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asterism.servers.access import Access, Identity, IdentityKind
from asterism.servers.http.bodies import Bodies
from asterism.servers.http.gate import Gate, GateLimits
from asterism.servers.http.process import PatientProtocol, Silent, listen, make_room
from tests.servers.http_clients import WAIT_SECONDS, served
from tests.servers.test_http_gate import HOST, Heard, echo, piece, scope_of

SLOW_CLIENTS = 600
ONE, OTHER = Identity(IdentityKind.user, "1"), Identity(IdentityKind.user, "2")


def ends_of(limits: tuple[int, int], clients: list[Identity]) -> list[bool]:
    """Which of some bodies, each slower than the last, were ended."""
    bodies = Bodies(*limits)
    scopes: list[anyio.CancelScope] = []

    async def story() -> None:
        with contextlib.ExitStack() as stack:
            scopes.extend(stack.enter_context(bodies.awaited(client)) for client in clients)

    anyio.run(story)
    assert bodies._waiting == {}
    assert bodies._count == 0
    return [scope.cancel_called for scope in scopes]


@pytest.mark.parametrize(
    ("limits", "clients", "ended"),
    [
        ((9, 9), [ONE, ONE, OTHER], [False, False, False]),
        ((9, 2), [ONE, ONE, ONE], [True, False, False]),
        ((9, 1), [ONE, OTHER, ONE], [True, False, False]),
        # Of the client that has most, not of the one that came last.
        ((3, 3), [ONE, OTHER, OTHER, ONE], [False, True, False, False]),
        ((3, 3), [OTHER, OTHER, ONE, ONE], [True, False, False, False]),
        ((1, 1), [ONE, ONE, ONE], [True, True, False]),
    ],
)
def test_the_oldest_of_the_largest_is_ended(
    limits: tuple[int, int], clients: list[Identity], ended: list[bool]
) -> None:
    assert ends_of(limits, clients) == ended


def test_a_slow_body_ends_for_a_new_one_and_says_why() -> None:
    gate = Gate(echo, Access(), GateLimits(bodies_of_one=1))
    slow, quick = Heard(), Heard()
    began = anyio.Event()

    async def never() -> Message:
        if not began.is_set():
            began.set()
            return piece(b"x", True)
        await anyio.sleep_forever()
        raise AssertionError

    async def whole() -> Message:
        return piece(b"whole", False)

    async def story() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(gate, scope_of([HOST]), never, slow)
            await began.wait()
            await anyio.wait_all_tasks_blocked()
            await gate(scope_of([HOST]), whole, quick)

    anyio.run(story)
    assert quick.body.endswith(b" whole")
    assert (slow.status, slow.code, slow.headers["connection"]) == (503, "too_busy", "close")


@pytest.mark.parametrize("path", ["/healthz", "/metrics"])
def test_reserved_routes_wait_for_no_body_and_no_place(path: str) -> None:
    async def never() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def fine(_scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": (await receive())["body"]})

    heard = Heard()
    gate = Gate(fine, Access(), GateLimits(at_once=0))
    anyio.run(gate, scope_of([HOST], path=path, raw_path=path.encode()), never, heard)
    assert (heard.status, heard.body) == (200, b"")


async def hello(_scope: Scope, _receive: Receive, send: Send) -> None:
    headers = [(b"content-length", b"5")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"hello"})


async def endless(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Far more than a connection holds; it goes on until the client is gone."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(1_000):
        await send({"type": "http.response.body", "body": b"x" * 1_000_000, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


ASKED = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, **attributes: Any) -> Any:
    """The place of a server with a protocol that has these limits, and what it leaves open."""
    protocol = type("Protocol", (PatientProtocol,), {"silent": Silent(), **attributes})
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, http=protocol, lifespan="off", log_config=None))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield listening.getsockname(), server.server_state
    finally:
        server.should_exit = True
        server.force_exit = True
        await task
        listening.close()


async def ended(reader: asyncio.StreamReader) -> bytes:
    """What comes until the connection is over, however it ends."""
    heard = b""
    with contextlib.suppress(ConnectionResetError):
        while part := await asyncio.wait_for(reader.read(65_536), WAIT_SECONDS):
            heard += part
    return heard


@pytest.mark.parametrize("said", [b"", ASKED[:-2], ASKED])
def test_a_new_client_takes_the_place_of_one_that_says_nothing(said: bytes) -> None:
    async def story() -> None:
        async with serving(hello, most_connections=2) as (place, state):
            first, second = [await asyncio.open_connection(*place) for _ in range(2)]
            for _, writer in (first, second):
                writer.write(said)
            if said == ASKED:
                # These have had an answer, and are idle.
                for reader, _ in (first, second):
                    assert (await reader.readuntil(b"hello")).endswith(b"hello")
            while len(state.connections) < 2:
                await asyncio.sleep(0)
            reader, writer = await asyncio.open_connection(*place)
            writer.write(ASKED)
            assert (await reader.readuntil(b"hello")).endswith(b"hello")
            assert await ended(first[0]) == b""
            second[1].write(ASKED[len(said) % len(ASKED) :])
            assert (await second[0].readuntil(b"hello")).endswith(b"hello")
            for _, one in (first, second, (reader, writer)):
                one.close()

    asyncio.run(story())


def test_a_client_that_does_not_read_is_given_up() -> None:
    async def story() -> None:
        async with serving(endless, stalled_seconds=0.05) as (place, state):
            # A small window without a reader: the reply does not fit into the buffers.
            _, writer = await asyncio.open_connection(*place, limit=1)
            writer.write(ASKED)
            while not state.connections:
                await asyncio.sleep(0)
            while state.connections:
                await asyncio.sleep(0.01)
            writer.close()

    asyncio.run(asyncio.wait_for(story(), WAIT_SECONDS))


@pytest.fixture
def many_open_files() -> Iterator[None]:
    """Enough open files for this process to be all the clients."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert make_room(2 * SLOW_CLIENTS) >= SLOW_CLIENTS + 200
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


SLOW = {
    "headers": "POST /api/search HTTP/1.1\r\nHost: {host}\r\nX-Slow: ",
    "bodies": (
        "POST /api/search HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        'Content-Length: 500\r\n\r\n{{"query":"'
    ),
    "bodies of what is refused": "POST /api/x HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\n",
    "bodies for health": "GET /healthz HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\n",
}


@pytest.mark.usefixtures("many_open_files")
@pytest.mark.parametrize("kind", [*SLOW])
def test_health_is_told_while_many_clients_are_slow(
    indexed_base: Path, harbor: Path, kind: str
) -> None:
    with served(indexed_base, harbor) as server, contextlib.ExitStack() as stack:
        host, _, port = server.address.removeprefix("http://").partition(":")
        for _ in range(SLOW_CLIENTS):
            client = stack.enter_context(socket.create_connection((host, int(port))))
            client.sendall(SLOW[kind].format(host=f"{host}:{port}").encode())
        for route in ("/healthz", "/metrics", "/healthz"):
            answer = httpx.get(f"{server.address}{route}", timeout=WAIT_SECONDS)
            assert answer.status_code == 200, (route, answer.text)
        asked = {"query": "webhook", "limit": 1}
        found = httpx.post(f"{server.address}/api/search", json=asked, timeout=WAIT_SECONDS)
        assert found.status_code == 200, found.text


def test_health_is_told_where_few_files_may_be_open(indexed_base: Path, harbor: Path) -> None:
    """More clients than the server may have open files; each keeps its connection open."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = 256 if hard == resource.RLIM_INFINITY else min(256, hard)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(served(indexed_base, harbor, files=str(limit)))
        host, _, port = server.address.removeprefix("http://").partition(":")
        for _ in range(limit + 100):
            client = stack.enter_context(socket.create_connection((host, int(port))))
            client.sendall(SLOW["headers"].format(host=f"{host}:{port}").encode())
        answer = httpx.get(f"{server.address}/healthz", timeout=WAIT_SECONDS)
        assert answer.text == "ok\n"
