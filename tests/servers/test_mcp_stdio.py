"""Does `asterism mcp` serve a client in a process of its own, quick to start and sure to end?"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from asterism.operations.registry import TOOLS
from asterism.servers.mcp.frames import FRAME_BYTES
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

    def send_bytes(self, frame: bytes) -> None:
        assert isinstance(self.process.stdin, TextIOWrapper)
        self.process.stdin.flush()
        self.process.stdin.buffer.write(frame + b"\n")
        self.process.stdin.buffer.flush()

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
def serving(base: Path, repository: Path, **variables: str) -> Iterator[Server]:
    with subprocess.Popen(
        [*COMMAND, str(repository)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environment(base), **variables},
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
        "import asterism.cli.main, asterism.cli.commands.mcp\n"
        "from asterism.servers.mcp.handshake import Front\n"
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
        "import asterism.cli.commands.mcp, asterism.cli.commands.serve\n"
        "import asterism.servers.mcp.server, asterism.servers.http.app\n"
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


ANSWERED: list[tuple[bytes, int | None, int | str | None]] = [
    (b"not json at all", -32700, None),
    (b"", None, None),
    (b"\r", None, None),
    (b"{", -32700, None),
    (b"[]", -32600, None),
    (b"null", -32600, None),
    (b"[" * 5_000, -32700, None),
    (b'{"jsonrpc":"2.0"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":3,"method":5}', -32600, 3),
    (b'{"jsonrpc":"1.0","id":3,"method":"ping"}', -32600, 3),
    (b'{"jsonrpc":"2.0","id":3,"result":{}}', None, None),
    (b'{"jsonrpc":"2.0","method":"notifications/unheard","params":[1]}', None, None),
    (
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
        None,
        None,
    ),
    (b"\x00\x01\x02", -32700, None),
    (b"\xff\xfe\xfd", -32700, None),
    (b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"x":"\xff"}}', -32700, 4),
    (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"\\ud800"}}', -32700, 5),
    (b'{"jsonrpc":"2.0","id":6,"method":"ping","params":{"x":1e999}}', -32700, 6),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":NaN}}', -32700, 7),
    (b'{"jsonrpc":"2.0","id":8,"method":"ping","params":[1]}', -32602, 8),
    (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', -32700, None),
    (b"x" * (FRAME_BYTES + 100_000), -32700, None),
    ("\ufffd".encode() * 10_000, -32700, None),
]
"""Frames as they are sent, with the code and the id of the error that answers them."""


@pytest.mark.parametrize("opened", [False, True], ids=["at the start", "in a session"])
def test_what_is_no_message_is_answered_and_ends_nothing(
    indexed_base: Path, harbor: Path, opened: bool
) -> None:
    with serving(indexed_base, harbor) as server:
        if opened:
            server.open()
        for frame, code, id_ in ANSWERED:
            server.send_bytes(frame)
            if code is not None:
                reply = server.receive()
                assert (reply["error"]["code"], reply["id"]) == (code, id_), frame[:80]
        if not opened:
            # After all that a session opens as ever, with what some systems put around a line.
            first, greeting, _ = handshake("2025-11-25")
            server.send_bytes(b"\xef\xbb\xbf" + json.dumps(first).encode() + b"\r")
            assert server.receive()["id"] == first["id"]
            server.send(json.dumps(greeting))
        assert server.ask(request(19, "no/such/method"))["error"]["code"] == -32601
        wrong: list[dict[str, object]] = [{}, {"query": 5}, {"query": "x", "y": 1}]
        for number, arguments in enumerate(wrong, start=20):
            reply = server.ask(call(number, "search_code", **arguments))
            assert reply["result"]["isError"]
        no_tool = server.ask(request(30, "tools/call", {"arguments": {}}))
        assert no_tool["error"]["code"] == -32602
        found = server.ask(call(40, "search_code", query="webhook", limit=1))
        assert not found["result"]["isError"]
        assert server.end() == 0


@pytest.mark.parametrize("when", ["before the handshake", "between its parts"])
def test_a_request_that_comes_too_early_is_answered(tmp_path: Path, when: str) -> None:
    with serving(tmp_path, copy_of_harbor(tmp_path)) as server:
        if when == "between its parts":
            server.ask(handshake("2025-11-25")[0])
        for number, method in enumerate(("tools/call", "no/such/method", "resources/read"), 50):
            reply = server.ask(request(number, method, {}))
            assert reply["error"]["code"] in (-32600, -32601, -32602)
        assert server.ask(request(60, "ping"))["result"] == {}
        assert server.end() == 0


def test_the_last_line_needs_no_end(tmp_path: Path) -> None:
    with serving(tmp_path, copy_of_harbor(tmp_path)) as server:
        assert server.process.stdin is not None
        server.process.stdin.write("{")
        assert server.end() == 0
        assert server.receive()["error"]["code"] == -32700


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


def test_a_missing_place_is_an_error(tmp_path: Path) -> None:
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
