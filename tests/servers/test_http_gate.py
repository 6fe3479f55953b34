"""Does every request pass the gate, or leave it with a clear refusal?"""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asterism.servers.access import access_for
from asterism.servers.http.gate import Gate, GateLimits
from asterism.servers.http.requests import MOST_SIGNS
from asterism.telemetry.events import current_request
from asterism.telemetry.exposition import snapshot

TOKEN = "0123456789abcdef0123"
HOST = ("host", "127.0.0.1:8420")
Headers = list[tuple[str, str]]


class Heard:
    """What came back: the status, the headers, the body."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message.get("body", b"")

    @property
    def code(self) -> str:
        return "" if self.status < 400 else self.body.decode().split('"')[5]


async def echo(_scope: Scope, receive: Receive, send: Send) -> None:
    """Gives back what it was sent, under the id of its request."""
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": current_request().encode() + b" " + body})


def ask(
    app: ASGIApp,
    headers: Headers | None = None,
    messages: list[Message] | None = None,
    **scope: Any,
) -> Heard:
    """One request, as a server hands it to an application; after the last message it waits."""
    heard = Heard()
    coming = [{"type": "http.request", "body": b""}] if messages is None else list(messages)

    async def receive() -> Message:
        if not coming:
            await anyio.sleep_forever()
        return coming.pop(0)

    anyio.run(app, scope_of(headers or [HOST], **scope), receive, heard)
    return heard


def scope_of(headers: Headers, **scope: Any) -> Scope:
    return {
        "type": "http",
        "method": "GET",
        "path": "/x",
        "raw_path": b"/x",
        "query_string": b"",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
        **scope,
    }


def gate(app: Callable[[Scope, Receive, Send], Awaitable[None]] = echo, **limits: Any) -> Gate:
    return Gate(app, access_for("127.0.0.1", ""), GateLimits(**limits))


def piece(body: bytes, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_what_passes_has_an_id_and_the_headers_of_every_answer() -> None:
    heard = ask(gate(), [HOST, ("x-request-id", "mine-7")], [piece(b"a", True), piece(b"b", False)])
    assert (heard.status, heard.body) == (200, b"mine-7 ab")
    assert heard.headers["x-request-id"] == "mine-7"
    assert heard.headers["x-content-type-options"] == "nosniff"
    assert heard.headers["cache-control"] == "no-store"
    assert heard.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "line\nbreak"])
def test_an_invalid_id_is_replaced(name: str) -> None:
    heard = ask(gate(), [HOST, ("x-request-id", name)])
    assert heard.headers["x-request-id"] not in ("", name)


def test_what_a_route_says_of_itself_stays() -> None:
    async def page(_scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"cache-control", b"max-age=60"), (b"content-security-policy", b"self")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    heard = ask(gate(page))
    assert heard.headers["cache-control"] == "max-age=60"
    assert heard.headers["content-security-policy"] == "self"
    assert heard.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ([], 421, "host_refused"),
        ([("host", "evil.example")], 421, "host_refused"),
        ([HOST, HOST], 421, "host_refused"),
        ([HOST, ("origin", "http://evil.example")], 403, "origin_refused"),
        ([HOST, ("origin", "null")], 403, "origin_refused"),
        ([HOST, ("x", "y" * 20_000)], 431, "headers_too_large"),
        ([HOST, ("content-length", "101")], 413, "too_large"),
        ([HOST, ("content-length", "9" * 5_000)], 413, "too_large"),
    ],
)
def test_refusals(headers: Headers, status: int, code: str) -> None:
    async def nobody(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError

    raw = headers or [("x", "y")]
    heard = ask(gate(nobody, body_bytes=100), raw)
    assert (heard.status, heard.code) == (status, code)
    assert heard.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("headers", "pieces", "left"),
    [
        ([("content-length", "250")], [100, 100, 50], 0),
        ([], [100, 100, 50], 0),
        # Nothing has been sent by who asks beforehand, and there is an end to patience.
        ([("content-length", "250"), ("expect", "100-continue")], [100, 100, 50], 3),
        ([], [150] * 10, 6),
    ],
)
def test_a_body_that_is_too_large_is_heard_before_it_is_refused(
    headers: Headers, pieces: list[int], left: int
) -> None:
    coming = [piece(b"x" * size, number > 0) for number, size in enumerate(pieces[::-1])]
    heard = Heard()

    async def receive() -> Message:
        return coming.pop()

    anyio.run(gate(body_bytes=100), scope_of([HOST, *headers]), receive, heard)
    assert (heard.status, heard.code) == (413, "too_large")
    assert heard.headers["connection"] == "close"
    assert len(coming) == left


def test_long_addresses() -> None:
    assert ask(gate(), query_string=b"q=" + b"x" * 9_000).status == 414
    assert ask(gate(), raw_path=b"/" + b"x" * 9_000).status == 414


def test_a_body_that_grows_too_large_is_refused_while_it_comes() -> None:
    endless = [piece(b"x" * 60, True)] * 1_000
    heard = ask(gate(body_bytes=100), messages=endless)
    assert (heard.status, heard.code, heard.headers["connection"]) == (413, "too_large", "close")


def test_a_body_that_does_not_come_is_given_up() -> None:
    heard = ask(gate(body_seconds=0.01), messages=[piece(b"x", True)])
    assert (heard.status, heard.code) == (408, "timeout")


def test_a_client_that_leaves_is_not_answered() -> None:
    heard = ask(gate(), messages=[piece(b"x", True), {"type": "http.disconnect"}])
    assert heard.status == 0


def test_more_requests_than_may_be_open() -> None:
    heard = ask(gate(at_once=0))
    assert (heard.status, heard.code, heard.headers["retry-after"]) == (503, "too_busy", "1")


def test_a_stream_that_is_cut_off_is_ended() -> None:
    sent: list[Message] = []

    async def stream(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})

    async def story() -> None:
        async def receive() -> Message:
            return piece(b"", False)

        async def hear(message: Message) -> None:
            sent.append(message)

        await gate(stream)(scope_of([HOST]), receive, hear)

    anyio.run(story)
    assert [message.get("more_body", False) for message in sent[1:]] == [True, False]


def test_a_defect_shows_nothing() -> None:
    async def broken(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise ValueError("/home/someone/secret")

    heard = ask(gate(broken))
    assert (heard.status, heard.code) == (500, "internal_error")
    assert b"secret" not in heard.body
    assert b"Traceback" not in heard.body


def test_a_token_is_asked_for_everywhere_but_for_health() -> None:
    guarded = Gate(echo, access_for("127.0.0.1", TOKEN))
    refused = ask(guarded)
    assert (refused.status, refused.code) == (401, "unauthorized")
    assert refused.headers["www-authenticate"] == 'Bearer realm="asterism"'
    assert ask(guarded, [HOST, ("authorization", f"Bearer {TOKEN}")]).status == 200
    assert ask(guarded, path="/healthz").status == 200
    assert ask(guarded, path="/healthz", headers=[("host", "evil.example")]).status == 421


def test_pages_of_another_server_that_may_ask() -> None:
    page = ("origin", "https://pages.example")
    access = access_for("127.0.0.1", TOKEN, "", "https://pages.example")
    guarded = Gate(echo, access)
    asked = [HOST, page, ("access-control-request-method", "POST")]
    before = ask(guarded, asked, method="OPTIONS")
    assert (before.status, before.body) == (204, b"")
    assert before.headers["access-control-allow-origin"] == "https://pages.example"
    # What clients of either kind of MCP send.
    said = set(before.headers["access-control-allow-headers"].split(", "))
    assert {"mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"} <= said
    assert ask(guarded, [HOST, page]).status == 401
    known = ask(guarded, [HOST, page, ("authorization", f"Bearer {TOKEN}")])
    assert (known.status, known.headers["vary"]) == (200, "origin")
    own = ask(guarded, [HOST, ("authorization", f"Bearer {TOKEN}")])
    assert "access-control-allow-origin" not in own.headers


def test_routes_and_methods_are_counted_by_names_from_a_list() -> None:
    ask(gate(), method="BREW")
    series = snapshot()["asterism_http_request_seconds"]["series"]
    assert {"route": "other", "method": "other", "status": "200"} in [
        one["labels"] for one in series
    ]


@pytest.mark.parametrize("sign", [b"[", b"{", b","])
def test_a_body_of_millions_of_values_is_refused_before_it_is_read(sign: bytes) -> None:
    body = sign * (MOST_SIGNS + 1)
    heard = ask(gate(), messages=[piece(body, False)])
    assert (heard.status, heard.code) == (413, "too_large")
    assert f"has {MOST_SIGNS + 1:,} brackets and commas".encode() in heard.body
    assert ask(gate(), messages=[piece(sign * MOST_SIGNS, False)]).status == 200
