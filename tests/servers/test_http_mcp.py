"""Is what is no message of MCP answered over HTTP as over a pipe, and the next one as ever?"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from asterism.operations.dispatch.toolbox import Toolbox
from asterism.servers.mcp.handshake import STATELESS_VERSION
from tests.servers.conftest import make_engine
from tests.servers.http_clients import client_of
from tests.servers.test_mcp_frames import BROKEN, PARAMS, PARSE
from tests.servers.test_mcp_front import STATELESS, handshake, request

HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
}
FITTING = [entry for entry in BROKEN if len(entry[0]) < 4_194_304]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    toolbox = Toolbox(make_engine(tmp_path_factory.mktemp("framed")))
    with client_of(toolbox) as made:
        yield made
    toolbox.close()


@pytest.mark.parametrize(("frame", "code", "id_"), FITTING, ids=range(len(FITTING)))
def test_what_is_no_message(
    client: TestClient, frame: bytes, code: int, id_: int | str | None
) -> None:
    answer = client.post("/mcp", content=frame, headers=HEADERS)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/json"
    assert (answer.json()["error"]["code"], answer.json()["id"]) == (code, id_)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"", PARSE),
        (b" \r\n", PARSE),
        (b'{"jsonrpc":"2.0","method":"notifications/unheard","params":[1]}', PARAMS),
    ],
)
def test_an_answer_is_always_due(client: TestClient, frame: bytes, code: int) -> None:
    answer = client.post("/mcp", content=frame, headers=HEADERS)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


def heard(answer: Any) -> dict[str, Any]:
    lines = [line for line in answer.text.splitlines() if line.startswith("data: {")]
    found: dict[str, Any] = json.loads(lines[-1].removeprefix("data: "))
    return found


def test_a_session_goes_on_after_what_is_no_message(client: TestClient) -> None:
    first, greeting, tools = handshake("2025-06-18")
    opened = client.post(
        "/mcp", content=b"\xef\xbb\xbf" + json.dumps(first).encode(), headers=HEADERS
    )
    assert opened.status_code == 200, opened.text
    session = {**HEADERS, "mcp-session-id": opened.headers["mcp-session-id"]}
    assert client.post("/mcp", json=greeting, headers=session).status_code == 202
    for frame in (b"{", b"\xff", b"[]", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}'):
        assert client.post("/mcp", content=frame, headers=session).status_code == 400
    assert heard(client.post("/mcp", json=tools, headers=session))["result"]["tools"]
    unknown = client.post("/mcp", json=request(9, "no/such/method"), headers=session)
    assert (heard(unknown)["id"], heard(unknown)["error"]["code"]) == (9, -32601)
    wrong = client.post("/mcp", json=request(10, "tools/call", {"arguments": {}}), headers=session)
    assert (heard(wrong)["id"], heard(wrong)["error"]["code"]) == (10, -32602)


@pytest.mark.parametrize("method", ["tools/call", "tools/list", "resources/list"])
def test_a_call_without_a_session_is_told_what_to_send(client: TestClient, method: str) -> None:
    for headers in (HEADERS, {**HEADERS, "mcp-protocol-version": ""}):
        answer = client.post("/mcp", json=request(7, method), headers=headers)
        assert (answer.status_code, answer.json()["id"]) == (400, 7)
        error = answer.json()["error"]
        assert error["code"] == -32600
        assert error["message"].startswith("No session is open. Send initialize first, ")
        assert "Mcp-Session-Id" in error["message"]


def test_a_request_that_says_who_asks_needs_no_session(client: TestClient) -> None:
    headers = {**HEADERS, "mcp-protocol-version": STATELESS_VERSION, "mcp-method": "tools/list"}
    answer = client.post("/mcp", json=STATELESS[1], headers=headers)
    assert "tools" in answer.text


def test_other_content_is_refused_by_its_kind(client: TestClient) -> None:
    answer = client.post("/mcp", content=b"{", headers={**HEADERS, "content-type": "text/plain"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, -32600)
