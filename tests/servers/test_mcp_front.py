"""Are the answers that open a session the same as the SDK's own, and is it handed over in order?"""

import json
from threading import Event
from typing import Any

import anyio
import pytest
from mcp.server.stdio import stdio_server
from mcp.types import version as versions

from asterism.operations.dispatch.toolbox import Toolbox
from asterism.servers.mcp.handshake import (
    HANDSHAKE_VERSIONS,
    STATELESS_VERSION,
    Front,
    NotOurs,
    is_unopened,
)
from asterism.servers.mcp.server import make_server

CLIENT = {"name": "test", "version": "1"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
Message = dict[str, Any]


def request(id_: int | str, method: str, params: Message | None = None) -> Message:
    with_params = {} if params is None else {"params": params}
    return {"jsonrpc": "2.0", "id": id_, "method": method, **with_params}


def handshake(version: str) -> list[Message]:
    client = {**CLIENT, "title": "Test", "description": "A test.", "websiteUrl": "http://localhost"}
    able = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}}}
    params = {"protocolVersion": version, "capabilities": able, "clientInfo": client, "_meta": {}}
    return [
        request(0, "initialize", params),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("a", "tools/list", {"_meta": {"progressToken": 1}}),
    ]


STATELESS = [
    request(0, "server/discover", {"_meta": ENVELOPE}),
    request(1, "tools/list", {"_meta": ENVELOPE}),
]


class _Lines:
    """The messages, and the end when all requests are answered: the SDK drops what is not."""

    def __init__(self, messages: list[Message], answered: Event) -> None:
        self._lines = [json.dumps(message) + "\n" for message in messages]
        self._answered = answered

    def readline(self) -> str:
        if self._lines:
            return self._lines.pop(0)
        assert self._answered.wait(60)
        return ""


class _Written:
    def __init__(self, wanted: int, answered: Event) -> None:
        self.lines: list[str] = []
        self._wanted = wanted
        self._answered = answered

    def write(self, text: str) -> None:
        self.lines.append(text)
        if len(self.lines) == self._wanted:
            self._answered.set()

    def flush(self) -> None:
        pass


def of_the_sdk(toolbox: Toolbox, messages: list[Message]) -> list[Message]:
    """What the SDK answers to the same lines."""
    answered = Event()
    written: Any = _Written(sum("id" in message for message in messages), answered)
    lines: Any = _Lines(messages, answered)

    async def session() -> None:
        server = make_server(toolbox)
        async with stdio_server(anyio.wrap_file(lines), anyio.wrap_file(written)) as streams:
            reading, writing = streams
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(session)
    return [json.loads(line) for line in written.lines]


def of_the_front(messages: list[Message]) -> list[Message]:
    front = Front()
    replies = [front.answer(json.dumps(message)) for message in messages]
    assert front.over
    return [json.loads(reply) for reply in replies if reply is not None]


@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, "1999-01-01", STATELESS_VERSION])
def test_a_handshake_is_answered_as_the_sdk_does(toolbox: Toolbox, version: str) -> None:
    messages = handshake(version)
    assert of_the_front(messages) == of_the_sdk(toolbox, messages)


def test_a_stateless_opening_is_answered_as_the_sdk_does(toolbox: Toolbox) -> None:
    assert of_the_front(STATELESS) == of_the_sdk(toolbox, STATELESS)


def test_the_versions_are_the_sdks() -> None:
    assert HANDSHAKE_VERSIONS == versions.HANDSHAKE_PROTOCOL_VERSIONS
    assert (STATELESS_VERSION,) == versions.MODERN_PROTOCOL_VERSIONS


GREETED = [json.dumps(message) for message in handshake("2025-11-25")[:2]]


def test_a_call_before_the_handshake_is_told_what_to_send(toolbox: Toolbox) -> None:
    """With the code that the SDK has for it, and the session can still be opened."""
    call = request("a", "tools/call", {"name": "search_code", "arguments": {"query": "x"}})
    for first in (call, request(1, "tools/list"), request(1, "resources/list", {"_meta": {}})):
        front = Front()
        told = json.loads(front.answer(json.dumps(first)) or "")
        (sdk,) = of_the_sdk(toolbox, [first])
        assert (told["id"], told["error"]["code"]) == (first["id"], sdk["error"]["code"])
        assert told["error"]["message"].startswith("No session is open. Send initialize first, ")
        assert not front.over
        assert "result" in json.loads(front.answer(GREETED[0]) or "")


def test_methods_that_need_a_session_are_those_of_the_server(toolbox: Toolbox) -> None:
    server = make_server(toolbox)
    methods = ("tools/list", "tools/call", "resources/list", "resources/read", "logging/setLevel")
    assert all(is_unopened(request(0, name)) for name in methods)
    assert all(server.get_request_handler(name) for name in methods)
    for other in ("ping", "initialize", "server/discover", "no/such/method"):
        assert not is_unopened(request(0, other))
    assert not is_unopened(request(0, "tools/list", {"_meta": ENVELOPE}))


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ([], "not json"),
        ([], ""),
        ([], "[]"),
        ([], "[" * 100_000),
        ([], '{"jsonrpc":"1.0","id":0,"method":"initialize"}'),
        ([], json.dumps(request(0, "initialize"))),
        ([], json.dumps(request(0, "initialize", {"protocolVersion": 5}))),
        ([], json.dumps(request(0, "ping"))),
        ([], json.dumps(request(0, "server/discover"))),
        ([], json.dumps(request(0, "tools/list", {"_meta": {**ENVELOPE, "x": 1}, "cursor": "a"}))),
        ([], '{"jsonrpc":"2.0","id":null,"method":"initialize"}'),
        ([], '{"jsonrpc":"2.0","id":true,"method":"initialize"}'),
        (GREETED[:1], GREETED[0]),
        (GREETED[:1], json.dumps(request(1, "tools/list"))),
        (GREETED, GREETED[1]),
        (GREETED, json.dumps(request(1, "tools/call", {"name": "search_code"}))),
        (GREETED, json.dumps(request(1, "tools/list", {"cursor": "x"}))),
        (GREETED, json.dumps(request(1, "tools/list", {"_meta": ENVELOPE}))),
    ],
)
def test_anything_else_is_handed_over(before: list[str], line: str) -> None:
    front = Front()
    for one in before:
        front.answer(one)
    with pytest.raises(NotOurs):
        front.answer(line)
    assert front.over
    opening = front.opening((line,))
    assert (opening.handshake, opening.pending) == (tuple(before), (line,))
