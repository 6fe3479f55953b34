"""Does every client get its share of the processor and no more, by a clock of the test's own?"""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import current_thread
from typing import Any

import anyio
import pytest
from mcp import Client as McpClient
from starlette.requests import Request

from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.clients import Spender
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.servers.access import Identity, IdentityKind
from asterism.servers.http.shares import ShareOptions, Shares, spender_of, thread_meter
from asterism.servers.http.state import ServerState
from asterism.servers.http.workers import Threads
from asterism.servers.mcp.server import make_server, refusal
from asterism.types.deadlines import add_helper_time
from asterism.types.errors import ShareExceeded
from tests.servers.conftest import copy_of_harbor, make_engine
from tests.servers.http_clients import client_of as http_client_of
from tests.servers.http_clients import error_of
from tests.servers.test_http_mcp import HEADERS, heard
from tests.servers.test_mcp_front import handshake, request
from tests.servers.test_mcp_session import code_of

USER = Identity(IdentityKind.user, "1000")
ONE, OTHER = Spender("one"), Spender("other")


class Machine:
    """A clock and a processor that run when they are told to."""

    def __init__(self, **options: float) -> None:
        self.now = 1_000.0
        self.used = 0.0
        self.shares = Shares(
            options=ShareOptions(**options),
            clock=lambda: self.now,
            meter_of_thread=lambda: lambda: self.used,
        )

    def query(self, client: Spender, seconds: float, of_processor: float | None = None) -> None:
        """A query that takes so long, and so much of the processor."""
        with self.shares.counted(client):
            self.now += seconds
            self.used += seconds if of_processor is None else of_processor

    def wait_of(self, client: Spender) -> float:
        try:
            self.shares.check(client)
        except ShareExceeded as error:
            return error.seconds
        return 0.0


def test_a_client_may_use_five_seconds_of_ten() -> None:
    machine = Machine()
    for _ in range(4):
        machine.query(ONE, 1.0)
        assert machine.wait_of(ONE) == 0
    machine.query(ONE, 1.0)
    # At 1,005: from 1,010 on the first query leaves the window.
    assert machine.wait_of(ONE) == pytest.approx(5.0, abs=1e-3)
    assert machine.wait_of(OTHER) == 0
    machine.now += 4.9
    assert machine.wait_of(ONE) > 0
    machine.now += 0.2
    assert machine.wait_of(ONE) == 0


def test_a_long_query_counts_while_it_runs() -> None:
    machine = Machine()
    with machine.shares.counted(ONE):
        machine.now += 6.0
        machine.used += 6.0
        assert machine.wait_of(ONE) > 0
    machine.now += 30.0
    assert machine.wait_of(ONE) == 0


def test_of_a_long_query_the_part_in_the_window_counts() -> None:
    machine = Machine()
    machine.query(ONE, 30.0)
    # Ten of its seconds are in the window, of which five have to leave it.
    assert machine.wait_of(ONE) == pytest.approx(5.0, abs=1e-3)


def test_waiting_is_no_work_and_helpers_work_is() -> None:
    machine = Machine()
    machine.query(ONE, 9.0, of_processor=0.1)
    assert machine.wait_of(ONE) == 0
    with machine.shares.counted(ONE):
        machine.now += 0.5
        add_helper_time(6.0)
    assert machine.wait_of(ONE) > 0


def test_several_queries_at_once_count_together() -> None:
    machine = Machine()
    with machine.shares.counted(ONE), machine.shares.counted(ONE):
        # Both threads have the same meter here, as if each used all of it.
        machine.now += 3.0
        machine.used += 3.0
    assert machine.wait_of(ONE) > 0


def test_sessions_of_one_address_have_a_limit_together() -> None:
    machine = Machine()
    for number in range(4):
        machine.query(Spender(f"session {number}", "address"), 1.0, of_processor=4.9)
        assert machine.wait_of(Spender(f"session {number}", "address")) == 0
    machine.query(Spender("session 5", "address"), 1.0, of_processor=4.0)
    assert machine.wait_of(Spender("session 6", "address")) > 0
    assert machine.wait_of(Spender("session 6", "elsewhere")) == 0


def test_nothing_is_limited_with_zero() -> None:
    machine = Machine(seconds=0)
    machine.query(ONE, 100.0)
    assert machine.wait_of(ONE) == 0


def test_the_meter_counts_this_thread_alone() -> None:
    meter = thread_meter()
    before = meter()
    while meter() == before:
        sum(range(1_000))
    assert meter() > before


@pytest.mark.parametrize(
    ("headers", "identity", "is_session", "same"),
    [
        ({}, USER, False, True),
        ({"mcp-session-id": "a"}, USER, False, True),
        ({"mcp-session-id": "a"}, USER, True, False),
        ({"authorization": "Bearer made up"}, USER, False, True),
        ({}, Identity(IdentityKind.user, "1001"), False, False),
        ({}, Identity(IdentityKind.token, "1000"), False, False),
    ],
)
def test_who_a_client_is(
    headers: dict[str, str], identity: Identity, is_session: bool, same: bool
) -> None:
    plain = spender_of(request_of({}, USER))
    assert (spender_of(request_of(headers, identity), is_session=is_session) == plain) is same


