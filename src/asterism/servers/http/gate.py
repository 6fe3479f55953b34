"""What every request passes before a route sees it: access, size, time, an id, the log."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from asterism.operations.error_codes import INTERNAL, INTERNAL_SENTENCE
from asterism.servers.access import (
    PAGE_HEADER,
    Access,
    AccessRefusal,
    Asked,
    Identity,
    cookie_of,
    is_relayed,
    page_cookie,
)
from asterism.servers.http.bodies import Bodies
from asterism.servers.http.replies import HttpProblem, encoded, problem_json
from asterism.servers.http.requests import crowded_body
from asterism.telemetry.events import log_failure, request
from asterism.telemetry.operations import record_http

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN_ROUTES = frozenset({"/healthz", "/session"})
"""Routes without a token: health, and the exchange of a code for a session."""
OPEN_BYTES = 1_024
"""Largest body on these routes, because any client may send one."""
RESERVED_ROUTES = frozenset({"/healthz", "/metrics"})
"""Routes that are answered under any load, so that operators can see the load."""

_ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
}
_UNLESS_SAID = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
"""What a route may say otherwise: pages load scripts, and the same scripts twice."""

_MANY = "other"
"""The route of a request that matches none, and the method of an unknown one."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
DRAINED_BODIES = 4
DRAINED_SECONDS = 5.0
"""How much of a body that is too large is read to no use, and for how long: many clients send all
before they listen, and would hear of a broken connection only."""

