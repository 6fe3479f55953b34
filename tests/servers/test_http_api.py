"""Does the HTTP API answer as the tools do, with the right status for what goes wrong?"""

import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.operations.addable import Addable
from asterism.operations.calls import Caller, Standpoint
from asterism.operations.dispatch.clients import LOCAL, Spender
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.error_codes import CODES, INTERNAL
from asterism.operations.limits import CallReply, TextPart
from asterism.operations.registry import OPERATIONS, TOOLS
from asterism.servers.http.replies import OWN_STATUSES, STATUSES, HttpProblem, Wording
from asterism.servers.http.routes import ROUTES_OF_TOOLS, routed
from asterism.servers.http.state import ServerState
from asterism.servers.http.workers import LANE_AT_ONCE, ThreadRequest, Threads
from asterism.telemetry.exposition import CONTENT_TYPE
from tests.servers.conftest import copy_of_harbor, make_engine
from tests.servers.http_clients import client_of, error_of, events_in

STREAM = {"accept": "text/event-stream"}


@pytest.fixture
def client(toolbox: Toolbox) -> Iterator[TestClient]:
    """A client of a server that was started in the example, which is indexed."""
    with client_of(toolbox) as made:
        yield made


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[TestClient]:
    """A client of a server with nothing indexed yet."""
    addable = Addable(roots=(tmp_path,), own=(tmp_path / "data", tmp_path / "cache"))
    here = Standpoint(copy_of_harbor(tmp_path), is_root=True, addable=addable)
    toolbox = Toolbox(make_engine(tmp_path), here)
    with client_of(toolbox) as made:
        yield made
    toolbox.close()


