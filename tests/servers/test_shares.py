"""Does every client get its share of the processor and no more, by a clock of the test's own?"""

from typing import Any

import pytest
from starlette.requests import Request

from asterism.domain.errors import ShareExceeded
from asterism.domain.processor_time import add_helper_time
from asterism.servers.access import Identity, Kind
from asterism.servers.http_work import Threads
from asterism.servers.mcp_server import refusal
from asterism.servers.shares import ShareOptions, Shares, Spender, spender_of, thread_meter
from asterism.servers.tools_running import Toolbox
from tests.servers.http_clients import client_of as http_client_of
from tests.servers.http_clients import error_of

USER = Identity(Kind.user, "1000")
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
        ({}, Identity(Kind.user, "1001"), False, False),
        ({}, Identity(Kind.token, "1000"), False, False),
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


def request_of_test_client() -> Request:
    return Request({"type": "http", "headers": [], "client": ("testclient", 50000)})


def test_tools_say_when_to_ask_again() -> None:
    reply = refusal(ShareExceeded("Too much; ask again in 2.3 s.", 2.34))
    assert reply.error == "share_exceeded"
    assert reply.meta["asterism"] == {"code": "share_exceeded", "retry_after_seconds": 2.3}
    assert "ask again" in reply.parts[0].text
