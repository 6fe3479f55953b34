"""Does `asterism mcp` serve a client in a process of its own, quick to start and sure to end?"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from asterism.servers.tools import TOOLS
from tests.servers.conftest import ROOT, copy_of_harbor
from tests.servers.test_mcp_front import STATELESS, Message, handshake, request

COMMAND = [sys.executable, "-m", "asterism.cli", "mcp"]
WAIT_SECONDS = 120
"""How long a process may take to end before the test gives up; none takes a tenth of it."""


def environment(base: Path) -> dict[str, str]:
    return {
        **os.environ,
        "ASTERISM_DATA_DIR": str(base / "data"),
        "ASTERISM_CACHE_DIR": str(base / "cache"),
        "ASTERISM_INDEX_SYNC_SECONDS": "600",
        "ASTERISM_WORK_JOBS": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }


class Server:
    """A server's process, spoken to line by line."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def receive(self) -> Message:
        assert self.process.stdout is not None
        message: Message = json.loads(self.process.stdout.readline())
        return message

    def ask(self, message: Message) -> Message:
        self.send(json.dumps(message))
        while True:
            reply = self.receive()
            if reply.get("id") == message["id"]:
                return reply

    def open(self) -> Message:
        """The handshake, up to the list of tools."""
        first, greeting, tools = handshake("2025-11-25")
        self.ask(first)
        self.send(json.dumps(greeting))
        return self.ask(tools)

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(WAIT_SECONDS)


@contextmanager
def serving(base: Path, repository: Path) -> Iterator[Server]:
    with subprocess.Popen(
        [*COMMAND, str(repository)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(base),
        encoding="utf-8",
    ) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


def call(id_: int, tool: str, **arguments: object) -> Message:
    return request(id_, "tools/call", {"name": tool, "arguments": arguments})


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_session_of_the_sdks_client(tmp_path: Path, mode: Any) -> None:
    harbor = copy_of_harbor(tmp_path)
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert total
        assert message
        heard.append(progress)

    async def session() -> None:
        server = StdioServerParameters(
            command=COMMAND[0], args=[*COMMAND[1:], str(harbor)], env=environment(tmp_path)
        )
        async with Client(server, mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [*TOOLS]
            made = await client.call_tool("index_codebase", {}, progress_callback=hear)
            assert not made.is_error
            answer = await client.call_tool("codebase_search", {"query": "symbol = Money"})
            texts = [part.text for part in answer.content if isinstance(part, TextContent)]
            assert "Money" in texts[0]
            assert len(texts) > 1

    anyio.run(session)
    assert heard == sorted({*heard})
    assert heard


@pytest.mark.parametrize("opening", [handshake("2025-06-18"), STATELESS])
def test_the_opening_loads_neither_sdk_nor_engine(opening: list[Message]) -> None:
    # Counted in modules, for a time would depend on the machine.
    code = (
        "import sys\n"
        "import asterism.cli.main, asterism.cli.mcp\n"
        "from asterism.servers.mcp_front import Front\n"
        "front = Front()\n"
        "for line in sys.stdin:\n"
        "    front.answer(line)\n"
        "print(front.over, *sys.modules)\n"
    )
    lines = "\n".join(json.dumps(message) for message in opening)
    run = subprocess.run(
        [sys.executable, "-c", code], input=lines, capture_output=True, text=True, check=True
    )
    over, *modules = run.stdout.split()
    assert over == "True"
    heavy = {"mcp", "pydantic", "anyio", "asyncio", "numpy", "lance", "sqlite3", "asterism.engine"}
    assert heavy & {*modules} == set()


def test_a_server_without_a_search_has_not_loaded_what_searches_need() -> None:
    code = (
        "import sys\n"
        "import asterism.cli.mcp, asterism.cli.serve\n"
        "import asterism.servers.mcp_server, asterism.servers.http_app\n"
        "print(*sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "pyarrow", "lance", "tokenizers", "onnxruntime", "sqlalchemy", "openai"}
    assert heavy & {*run.stdout.split()} == set()


def test_the_sdk_goes_on_where_the_front_ended(indexed_base: Path, harbor: Path) -> None:
    with serving(indexed_base, harbor) as server:
        assert [tool["name"] for tool in server.open()["result"]["tools"]] == [*TOOLS]
        found = server.ask(call(7, "search_code", query="webhook", limit=1))
        assert found["result"]["structuredContent"]["returned_count"] == 1
        assert server.ask(request(8, "ping"))["result"] == {}
        assert server.end() == 0


MALFORMED = [
    "not json at all",
    "",
    "{",
    "[]",
    "null",
    '"text"',
    "[" * 5_000,
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '{"jsonrpc":"2.0","id":3,"method":5}',
    '{"jsonrpc":"1.0","id":3,"method":"ping"}',
    '{"jsonrpc":"2.0","id":3,"result":{}}',
    '{"jsonrpc":"2.0","method":"notifications/unheard","params":[1]}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
    "\x00\x01\x02",
    "\ufffd" * 10_000,
]


@pytest.mark.parametrize("opened", [False, True], ids=["at the start", "in a session"])
def test_malformed_lines_end_nothing(indexed_base: Path, harbor: Path, opened: bool) -> None:
    with serving(indexed_base, harbor) as server:
        if opened:
            server.open()
        for line in MALFORMED:
            server.send(line)
        if not opened:
            server.ask(handshake("2025-11-25")[0])
            server.send(json.dumps(handshake("2025-11-25")[1]))
        wrong: list[dict[str, object]] = [{}, {"query": 5}, {"query": "x", "y": 1}]
        for number, arguments in enumerate(wrong, start=20):
            reply = server.ask(call(number, "search_code", **arguments))
            assert reply["result"]["isError"]
        no_tool = server.ask(request(30, "tools/call", {"arguments": {}}))
        assert no_tool["error"]["code"] == -32602
        found = server.ask(call(40, "search_code", query="webhook", limit=1))
        assert not found["result"]["isError"]
        assert server.end() == 0


@pytest.mark.parametrize("when", ["at once", "after the handshake", "during a call"])
def test_the_end_of_input_ends_the_server(tmp_path: Path, when: str) -> None:
    with serving(tmp_path, copy_of_harbor(tmp_path)) as server:
        if when != "at once":
            server.open()
        if when == "during a call":
            server.send(json.dumps(call(7, "index_codebase")))
        assert server.end() == 0


def test_a_signal_ends_the_server(indexed_base: Path, harbor: Path) -> None:
    with serving(indexed_base, harbor) as server:
        server.open()
        server.ask(call(7, "list_repositories"))
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(WAIT_SECONDS) == 0


def test_a_cancelled_call_leaves_the_server_free(tmp_path: Path) -> None:
    with serving(tmp_path, copy_of_harbor(tmp_path)) as server:
        server.open()
        server.send(json.dumps(call(7, "index_codebase", force=True)))
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        server.send(json.dumps({**cancelled, "params": {"requestId": 7}}))
        listed = server.ask(call(8, "list_repositories"))
        assert not listed["result"]["isError"]
        assert server.end() == 0


def test_a_place_that_is_none_is_an_error(tmp_path: Path) -> None:
    run = subprocess.run(
        [*COMMAND, str(tmp_path / "nowhere")],
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert "nowhere is no directory" in run.stderr
