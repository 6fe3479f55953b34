"""Do requests get threads fairly, in time, and only while their clients are there?"""

from collections.abc import Awaitable, Callable
from threading import Event, Semaphore
from typing import Any

import anyio
import pytest
from mcp import Client as McpClient

from asterism.engine.engine import Engine
from asterism.operations.dispatch.clients import Spender, working_for
from asterism.operations.dispatch.project_turns import ProjectTurns
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.servers.http.replies import Refused
from asterism.servers.http.state import ServerState
from asterism.servers.http.workers import LANE_AT_ONCE, ThreadRequest, Threads
from asterism.servers.mcp.server import make_server
from tests.servers.http_clients import client_of, error_of
from tests.servers.test_mcp_session import code_of

A, B = Spender("a"), Spender("b")


class Staying:
    """A request whose client waits."""

    async def receive(self) -> dict[str, str]:
        await anyio.sleep_forever()
        raise AssertionError


class Leaving:
    """A request whose client leaves when it is told to."""

    def __init__(self) -> None:
        self.leave = anyio.Event()

    async def receive(self) -> dict[str, str]:
        await self.leave.wait()
        return {"type": "http.disconnect"}


class Story:
    """Requests to one set of threads, and how they ended."""

    def __init__(self, threads: Threads) -> None:
        self.threads = threads
        self.ends: list[str] = []

    async def ask(self, client: Spender, work: Callable[[], object], **wanted: Any) -> None:
        """Ask, and note which client was answered, or which error it got."""
        request: Any = wanted.pop("request", None) or Staying()
        try:
            await self.threads.run(
                request, ThreadRequest(client=client, **wanted), lambda _: work()
            )
        except Refused as refused:
            self.ends.append(refused.problem.code)
        else:
            self.ends.append(client.name)


def told(threads: Threads, story: Callable[[Story, Any], Awaitable[None]]) -> list[str]:
    """Run a story until all of its requests are answered."""
    made = Story(threads)

    async def run() -> None:
        async with anyio.create_task_group() as group:
            await story(made, group)

    anyio.run(run)
    return made.ends


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(120):
        while not holds():
            await anyio.sleep(0.001)


def test_a_client_with_many_slow_queries_delays_another_by_one() -> None:
    turns, step, order = ProjectTurns(), Semaphore(0), list[str]()

    def query(client: Spender) -> None:
        with working_for(client), turns:
            step.acquire()
            order.append(client.name)

    async def story(story: Story, group: Any) -> None:
        for _ in range(9):
            group.start_soon(lambda: story.ask(A, lambda: query(A), lane="project"))
        await until(lambda: len(turns._waiting) == LANE_AT_ONCE // 2 - 1)
        group.start_soon(lambda: story.ask(B, lambda: query(B), lane="project"))
        await until(lambda: len(turns._waiting) == LANE_AT_ONCE // 2)
        step.release(10)

    told(Threads(), story)
    assert order == ["a", "b", *"aaaaaaaa"]


@pytest.mark.parametrize(("lane", "inside"), [(None, 8), ("project", 4)])
def test_one_client_has_half_of_the_threads(lane: str | None, inside: int) -> None:
    go_on = Event()

    async def story(story: Story, group: Any) -> None:
        for _ in range(20):
            group.start_soon(lambda: story.ask(A, go_on.wait, lane=lane))
        await anyio.wait_all_tasks_blocked()
        assert story.threads._working._of[A] == inside
        # The other client need not wait, and lets the first go on.
        await story.ask(B, go_on.set, lane=lane)
        assert story.ends[:1] == ["b"]

    assert told(Threads(), story) == ["b", *"a" * 20]


def test_one_client_does_not_fill_the_queue() -> None:
    go_on = Event()

    async def story(story: Story, group: Any) -> None:
        # Twelve may be open, six of one client; only one of them works.
        for _ in range(8):
            group.start_soon(lambda: story.ask(A, go_on.wait))
        await until(lambda: len(story.ends) == 2)
        assert story.ends == ["too_busy", "too_busy"]
        group.start_soon(lambda: story.ask(B, go_on.wait))
        await anyio.wait_all_tasks_blocked()
        assert len(story.ends) == 2
        go_on.set()

    ends = told(Threads(at_once=1, waiting=11), story)
    assert ends == ["too_busy", "too_busy", "a", "b", *"aaaaa"]


@pytest.mark.parametrize("leaves", [True, False])
def test_what_waits_in_vain_never_begins(leaves: bool) -> None:
    go_on, began = Event(), Event()

    async def story(story: Story, group: Any) -> None:
        leaving = Leaving()
        group.start_soon(lambda: story.ask(A, go_on.wait))
        await until(story.threads._working.is_full)
        seconds = 600 if leaves else 0.05
        group.start_soon(lambda: story.ask(B, began.set, request=leaving, seconds=seconds))
        await anyio.wait_all_tasks_blocked()
        if leaves:
            leaving.leave.set()
        # Its place in the queue is free, although nothing has ended.
        await until(lambda: len(story.ends) == 1)
        assert (len(story.threads._queue), story.threads._open._used) == (0, 1)
        go_on.set()

    ends = told(Threads(at_once=1), story)
    assert ends == ["cancelled" if leaves else "waited_too_long", "a"]
    assert not began.is_set()


def test_clients_hear_why_their_query_did_not_begin(engine: Engine) -> None:
    """Over HTTP and over MCP; both use the same threads."""
    late = ServerState(toolbox=Toolbox(engine, query_seconds=1e-9))
    full = ServerState(toolbox=Toolbox(engine), threads=Threads(at_once=1, waiting=-1))
    codes: list[str] = []

    async def story(state: ServerState) -> None:
        async with McpClient(make_server(state.toolbox, state)) as client:
            result: Any = await client.call_tool("search_code", {"query": "webhook"})
            codes.append(code_of(result))

    for state, code in ((late, "waited_too_long"), (full, "too_busy")):
        with client_of(state.toolbox, threads=state.threads) as client:
            answer = client.post("/api/search", json={"query": "webhook"})
            assert (answer.status_code, error_of(answer)) == (503, code)
            assert answer.headers["retry-after"] == "1"
        anyio.run(story, state)
    assert codes == ["waited_too_long", "too_busy"]
