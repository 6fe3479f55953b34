"""Is a call that its client has cancelled told so, and does it keep its place until it has ended?"""

from pathlib import Path
from threading import Event, Semaphore, Thread
from threading import enumerate as threads

import anyio
import anyio.to_thread
from mcp import Client

from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.servers.mcp.server import CALLS_AT_ONCE
from tests.servers.conftest import SETTINGS, copy_of_harbor
from tests.servers.test_mcp_session import code_of, found_in, tell

WAIT_SECONDS = 120
"""How long a thread may take to begin before the test gives up."""


def gated_engine(base: Path, go_on: Event, inside: Semaphore) -> Engine:
    """An engine in which every thread that comes to read the settings waits."""

    def settings(_root: str) -> Settings:
        inside.release()
        go_on.wait()
        return SETTINGS

    return Engine(DataDirectories(base / "data", base / "cache"), settings)


async def turns(client: Client) -> None:
    """Let the server do what it was asked before."""
    for _ in range(10):
        await client.list_tools(cache_mode="bypass")


def workers() -> set[Thread]:
    """The threads that calls run in."""
    return {thread for thread in threads() if thread.name == "AnyIO worker thread"}


def test_cancelled_calls_keep_their_places_until_they_end(indexed_base: Path, harbor: Path) -> None:
    go_on, inside = Event(), Semaphore(0)
    toolbox = Toolbox(gated_engine(indexed_base, go_on, inside), Standpoint(harbor))
    before = workers()

    async def waves(client: Client) -> None:
        for wave in range(3):
            async with anyio.create_task_group() as group:
                for _ in range(CALLS_AT_ONCE):
                    group.start_soon(client.call_tool, "index_status", {})
                if not wave:
                    # Each has its thread, and stays there.
                    for _ in range(CALLS_AT_ONCE):
                        assert await anyio.to_thread.run_sync(inside.acquire, True, WAIT_SECONDS)
                await turns(client)
                group.cancel_scope.cancel()
            await turns(client)

    async def story(client: Client) -> None:
        try:
            await waves(client)
            started = workers() - before
        finally:
            # Whatever happened: the server ends only when its threads do.
            go_on.set()
        # One is the test's own.
        assert len(started) == CALLS_AT_ONCE + 1
        assert not (await client.call_tool("index_status", {})).is_error

    tell(toolbox, story)
    toolbox.close()


def test_a_cancelled_indexing_stops(tmp_path: Path) -> None:
    go_on, inside = Event(), Semaphore(0)
    here = Standpoint(copy_of_harbor(tmp_path), is_root=True)
    toolbox = Toolbox(gated_engine(tmp_path, go_on, inside), here)

    async def begin_and_leave(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "index_codebase", {})
            await anyio.to_thread.run_sync(inside.acquire, True, WAIT_SECONDS)
            group.cancel_scope.cancel()
        await turns(client)

    async def story(client: Client) -> None:
        try:
            await begin_and_leave(client)
        finally:
            go_on.set()
        while (answer := await client.call_tool("index_codebase", {})).is_error:
            assert code_of(answer) == "index_busy"
            await anyio.sleep(0.01)
        # The first was told before it had read a file.
        assert found_in(answer)["files"]["added"] > 10

    tell(toolbox, story)
    toolbox.close()