def request_of(headers: dict[str, str], identity: Identity) -> Request:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, Any] = {
        "type": "http",
        "headers": raw,
        "client": ("127.0.0.1", 1234),
        "state": {"identity": identity},
    }
    return Request(scope)


def test_http_says_when_to_ask_again(toolbox: Toolbox) -> None:
    machine = Machine()
    with http_client_of(toolbox, shares=machine.shares, threads=Threads()) as client:
        assert client.post("/api/search", json={"query": "webhook"}).status_code == 200
        machine.query(spender_of(request_of_test_client()), 6.0)
        answer = client.post("/api/search", json={"query": "webhook"})
        assert (answer.status_code, error_of(answer)) == (429, "share_exceeded")
        # A little over five seconds, in whole ones.
        assert int(answer.headers["retry-after"]) == 6
        assert "ask again in" in answer.json()["error"]["message"]
        # What says that the server lives is for everyone, always.
        assert client.get("/healthz").status_code == 200
        machine.now += 11
        assert client.post("/api/search", json={"query": "webhook"}).status_code == 200


def machine_that_pays_for_searches_of_turns() -> Machine:
    """Each piece of work in a thread that searches for a question takes six seconds there."""
    machine = Machine()

    def meter() -> Callable[[], float]:
        readings = count()
        is_search = current_thread().name.startswith("asterism-ask-search")
        return lambda: 6.0 if is_search and next(readings) else 0.0

    machine.shares.meter_of_thread = meter
    return machine


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_question_over_http_is_work_of_its_client(toolbox: Toolbox, accept: str) -> None:
    machine = machine_that_pays_for_searches_of_turns()
    question = {"question": "who signs webhooks?", "provider": "extractive"}
    with http_client_of(toolbox, shares=machine.shares, threads=Threads()) as client:
        asked = client.post("/api/ask", json=question, headers={"accept": accept})
        assert asked.status_code == 200, asked.text
        for path in ("/api/ask", "/api/search", "/api/turns/x/approvals"):
            answer = client.post(path, json={"query": "webhook", **question})
            assert (answer.status_code, error_of(answer)) == (429, "share_exceeded")
        machine.now += 11
        assert client.post("/api/ask", json=question).status_code == 200


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("codebase_question", {"question": "who signs webhooks?", "provider": "extractive"}),
        ("run_agent_instruction", {"instruction": "who signs webhooks?", "agentName": "signer"}),
    ],
)
def test_a_question_over_mcp_is_work_of_its_client(
    tmp_path: Path, tool: str, arguments: dict[str, str]
) -> None:
    engine, harbor = make_engine(tmp_path), copy_of_harbor(tmp_path)
    engine.index(engine.register(harbor))
    agents = tmp_path / "data" / "agents"
    agents.mkdir(parents=True, exist_ok=True)
    (agents / "signer.yaml").write_text("description: knows webhooks\n")
    toolbox = Toolbox(engine, Standpoint(harbor))
    machine = machine_that_pays_for_searches_of_turns()
    with http_client_of(toolbox, shares=machine.shares, threads=Threads()) as client:
        first, greeting, _ = handshake("2025-06-18")
        opened = client.post("/mcp", json=first, headers=HEADERS)
        session = {**HEADERS, "mcp-session-id": opened.headers["mcp-session-id"]}
        client.post("/mcp", json=greeting, headers=session)

        def asked(number: int) -> dict[str, Any]:
            call = request(number, "tools/call", {"name": tool, "arguments": arguments})
            result: dict[str, Any] = heard(client.post("/mcp", json=call, headers=session))[
                "result"
            ]
            return result

        assert not asked(7)["isError"]
        refused = asked(8)
        assert refused["isError"]
        assert refused["_meta"]["asterism"]["code"] == "share_exceeded"
    toolbox.close()


def request_of_test_client() -> Request:
    return Request({"type": "http", "headers": [], "client": ("testclient", 50000)})


def test_tools_say_when_to_ask_again() -> None:
    reply = refusal(ShareExceeded("Too much; ask again in 2.3 s.", 2.34))
    assert reply.error == "share_exceeded"
    assert reply.meta["asterism"] == {"code": "share_exceeded", "retry_after_seconds": 2.3}
    assert "ask again" in reply.parts[0].text


def test_a_tool_is_refused_until_the_share_is_back(toolbox: Toolbox) -> None:
    machine = Machine()
    codes: list[str | None] = []

    async def story() -> None:
        async with McpClient(
            make_server(toolbox, ServerState(toolbox=toolbox, shares=machine.shares))
        ) as client:
            for pause in (0.0, 11.0):
                machine.now += pause
                result: Any = await client.call_tool("search_code", {"query": "webhook"})
                codes.append(code_of(result) if result.is_error else None)

    # Who calls without HTTP is one client.
    machine.query(spender_of(None), 6.0)
    anyio.run(story)
    assert codes == ["share_exceeded", None]
