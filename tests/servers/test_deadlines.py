"""Does every query end: at its deadline, when its client leaves, and while it waits for its turn?"""

import http.client
import json
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Event, Thread
from urllib.request import urlopen

import pytest

from asterism.engine.engine import Engine
from asterism.operations.calls import Call, Caller, Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.limits import CallReply
from asterism.operations.registry import OPERATIONS
from asterism.operations.schema import Json
from asterism.types.deadlines import check_deadline
from tests.servers.conftest import make_engine
from tests.servers.http_clients import Served, descendants, is_running, served
from tests.servers.test_mcp_stdio import Server, call, serving

WAIT_SECONDS = 300
"""How long something may take before a test gives up; none takes a tenth of it."""
HOSTILE = r"regex:(a+)+$"
"""Takes for ever where many a's are followed by something else."""

QUERIES: list[tuple[str, Json]] = [
    ("search_code", {"query": "where are webhooks signed and verified"}),
    ("search_code", {"query": "webhook", "mode": "exact", "exhaustive": True}),
    ("search_code", {"query": "regex:web.*k", "mode": "exact"}),
    ("search_code", {"query": "webhook", "mode": "semantic", "context_lines": 3}),
    ("search_code", {"query": "sign", "mode": "definition"}),
    ("search_code", {"query": "def sign(payload): return 1", "mode": "similar"}),
    ("search_code", {"query": "webhook", "filters": {"path_glob": "**/*.py"}}),
    ("codebase_search", {"query": "where are webhooks signed and verified"}),
    ("symbol_lookup", {"name": "main", "filters": {"path_glob": "**/*"}}),
    ("similar_code", {"file_path": "README.md"}),
    ("symbol_relations", {"name": "main"}),
    ("index_debug", {"query": "webhook"}),
    ("vector_search", {"query": "webhook"}),
]


def asked(toolbox: Toolbox, name: str, given: Json, caller: Caller) -> CallReply:
    operation = next(one for one in OPERATIONS if one.name == name)
    return toolbox.run(operation, given, caller)


