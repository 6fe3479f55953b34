"""Does `asterism serve` start, serve many clients at once, and end without leaving anything?"""

import contextlib
import gc
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, MCPError

from asterism.operations.registry import TOOLS
from asterism.servers.http.process import FREEZES, collecting_briefly
from tests.servers.conftest import copy_of_harbor
from tests.servers.http_clients import (
    COMMAND,
    WAIT_SECONDS,
    Served,
    descendants,
    events_in,
    is_running,
    served,
)
from tests.servers.test_mcp_stdio import environment

TOKEN = "0123456789abcdef0123456789"


def refusal(base: Path, *options: str, **variables: str) -> str:
    """What a command says that does not start."""
    run = subprocess.run(
        [*COMMAND, *options],
        env={**environment(base), **variables},
        cwd=base,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.count("\n") == 1
    return run.stderr


def test_what_does_not_start_says_why(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"Port {port} of 127.0.0.1 is in use" in refusal(tmp_path, "--port", port)
    known = {"ASTERISM_SERVER_TOKEN": TOKEN}
    assert "no address of this machine" in refusal(tmp_path, "--host", "a..b", **known)
    # An address that is reserved for examples.
    assert "cannot listen on 203.0.113.9" in refusal(tmp_path, "--host", "203.0.113.9", **known)
    assert "need a token" in refusal(tmp_path, "--host", "0.0.0.0", "--port", "0")
    assert "is no directory" in refusal(tmp_path, "absent")
    short = refusal(tmp_path, "--port", "0", ASTERISM_SERVER_TOKEN="short")
    assert "openssl rand" in short
    assert "cannot be read" in refusal(tmp_path, "--token-file", "absent.txt")
    (tmp_path / "empty.txt").touch()
    assert "is empty" in refusal(tmp_path, "--token-file", "empty.txt")
    assert "is no port" in refusal(tmp_path, "--port", "70000")


def test_a_repository_cannot_bring_a_token_or_open_the_server(tmp_path: Path) -> None:
    (tmp_path / "asterism.toml").write_text('[server]\ntoken = "0123456789abcdef"\n')
    assert "server.token is a secret" in refusal(tmp_path, "--port", "0")
    (tmp_path / "asterism.toml").write_text('[server]\nhost = "0.0.0.0"\n')
    with served(tmp_path, tmp_path) as server:
        assert server.address.startswith("http://127.0.0.1:")
        assert server.end(signal.SIGTERM) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server(indexed_base: Path, harbor: Path, number: int) -> None:
    with served(indexed_base, harbor) as server:
        found = httpx.post(f"{server.address}/api/search", json={"query": "webhook"})
        assert found.status_code == 200
        assert server.end(number) == 0
        assert server.process.stdout is not None
        assert server.process.stdout.read() == "Ctrl-C ends it.\nEnded.\n"
        assert server.process.stderr is not None
        assert "Traceback" not in server.process.stderr.read()


def test_collections_pass_over_what_lives_as_long_as_the_server() -> None:
    frozen, kept = list[int](), list[list[int]]()
    with collecting_briefly():
        for _ in range(FREEZES + 1):
            frozen.append(gc.get_freeze_count())
            kept.extend([number] for number in range(10_000))
            gc.collect()
    assert frozen[0] > 0
    grown = [later - earlier > 9_000 for earlier, later in pairwise(frozen)]
    assert grown == [True] * (FREEZES - 1) + [False]
    assert gc.get_freeze_count() == 0


def test_a_token_opens_a_server_for_others(indexed_base: Path, harbor: Path) -> None:
    options = ("--host", "0.0.0.0")
    with served(indexed_base, harbor, *options, ASTERISM_SERVER_TOKEN=TOKEN) as server:
        address = server.address.replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(f"{address}/healthz").text == "ok\n"
        refused = httpx.get(f"{address}/metrics")
        assert (refused.status_code, refused.headers["www-authenticate"]) == (
            401,
            'Bearer realm="asterism"',
        )
        bearer = {"authorization": f"Bearer {TOKEN}"}
        assert httpx.get(f"{address}/metrics", headers=bearer).status_code == 200
        wrong = {"authorization": f"Bearer {TOKEN[::-1]}"}
        assert httpx.post(f"{address}/mcp", json={}, headers=wrong).status_code == 401
        assert server.end(signal.SIGTERM) == 0
        assert server.process.stderr is not None
        assert TOKEN not in server.process.stderr.read()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_session_of_the_sdks_client(indexed_base: Path, harbor: Path, mode: Any) -> None:
    async def session(address: str) -> None:
        async with Client(f"{address}/mcp", mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [*TOOLS]
            found = await client.call_tool("search_code", {"query": "webhook", "limit": 1})
            assert not found.is_error
            resources = await client.list_resources()
            assert len(resources.resources) == 2

    with served(indexed_base, harbor) as server:
        anyio.run(session, server.address)
        assert server.end(signal.SIGTERM) == 0


def test_a_server_that_only_answers_has_no_tools_that_change(tmp_path: Path) -> None:
    harbor = copy_of_harbor(tmp_path)

    async def session(address: str) -> None:
        async with Client(f"{address}/mcp") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == [name for name, tool in TOOLS.items() if tool.read_only]
            with pytest.raises(MCPError, match="There is no tool 'index_codebase'"):
                await client.call_tool("index_codebase", {})

    with served(tmp_path, harbor, "--read-only") as server:
        anyio.run(session, server.address)
        assert httpx.get(f"{server.address}/api/repositories").json()["repositories"] == []


def test_mcp_sessions_and_the_api_at_once(indexed_base: Path, harbor: Path) -> None:
    """Every client gets its own answers, with others beside it."""
    words = ["webhook", "parcel", "money", "invoice", "label", "token", "price", "queue"]

    def ask(address: str, word: str) -> tuple[str, str]:
        found = httpx.post(
            f"{address}/api/search", json={"query": word, "limit": 2}, timeout=WAIT_SECONDS
        )
        return word, found.json()["query"]

    async def sessions(address: str) -> list[tuple[str, str]]:
        answers: list[tuple[str, str]] = []

        async def one(word: str) -> None:
            async with Client(f"{address}/mcp") as client:
                found = await client.call_tool("search_code", {"query": word})
                assert isinstance(found.structured_content, dict)
                answers.append((word, found.structured_content["query"]))

        async with anyio.create_task_group() as group:
            for word in words:
                group.start_soon(one, word)
        return answers

    with served(indexed_base, harbor) as server, ThreadPoolExecutor(8) as pool:
        pending = [pool.submit(ask, server.address, word) for word in words * 4]
        over_mcp = anyio.run(sessions, server.address)
        answers = [*over_mcp, *(one.result() for one in pending)]
        assert len(answers) == 40
        assert all(word == told for word, told in answers)
        assert server.end(signal.SIGTERM) == 0


def test_an_indexing_is_stopped_by_the_end_and_goes_on_later(tmp_path: Path) -> None:
    harbor = copy_of_harbor(tmp_path)
    for number in range(300):
        (harbor / f"m{number}.py").write_text(f"def made_{number}():\n    return {number}\n" * 20)
    with served(tmp_path, harbor) as server:
        with httpx.stream(
            "POST",
            f"{server.address}/api/index",
            headers={"accept": "text/event-stream"},
            timeout=WAIT_SECONDS,
        ) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("event: ")
            server.process.send_signal(signal.SIGTERM)
            rest = "\n".join(["event: progress", *lines])
        name, data = events_in(rest)[-1]
        assert (name == "done" and data["state"] in ("cancelled", "done")) or (
            data["error"]["code"] == "cancelled"
        )
        assert server.process.wait(WAIT_SECONDS) == 0
    with served(tmp_path, harbor) as server:
        made = httpx.post(f"{server.address}/api/index", timeout=WAIT_SECONDS).json()
        assert made["state"] == "done"
        assert made["files"]["total"] > 300
        assert server.end(signal.SIGTERM) == 0


def test_a_client_that_leaves_stops_its_indexing_and_breaks_nothing(tmp_path: Path) -> None:
    harbor = copy_of_harbor(tmp_path)
    for number in range(300):
        (harbor / f"m{number}.py").write_text(f"def made_{number}():\n    return {number}\n" * 20)
    with served(tmp_path, harbor) as server:
        with httpx.stream(
            "POST", f"{server.address}/api/index", headers={"accept": "text/event-stream"}
        ) as stream:
            assert next(stream.iter_lines()).startswith("event: ")
        _leave_in_the_middle(server)
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            made = httpx.post(f"{server.address}/api/index", timeout=WAIT_SECONDS)
            if made.status_code == 200:
                break
            assert made.json()["error"]["code"] == "index_busy"
        assert made.json()["state"] == "done"
        found = httpx.post(f"{server.address}/api/search", json={"query": "made_299"}).json()
        assert found["results"][0]["file_path"] == "m299.py"
        assert server.end(signal.SIGTERM) == 0


def _leave_in_the_middle(server: Served) -> None:
    """Connections that are cut in their headers, in their body, before the answer."""
    host, _, port = server.address.removeprefix("http://").partition(":")
    head = f"POST /api/search HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
    for sent in (head, f"{head}Content-Length: 500\r\n\r\n{{", f"{head}Content-Length: 13\r\n\r\n"):
        with contextlib.closing(socket.create_connection((host, int(port)))) as client:
            client.sendall(f"{sent}".encode())
    with contextlib.closing(socket.create_connection((host, int(port)))) as client:
        body = '{"query":"x"}'
        client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())


def test_no_compiler_outlives_the_server(tmp_path: Path) -> None:
    harbor = copy_of_harbor(tmp_path)
    with served(tmp_path, harbor) as server:
        made = httpx.post(f"{server.address}/api/index", timeout=WAIT_SECONDS)
        assert made.status_code == 200
        asked = {"query": "validate an address", "languages": ["typescript", "python"]}
        context = httpx.post(f"{server.address}/api/context", json=asked, timeout=WAIT_SECONDS)
        assert context.status_code == 200, context.text
        children = descendants(server.process.pid)
        assert server.end(signal.SIGTERM) == 0
    assert not [pid for pid in children if is_running(pid)]