def found_in(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.json()
    return found


def test_every_tool_has_a_route() -> None:
    tools_only = {"codebase_question", "list_agents", "run_agent_instruction"}
    assert {*TOOLS} - tools_only <= {*ROUTES_OF_TOOLS}
    named = {operation.name for _, operation in routed(OPERATIONS)}
    assert len(named) == len(routed(OPERATIONS))
    assert named - {*ROUTES_OF_TOOLS} == {"ask"}
    assert Wording(ROUTES_OF_TOOLS).told("Call index_codebase, then ask again.") == (
        "Call POST /api/index, then ask again."
    )


def test_every_code_has_a_status() -> None:
    known = {code.name for code in CODES.values()} | {INTERNAL.name}
    assert known == {*STATUSES}
    assert not {*STATUSES} & {*OWN_STATUSES}
    assert all(400 <= status < 600 for status in (*STATUSES.values(), *OWN_STATUSES.values()))
    assert HttpProblem("never heard of", "").status == 500


def test_messages_speak_of_routes() -> None:
    wording = Wording(ROUTES_OF_TOOLS)
    sentence = "It is damaged. Call index_codebase with force=true. [index_corrupt]"
    problem = wording.problem_of(CallReply(parts=(TextPart(sentence),), error="index_corrupt"))
    assert problem == HttpProblem(
        "index_corrupt", "It is damaged. Call POST /api/index with force=true."
    )


def test_search_gives_what_the_tool_gives(client: TestClient, toolbox: Toolbox) -> None:
    asked = {"query": "verify the signature of a webhook", "limit": 3}
    found = found_in(client.post("/api/search", json=asked))
    told = toolbox.call("search_code", asked).structured or {}
    changing = {"elapsed_ms", "latency_ms", "truncation_info"}
    assert {*found} == {*told}
    assert all(found[key] == told[key] for key in found if key not in changing)
    assert any(row["file_path"].startswith("gateway/webhook/") for row in found["results"])


def test_context_gives_texts_and_data(client: TestClient) -> None:
    found = found_in(client.post("/api/context", json={"query": "symbol = Money"}))
    assert found["parts"][0]["text"].startswith('Search: "symbol = Money" | ')
    assert found["parts"][0]["priority"] == 1.0
    assert found["returned_count"] == len(found["results"]) > 0


def test_symbols_page_by_page(client: TestClient) -> None:
    asked: dict[str, Any] = {"name": "Money", "limit": 2}
    first = found_in(client.post("/api/symbols", json=asked))
    second = found_in(client.post("/api/symbols", json={**asked, "cursor": first["cursor"]}))
    assert len(first["symbols"]) == 2
    assert second["symbols"] != first["symbols"]


def test_similar_code(client: TestClient) -> None:
    place = {"file_path": "gateway/webhook/dispatcher.go", "start_line": 60, "limit": 2}
    found = found_in(client.post("/api/similar", json=place))
    assert found["mode"] == "similar"
    assert len(found["results"]) == 2
    assert error_of(client.post("/api/similar", json={"file_path": "absent.go"})) == "path_missing"


@pytest.mark.parametrize("relation", ["callers", "callees", "references"])
def test_relations(client: TestClient, relation: str) -> None:
    asked = {"name": "Sign", "relation": relation, "path": "gateway/"}
    found = found_in(client.post("/api/relations", json=asked))
    (definition,) = found["definitions"]
    assert definition["file_path"] == "gateway/webhook/dispatcher.go"
    assert ("references" in definition) == (relation == "references")
    assert found["total_count"] == found["returned_count"] == 1


def test_states(client: TestClient, harbor: Path) -> None:
    (row,) = found_in(client.get("/api/repositories"))["repositories"]
    assert row["root"] == str(harbor)
    status = found_in(client.get("/api/status", params={"repository_id": row["repository_id"]}))
    assert status["statistics"]["files"] > 10
    assert "running" in found_in(client.get("/api/watch"))
    seen = found_in(
        client.get("/api/debug", params={"file_path": "README.md", "include_text": "true"})
    )
    assert "text" in seen["chunks"][0]
    assert not found_in(client.post("/api/index/cancel"))["cancelled"]


def test_what_is_left_out(client: TestClient) -> None:
    found = found_in(client.get("/api/skipped"))
    assert found["counts"] == {"secret": 1, "asterismignored": 1}
    assert len(found["skipped"]) == found["total_count"] == 2
    narrow = found_in(client.get("/api/skipped", params={"reason": "secret"}))
    assert [row["reason"] for row in narrow["skipped"]] == ["secret"]


def test_an_outline_is_flat_and_in_order(client: TestClient) -> None:
    found = found_in(client.get("/api/outline", params={"file_path": "ledger/src/money.rs"}))
    lines = [symbol["start_line"] for symbol in found["symbols"]]
    assert lines == sorted(lines)
    assert "Money" in {symbol["name"] for symbol in found["symbols"]}
    assert found["language"] == "rust"


def test_lines_of_a_file(client: TestClient, harbor: Path) -> None:
    lines = (harbor / "README.md").read_text().splitlines()
    found = found_in(
        client.get("/api/file", params={"file_path": "README.md", "start_line": 2, "end_line": 4})
    )
    assert (found["lines"], found["total_lines"]) == (lines[1:4], len(lines))
    whole = found_in(client.get("/api/file", params={"file_path": "README.md"}))
    assert (whole["lines"], whole["truncated"]) == (lines, False)
    beyond = found_in(
        client.get("/api/file", params={"file_path": "README.md", "start_line": 10_000})
    )
    assert beyond["lines"] == []
    wrong = client.get(
        "/api/file", params={"file_path": "README.md", "start_line": 5, "end_line": 4}
    )
    assert (wrong.status_code, error_of(wrong)) == (400, "invalid_argument")


def test_a_long_file_is_cut_with_an_account(tmp_path: Path) -> None:
    harbor = copy_of_harbor(tmp_path)
    (harbor / "long.py").write_text("\n".join(f"x{n} = '{'y' * 60}'" for n in range(9_000)) + "\n")
    engine = make_engine(tmp_path)
    engine.index(engine.register(harbor))
    toolbox = Toolbox(engine, Standpoint(harbor))
    with client_of(toolbox) as client:
        found = found_in(client.get("/api/file", params={"file_path": "long.py"}))
    toolbox.close()
    assert found["total_lines"] == 9_000
    assert found["truncated"]
    assert found["returned_count"] == len(found["lines"]) < 5_000
    assert found["total_count"] == found["returned_count"] + sum(found["dropped"].values())


def test_a_first_index_with_events(empty: TestClient) -> None:
    before = empty.post("/api/search", json={"query": "x"})
    assert (before.status_code, error_of(before)) == (409, "index_missing")
    assert "POST /api/index" in before.json()["error"]["message"]
    stream = empty.post("/api/index", json={}, headers=STREAM)
    assert stream.headers["content-type"].startswith("text/event-stream")
    events = events_in(stream.text)
    assert events[-1][0] == "done"
    assert events[-1][1]["files"]["added"] > 10
    told = [data for name, data in events if name == "progress"]
    assert all({"stage", "files_done", "files_total", "detail"} == {*data} for data in told)
    assert found_in(empty.post("/api/search", json={"query": "webhook"}))["results"]


def test_every_route_about_a_repository_takes_its_id(client: TestClient) -> None:
    (row,) = found_in(client.get("/api/repositories"))["repositories"]
    own = {"repository_id": row["repository_id"], "project_id": row["project_id"]}
    assert found_in(client.post("/api/index", json=own))["repository_id"] == row["repository_id"]
    unknown = client.post("/api/index", json={"repository_id": "another"})
    assert (unknown.status_code, error_of(unknown)) == (404, "repository_unclear")
    about = {
        route.path
        for route, operation in routed(OPERATIONS)
        if {"path", "file_path"} & {*operation.parameters}
    }
    taking = {
        route.path
        for route, operation in routed(OPERATIONS)
        if "repository_id" in operation.parameters
    }
    assert about - taking == {"/api/repositories"}
    nearest = {**own, "query": "price of a parcel"}
    assert found_in(client.post("/tools/vector-search", json=nearest))["results"]
    named = client.get("/api/conversations", params={"repository_id": row["repository_id"]})
    assert {one["repository"] for one in found_in(named)["conversations"]} <= {"harbor"}


def test_an_index_that_fails_ends_the_stream_with_an_error(empty: TestClient) -> None:
    stream = empty.post("/api/index", json={"path": "/etc"}, headers=STREAM)
    ((name, data),) = events_in(stream.text)
    assert (name, data["error"]["code"]) == ("error", "path_outside")


def test_repositories_come_and_go(empty: TestClient, tmp_path: Path) -> None:
    place = tmp_path / "second"
    place.mkdir()
    (place / "a.py").write_text("def second():\n    return 2\n")
    added = found_in(empty.post("/api/repositories", json={"path": str(place), "name": "two"}))
    assert added["name"] == "two"
    assert found_in(empty.post("/api/index", json={"path": str(place)}))["files"]["added"] == 1
    asked = {"query": "second", "repository_id": "two"}
    assert found_in(empty.post("/api/search", json=asked))["results"]
    gone = found_in(empty.delete(f"/api/repositories/{added['repository_id']}"))
    assert gone["removed"]
    assert (place / "a.py").exists()
    again = empty.delete(f"/api/repositories/{added['repository_id']}")
    assert (again.status_code, error_of(again)) == (404, "repository_unclear")


def test_what_cannot_be_added(empty: TestClient, tmp_path: Path) -> None:
    def code(path: object) -> tuple[int, str]:
        answer = empty.post("/api/repositories", json={"path": str(path)})
        return answer.status_code, error_of(answer)

    (tmp_path / "data").mkdir(exist_ok=True)
    assert code("relative") == (400, "invalid_argument")
    assert code(tmp_path / "absent") == (404, "path_missing")
    for place in (tmp_path / "data", tmp_path, "/"):
        assert code(place) == (403, "path_outside")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/index"),
        ("POST", "/api/index/cancel"),
        ("POST", "/api/repositories"),
        ("DELETE", "/api/repositories/harbor"),
    ],
)
def test_a_server_that_only_answers(toolbox: Toolbox, method: str, path: str) -> None:
    with client_of(toolbox, read_only=True) as client:
        answer = client.request(method, path)
        assert (answer.status_code, error_of(answer)) == (403, "read_only")
        assert found_in(client.post("/api/search", json={"query": "webhook"}))["results"]


