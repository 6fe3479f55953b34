"""MCP over HTTP: answers broken frames with the same errors as over standard input."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING

from asterism.servers.http.gate import Replayed
from asterism.servers.mcp.frames import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Broken,
    message_in,
)
from asterism.servers.mcp.handshake import STATELESS_VERSION, UNOPENED, is_unopened

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
_JSON = "application/json"
_UNOPENED = (
    f"{UNOPENED} The answer to initialize has the header Mcp-Session-Id; send it with the rest."
)
_NO_JSON = Broken(INVALID_REQUEST, "Send messages as JSON, with Content-Type: application/json.")


class Framed:
    """An application whose MCP endpoint gets valid messages only."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer broken frames; the SDK answers messages."""
        from starlette.datastructures import Headers

        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        kind = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
        if kind != _JSON:
            await _answer(send, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, _NO_JSON)
            return
        body = (await receive()).get("body", b"")
        # Over HTTP an answer is always due.
        found = message_in(body, self._most) or _unanswered(body)
        if isinstance(found, str):
            found = _refused(found, Headers(scope=scope)) or found
        if isinstance(found, Broken):
            await _answer(send, HTTPStatus.BAD_REQUEST, found)
        else:
            await self._app(scope, Replayed(found.encode(), receive), send)


def _refused(text: str, headers: Headers) -> Broken | None:
    """The error for a request without a session; the SDK says only that an id is missing."""
    version = headers.get("mcp-protocol-version")
    if "mcp-session-id" in headers or version == STATELESS_VERSION:
        return None
    message = json.loads(text)
    return Broken(INVALID_REQUEST, _UNOPENED, message["id"]) if is_unopened(message) else None


def _unanswered(body: bytes) -> Broken:
    if body.strip():
        return Broken(INVALID_PARAMS, "The parameters of a method are an object.")
    return Broken(PARSE_ERROR, "There is no message; send one object of JSON.")


async def _answer(send: Send, status: HTTPStatus, broken: Broken) -> None:
    body = broken.reply().encode()
    headers = [(b"content-type", _JSON.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})