@pytest.mark.parametrize(("name", "given"), QUERIES, ids=lambda part: str(part)[:50])
def test_every_query_looks_whether_it_has_to_end(toolbox: Toolbox, name: str, given: Json) -> None:
    """A client that leaves after so many looks stops the query at the next one."""
    asked(toolbox, name, given, Caller())
    looks = count()
    reply = asked(toolbox, name, given, Caller(gone=lambda: next(looks) < 0))
    assert reply.error in (None, "path_outside", "path_missing")
    taken = next(looks)
    assert taken > 5, "it hardly ever looks"
    for allowed in {1, taken // 2, taken - 3}:
        seen = count()
        caller = Caller(gone=lambda seen=seen, allowed=allowed: next(seen) >= allowed)  # type: ignore[misc]
        assert asked(toolbox, name, given, caller).error == "cancelled"


def test_a_query_over_its_time_is_an_error(engine: Engine, harbor: Path) -> None:
    toolbox = Toolbox(engine, Standpoint(harbor), query_seconds=2)
    reply = toolbox.run(replace(toolbox.tools["search_code"], run=endless), {"query": "webhook"})
    assert reply.error == "deadline_exceeded"
    assert "narrow it with filters" in reply.parts[0].text
    # What changes something is not ended half-way.
    assert toolbox.call("cancel_indexing", {}).error != "deadline_exceeded"


def endless(_call: Call, _asked: object) -> CallReply:
    """A query that has never enough."""
    while True:
        check_deadline()


@pytest.fixture
def hostile(tmp_path: Path) -> tuple[Path, Path]:
    """A repository with a line on which a pattern never ends; its base, and itself."""
    repository = tmp_path / "hostile"
    repository.mkdir()
    (repository / "a.py").write_text(f"x = '{'a' * 60}!'\n\n\ndef hello():\n    return 1\n")
    engine = make_engine(tmp_path)
    engine.index(engine.register(repository))
    engine.close()
    return tmp_path, repository


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_waiting_for_a_turn_ends_too(hostile: tuple[Path, Path]) -> None:
    """A bad pattern blocks its repository; queries that wait end in time, and later ones work."""
    base, repository = hostile
    engine = make_engine(base)
    toolbox = Toolbox(engine, Standpoint(repository))
    impatient = Toolbox(engine, Standpoint(repository), query_seconds=0.2)
    impatient._projects = toolbox._projects
    left, replies = Event(), []

    def ask() -> None:
        given = {"query": HOSTILE, "mode": "exact"}
        replies.append(toolbox.call("search_code", given, Caller(gone=left.is_set)))

    thread = Thread(target=ask)
    thread.start()
    wait_until(lambda: any(turns._is_taken for turns in toolbox._projects.values()))
    reply = impatient.call("search_code", {"query": "hello"})
    assert reply.error == "waited_too_long"
    assert "for other queries" in reply.parts[0].text
    left.set()
    thread.join(WAIT_SECONDS)
    assert [reply.error for reply in replies] in (["cancelled"], ["invalid_argument"])
    assert toolbox.call("search_code", {"query": "hello"}).error is None
    engine.close()


def post(server: Served, given: Json) -> http.client.HTTPConnection:
    """Send a search, and do not wait for its answer."""
    address = server.address.removeprefix("http://")
    connection = http.client.HTTPConnection(address, timeout=WAIT_SECONDS)
    body = json.dumps(given)
    connection.request("POST", "/api/search", body, {"content-type": "application/json"})
    return connection


def matching(server: "Served | Server") -> set[int]:
    """The processes of the server that match patterns."""
    return {
        pid
        for pid in descendants(server.process.pid)
        if is_running(pid) and b"exact/worker" in command_of(pid)
    }


def command_of(pid: int) -> bytes:
    """The command of a process; nothing of one that has just ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_health_is_answered_while_a_pattern_runs_and_leaving_ends_it(
    hostile: tuple[Path, Path],
) -> None:
    base, repository = hostile
    with served(base, repository) as server:
        first = post(server, {"query": HOSTILE, "mode": "exact"})
        wait_until(lambda: bool(matching(server)))
        running = matching(server)
        for _ in range(20):
            with urlopen(f"{server.address}/healthz", timeout=WAIT_SECONDS) as answer:
                assert answer.read() == b"ok\n"
        assert running & matching(server) or first.getresponse().status == 400
        # The client leaves, so the process has to end.
        second = post(server, {"query": HOSTILE, "mode": "exact"})
        wait_until(lambda: bool(matching(server) - running))
        first.close()
        second.close()
        wait_until(lambda: not matching(server))


def test_cancelling_a_request_over_mcp_ends_its_process(hostile: tuple[Path, Path]) -> None:
    """The log tells it from the end that the pattern has after its five seconds."""
    base, repository = hostile
    log = base / "log"
    variables = {"ASTERISM_LOG_FILE": str(log), "ASTERISM_LOG_FORMAT": "json"}
    with serving(base, repository, **variables) as server:
        server.open()
        # A busy machine may notice the process when its time is nearly over.
        for number in range(100, 120):
            server.send(json.dumps(call(number, "search_code", query=HOSTILE, mode="exact")))
            wait_until(lambda: bool(matching(server)))
            left = {"requestId": number, "reason": "no longer needed"}
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": left}
            server.send(json.dumps(cancelled))
            wait_until(lambda: not matching(server))
            wait_until(lambda count=number - 99: len(outcomes(log)) == count)  # type: ignore[misc]
            if outcomes(log)[-1] == "cancelled":
                break
        assert outcomes(log)[-1] == "cancelled"
        assert server.ask(call(22, "search_code", query="hello"))["result"]["isError"] is False
        assert server.end() == 0


def outcomes(log: Path) -> list[str]:
    """How the searches of a server ended, by its log."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line["outcome"] for line in lines if line.get("tool") == "search_code"]