def test_health_and_metrics(client: TestClient) -> None:
    assert client.get("/healthz").text == "ok\n"
    client.get("/api/status")
    metrics = client.get("/metrics")
    assert metrics.headers["content-type"] == CONTENT_TYPE
    assert 'asterism_http_request_seconds_count{route="/api/status"' in metrics.text
    assert 'tool="index_status"' in metrics.text


def test_a_request_carries_its_id(client: TestClient) -> None:
    answer = client.get("/api/status", headers={"x-request-id": "page-17"})
    assert answer.headers["x-request-id"] == "page-17"


def test_vector_search_keeps_its_shape(client: TestClient, harbor: Path) -> None:
    asked = {"query": "sign the body of an event", "repository": "harbor"}
    found = found_in(client.post("/tools/vector-search", json=asked))
    assert {*found} == {"results", "files", "modelId"}
    where = ["repo", "relPath", "containerPath", "hostPath"]
    names = [*where, "score", "chunk", "chunkId", "modelId", "lineCount"]
    for row in found["results"]:
        assert [name for name in row if name != "below_threshold"] == names
        assert row["hostPath"] == str(harbor / row["relPath"])
    distances: dict[str, list[float]] = {}
    for row in found["results"]:
        distances.setdefault(row["relPath"], []).append(row["score"])
    assert {file["relPath"]: file["highestMatch"] for file in found["files"]} == {
        path: min(scores) for path, scores in distances.items()
    }
    assert all(len(scores) <= 2 for scores in distances.values())