_CLOSING = frozenset({"too_large", "timeout", "too_busy"})
"""Refusals after which the rest of a body would have to be read to no use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLimits:
    """How much a request may be."""

    body_bytes: int = 4_194_304
    body_seconds: float = 30.0
    """For the whole body: more than a slow line needs for four megabytes."""
    bodies_at_once: int = 128
    """Requests whose bodies are still on their way; most come with their headers. Another one ends
    the oldest of the client that has most of them."""
    bodies_of_one: int = 64
    """The same of one client."""
    address_bytes: int = 8_192
    """Of path and query: as much as other servers take."""
    headers_bytes: int = 16_384
    at_once: int = 512
    """Requests that are open at a time, long ones included: ten times the clients of a large team,
    each of which may hold a stream."""


class Gate:
    """The outer edge of the server, around its routes."""

    def __init__(self, app: ASGIApp, access: Access, limits: GateLimits | None = None) -> None:
        self._app = app
        self._access = access
        self._limits = limits or GateLimits()
        self._bodies = Bodies(self._limits.bodies_at_once, self._limits.bodies_of_one)
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or let it pass."""
        from starlette.datastructures import Headers

        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            counts = scope["path"] not in RESERVED_ROUTES
            with request(Headers(scope=scope).get("x-request-id")) as name:
                self._open += counts
                try:
                    await self._answer(scope, receive, _Sending(send, name))
                finally:
                    self._open -= counts

    async def _answer(self, scope: Scope, receive: Receive, send: _Sending) -> None:
        began = time.perf_counter()
        try:
            await self._pass(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the outer edge: no client sees a traceback
            log_failure("http", error)
            if send.status is None:
                await _refuse(send, HttpProblem(INTERNAL.name, INTERNAL_SENTENCE))
        finally:
            method = scope["method"] if scope["method"] in _METHODS else _MANY
            route = getattr(scope.get("route"), "path", _MANY)
            seconds = time.perf_counter() - began
            record_http(route, method, send.status or 499, seconds)

    async def _pass(self, scope: Scope, receive: Receive, send: _Sending) -> None:
        from starlette.datastructures import Headers

        headers = Headers(scope=scope)
        client = self._client(scope, headers)
        if isinstance(client, HttpProblem):
            await _refuse(send, client)
            return
        scope.setdefault("state", {})["identity"] = client
        origin = headers.get("origin", "")
        if origin and self._access.is_foreign(origin):
            send.tells(origin)
            if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
                await _allow(send)
                return
        most = OPEN_BYTES if scope["path"] in OPEN_ROUTES else self._limits.body_bytes
        is_read = scope["path"] not in RESERVED_ROUTES
        body = await self._body(receive, headers, client, most) if is_read else b""
        if isinstance(body, HttpProblem):
            await _refuse(send, body)
        elif body is not None and (crowded := crowded_body(body)) is not None:
            await _refuse(send, crowded)
        elif body is not None:
            await self._app(scope, Replayed(body, receive), send)
            await send.finish()

    def _client(self, scope: Scope, headers: Headers) -> Identity | HttpProblem:
        """The client, or why its request is refused before the body is read."""
        limits = self._limits
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > limits.address_bytes:
            return HttpProblem(
                "address_too_long",
                f"Path and query may have {limits.address_bytes:,} bytes together; send long "
                "texts in the body.",
            )
        if sum(len(name) + len(value) for name, value in headers.raw) > limits.headers_bytes:
            return HttpProblem(
                "headers_too_large", f"The headers may have {limits.headers_bytes:,} bytes."
            )
        is_preflight = scope["method"] == "OPTIONS" and self._access.is_foreign(
            headers.get("origin", "")
        )
        is_open = is_preflight or scope["path"] in OPEN_ROUTES
        found = self._access.identified(_asked(scope, headers), is_open)
        if isinstance(found, AccessRefusal):
            return HttpProblem(found.code, found.message)
        if self._open > limits.at_once and scope["path"] not in RESERVED_ROUTES:
            return HttpProblem("too_busy", "Too many requests are open; ask again in a moment.")
        return found

    async def _body(
        self, receive: Receive, headers: Headers, client: Identity, most: int
    ) -> bytes | HttpProblem | None:
        """The whole body; None if the client left before its end."""
        import anyio

        too_large = HttpProblem("too_large", f"A request may have {most:,} bytes; send less.")
        told = headers.get("content-length", "0")
        if told.isdecimal() and int(told[:20]) > most:
            # Who asks beforehand whether to send it has not sent anything yet.
            if "expect" not in headers:
                await self._drain(receive)
            return too_large
        body = bytearray()
        with (
            self._bodies.awaited(client) as waiting,
            anyio.move_on_after(self._limits.body_seconds) as patience,
        ):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > most:
                    await self._drain(receive)
                    return too_large
                if not message.get("more_body", False):
                    return bytes(body)
        if waiting.cancel_called and not patience.cancel_called:
            return HttpProblem(
                "too_busy",
                "Too many requests are on their way, and this one is slow; send it again in one "
                "piece.",
            )
        return HttpProblem(
            "timeout",
            f"The request's body did not come within {self._limits.body_seconds:g} seconds; send "
            "it again.",
        )

    async def _drain(self, receive: Receive) -> None:
        """Let a client say what it has begun, within reason."""
        import anyio

        left = DRAINED_BODIES * self._limits.body_bytes
        with anyio.move_on_after(DRAINED_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _asked(scope: Scope, headers: Headers) -> Asked:
    """The headers of a request that access depends on, and the user that sent it."""
    connection = scope.get("state", {}).get("connection")
    port = (scope.get("server") or ("", 0))[1]
    return Asked(
        tuple(headers.getlist("host")),
        tuple(headers.getlist("origin")),
        tuple(headers.getlist("authorization")),
        is_relayed(headers.items()),
        (scope.get("client") or ("", 0))[0],
        lambda: None if connection is None else connection.uid,
        cookie_of(tuple(headers.getlist("cookie")), page_cookie(port)),
        headers.get(PAGE_HEADER, ""),
    )


class Replayed:
    """What an application receives: the body that was read already, then what the server says."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


class _Sending:
    """Sends the response with the headers of every response, and keeps its status."""

    def __init__(self, send: Send, name: str) -> None:
        self._send = send
        self._name = name
        self._origin = ""
        self.status: int | None = None
        self._is_whole = False

    async def finish(self) -> None:
        """End an answer that was only begun, as a stream is that the server's end cuts off."""
        if self.status is not None and not self._is_whole:
            await self({"type": "http.response.body", "body": b""})

    def tells(self, origin: str) -> None:
        """A page of another server may read the response only with this header."""
        self._origin = origin

    async def __call__(self, message: Message) -> None:
        from starlette.datastructures import MutableHeaders

        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._headers():
                headers[name] = value
            for name, value in _UNLESS_SAID.items():
                headers.setdefault(name, value)
        elif not message.get("more_body", False):
            self._is_whole = True
        await self._send(message)

    def _headers(self) -> Iterable[tuple[str, str]]:
        yield from _ALWAYS.items()
        yield "x-request-id", self._name
        if self._origin:
            yield "access-control-allow-origin", self._origin
            yield "access-control-expose-headers", "mcp-session-id, x-request-id"
            yield "vary", "origin"


async def _refuse(send: _Sending, problem: HttpProblem) -> None:
    headers = {**problem.headers, "content-type": "application/json"}
    if problem.code in _CLOSING:
        headers["connection"] = "close"
    await _respond(send, problem.status, headers, encoded(problem_json(problem)))


async def _allow(send: _Sending) -> None:
    """The response to a preflight request of a browser."""
    headers = {
        "access-control-allow-methods": "GET, POST, DELETE",
        "access-control-allow-headers": (
            "authorization, content-type, accept, last-event-id, mcp-method, mcp-name, "
            "mcp-protocol-version, mcp-session-id, x-request-id"
        ),
        "access-control-max-age": "600",
    }
    await _respond(send, HTTPStatus.NO_CONTENT, headers, b"")


async def _respond(send: _Sending, status: int, headers: dict[str, str], body: bytes) -> None:
    sized = (
        headers
        if status == HTTPStatus.NO_CONTENT
        else {**headers, "content-length": str(len(body))}
    )
    raw = [(name.encode(), value.encode()) for name, value in sized.items()]
    await send({"type": "http.response.start", "status": int(status), "headers": raw})
    await send({"type": "http.response.body", "body": body})