def test_vector_search_keeps_to_the_settings(indexed_base: Path, harbor: Path) -> None:
    from asterism.config.model_sections import ChatSettings
    from asterism.config.sections import IndexSettings

    settings = Settings(
        index=IndexSettings(sync_seconds=600),
        chat=ChatSettings(distance_cutoff=0.0, fallback_chunks=1, chunk_max_chars=120),
    )
    places = DataDirectories(indexed_base / "data", indexed_base / "cache")
    engine = Engine(places, lambda _root: settings)
    toolbox = Toolbox(engine, Standpoint(harbor))
    with client_of(toolbox) as client:
        found = found_in(client.post("/tools/vector-search", json={"query": "price of a parcel"}))
    toolbox.close()
    (row,) = found["results"]
    assert row["below_threshold"] is True
    assert len(row["chunk"]) <= 120


def test_a_server_that_is_too_busy_says_when_to_come_back(toolbox: Toolbox) -> None:
    with client_of(toolbox, threads=Threads(at_once=1, waiting=-1)) as client:
        answer = client.get("/api/status")
    assert (answer.status_code, error_of(answer)) == (503, "too_busy")
    assert answer.headers["retry-after"] == "1"


def test_a_client_that_leaves_is_told_to_the_work() -> None:
    begun, pause = threading.Event(), threading.Event()

    class Leaving:
        """A request whose client leaves when the work has begun."""

        async def receive(self) -> dict[str, str]:
            while not begun.is_set():
                await anyio.sleep(0.001)
            return {"type": "http.disconnect"}

    def work(caller: Any) -> bool:
        begun.set()
        while not caller.gone():
            pause.wait(0.001)
        return True

    request: Any = Leaving()
    assert anyio.run(Threads().run, request, ThreadRequest(client=LOCAL), work)


def test_a_slow_repository_leaves_the_others_their_threads() -> None:
    freed = threading.Event()

    class Staying:
        """A request whose client waits."""

        async def receive(self) -> dict[str, str]:
            await anyio.sleep_forever()
            raise AssertionError

    async def story() -> None:
        threads, request, names = Threads(at_once=LANE_AT_ONCE + 1), Staying(), count()

        async def ask(work: Any, lane: str) -> None:
            asked: Any = request
            await threads.run(
                asked, ThreadRequest(client=Spender(str(next(names))), lane=lane), work
            )

        async with anyio.create_task_group() as group:
            for _ in range(LANE_AT_ONCE + 2):
                group.start_soon(ask, lambda _caller: freed.wait(600), "slow")
            await anyio.wait_all_tasks_blocked()
            with anyio.fail_after(60):
                await ask(lambda _caller: freed.set(), "other")
            assert freed.is_set()

    anyio.run(story)
    assert freed.is_set()


def test_the_end_of_the_server_stops_an_indexing(tmp_path: Path) -> None:
    toolbox = Toolbox(make_engine(tmp_path), Standpoint(copy_of_harbor(tmp_path), is_root=True))
    state = ServerState(toolbox=toolbox)
    reply = toolbox.call("index_codebase", {}, Caller(hear=lambda _progress: state.end()))
    toolbox.close()
    assert reply.structured is not None
    assert reply.structured["state"] == "cancelled"
    assert state.threads.ending.is_set()


def test_a_repository_that_is_removed_does_not_come_back(empty: TestClient, tmp_path: Path) -> None:
    place = tmp_path / "watched"
    place.mkdir()
    (place / "a.py").write_text("def first():\n    return 1\n")
    added = found_in(empty.post("/api/repositories", json={"path": str(place)}))
    found_in(empty.post("/api/index", json={"path": str(place)}))
    asked = {"query": "first", "repository_id": added["repository_id"]}
    assert found_in(empty.post("/api/search", json=asked))["results"]
    found_in(empty.delete(f"/api/repositories/{added['repository_id']}"))
    (place / "b.py").write_text("def second():\n    return 2\n")
    assert not (tmp_path / "data" / "projects" / added["project_id"]).exists()
    listed = found_in(empty.get("/api/repositories"))["repositories"]
    assert added["repository_id"] not in [row["repository_id"] for row in listed]
