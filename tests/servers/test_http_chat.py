"""Questions and conversations over HTTP: whole replies, streams of events, stops and approvals."""

import json
import signal
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from asterism.servers.http.chat import routes
from asterism.servers.http.state import ServerState
from asterism.types.chat import TurnStatus
from tests.llm.fake_openai import FakeOpenAI
from tests.llm.loopback import Call, Say
from tests.operations.test_answers import toolbox_of
from tests.servers.conftest import copy_of_harbor, make_engine
from tests.servers.http_clients import client_of, error_of, events_in, served

STREAM = {"accept": "text/event-stream"}
QUESTION = {"question": "How are refunds booked in the ledger?"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("chat")
    engine = make_engine(made)
    engine.index(engine.register(copy_of_harbor(made)))
    engine.close()
    return made


@pytest.fixture
def client(base: Path) -> Iterator[TestClient]:
    toolbox = toolbox_of(base)
    with client_of(toolbox) as made:
        yield made
    toolbox.close()


def asked(client: TestClient, **more: str) -> dict[str, Any]:
    answer = client.post("/api/ask", json={**QUESTION, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_whole_reply(client: TestClient) -> None:
    found = asked(client)
    assert found["status"] == "done"
    assert "refund_parcel" in found["answer"]
    assert all(citation["exists"] for citation in found["citations"])
    turn = client.get(f"/api/turns/{found['turnId']}").json()
    assert turn["answer"] == found["answer"]
    assert [event["kind"] for event in turn["events"]] == ["citations", "done"]


def test_a_stream(client: TestClient) -> None:
    answer = client.post("/api/ask", json=QUESTION, headers=STREAM)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = events_in(answer.text)
    assert [name for name, _ in events] == ["start", "token", "citations", "done"]
    start, done = events[0][1], events[-1][1]
    assert start["conversationId"] == done["conversationId"]
    assert start["turnId"] == done["turnId"]
    assert events[1][1]["text"] == done["answer"]


def test_a_stream_of_a_model_with_tools(base: Path) -> None:
    call = Call("vector_search", '{"query": "refunds"}', "call-1")
    script = [Say("Let me see.", calls=(call,)), Say("By refund_parcel.")]
    with FakeOpenAI(script) as fake:
        toolbox = toolbox_of(base, fake)
        with client_of(toolbox) as client:
            given = {**QUESTION, "agentName": "reader"}
            events = events_in(client.post("/api/ask", json=given, headers=STREAM).text)
        toolbox.close()
    names = [name for name, _ in events]
    # One name for what comes piece by piece.
    order = [name for place, name in enumerate(names) if name not in names[:place]]
    assert order == [
        *("start", "context", "token", "discarded", "tool_start", "tool_end", "citations", "done")
    ]
    assert "".join(data["text"] for name, data in events if name == "token") == (
        "Let me see.By refund_parcel."
    )
    (ended,) = (data for name, data in events if name == "tool_end")
    assert ended["callId"] == "call-1"
    rows = ended["data"]["results"]
    assert {*rows[0]} >= {
        *("repo", "relPath", "containerPath", "hostPath", "score", "chunk", "chunkId"),
        *("modelId", "lineCount"),
    }
    files = ended["data"]["files"]
    best = min(row["score"] for row in rows if row["relPath"] == files[0]["relPath"])
    assert files[0]["highestMatch"] == best


def test_the_chats_search_is_that_of_other_programs(base: Path) -> None:
    call = Call("vector_search", '{"query": "refund a parcel"}', "call-1")
    with FakeOpenAI([Say(calls=(call,)), Say("Done.")]) as fake:
        toolbox = toolbox_of(base, fake)
        with client_of(toolbox) as client:
            found = client.post("/api/ask", json=QUESTION).json()
            other = client.post("/tools/vector-search", json={"query": "refund a parcel"}).json()
        toolbox.close()
    data = found["rounds"][0]["results"][0]["data"]
    places = ("startLine", "endLine", "name")
    rows = [{key: row[key] for key in row if key not in places} for row in data["results"]]
    assert rows == other["results"]
    assert (data["files"], data["modelId"]) == (other["files"], other["modelId"])
    assert rows


def test_the_next_question_and_a_repeated_one(client: TestClient) -> None:
    first = asked(client, requestId="r-1")
    assert asked(client, requestId="r-1")["isRepeat"]
    path = f"/api/conversations/{first['conversationId']}/turns"
    second = client.post(path, json={"question": "And fees?"}).json()
    assert (second["number"], second["conversationId"]) == (2, first["conversationId"])
    events = events_in(client.post(path, json={"question": "And more?"}, headers=STREAM).text)
    assert events[-1][1]["number"] == 3


def test_stopping_a_turn(base: Path) -> None:
    with FakeOpenAI([Say("The ledger books them all.", hold_after=4)]) as fake:
        toolbox = toolbox_of(base, fake)
        with client_of(toolbox) as client:
            got: list[list[tuple[str, dict[str, Any]]]] = []
            thread = threading.Thread(
                target=lambda: got.append(
                    events_in(client.post("/api/ask", json=QUESTION, headers=STREAM).text)
                )
            )
            thread.start()
            assert fake.holding.wait(60)
            newest = client.get("/api/conversations").json()["conversations"][0]
            shown = client.get(f"/api/conversations/{newest['conversationId']}").json()
            turn = shown["turns"][0]
            assert turn["status"] == "running"
            stopped = client.post(f"/api/turns/{turn['turnId']}/stop").json()
            assert stopped == {"turnId": turn["turnId"], "stopped": True}
            thread.join(60)
        toolbox.close()
    name, last = got[0][-1]
    assert (name, last["status"]) == ("done", "stopped")
    assert "The ledger books them all.".startswith(last["answer"])


def test_a_client_that_leaves_stops_the_turn(base: Path) -> None:
    with FakeOpenAI([Say("The ledger books them all.", hold_after=4)]) as fake:
        model = {"PROVIDER": "openai", "NAME": "fake-1", "URL": fake.url}
        variables = {f"ASTERISM_MODEL_{name}": value for name, value in model.items()}
        with served(base, base / "harbor", **variables) as server:
            host, _, port = server.address.removeprefix("http://").partition(":")
            connection = HTTPConnection(host, int(port), timeout=60)
            headers = {**STREAM, "content-type": "application/json"}
            connection.request("POST", "/api/ask", json.dumps(QUESTION), headers)
            answer = connection.getresponse()
            assert answer.readline() == b"event: start\n"
            turn = json.loads(answer.readline().removeprefix(b"data: "))["turnId"]
            assert fake.holding.wait(60)
            answer.close()
            connection.close()
            # The model is not asked any longer.
            assert fake.left.wait(60)
            assert server.end(signal.SIGTERM) == 0
    engine = make_engine(base)
    assert engine.records().turns().get(turn).turn.status is TurnStatus.stopped
    engine.close()


def test_a_model_that_fails(base: Path) -> None:
    with FakeOpenAI([Say(status=401, body="{}")]) as fake:
        toolbox = toolbox_of(base, fake)
        with client_of(toolbox) as client:
            answer = client.post("/api/ask", json=QUESTION)
            assert (answer.status_code, error_of(answer)) == (502, "provider_refused")
            events = events_in(client.post("/api/ask", json=QUESTION, headers=STREAM).text)
        toolbox.close()
    name, data = events[-1]
    assert (name, data["error"]["code"]) == ("error", "provider_refused")
    assert data["turnId"] == events[0][1]["turnId"]


@pytest.mark.parametrize(
    ("path", "given", "status", "code"),
    [
        ("/api/ask", {}, 400, "invalid_argument"),
        ("/api/ask", {"question": " "}, 400, "invalid_argument"),
        ("/api/ask", {"question": "x", "retries": 99}, 400, "invalid_argument"),
        ("/api/ask", {"question": "x", "surprise": 1}, 400, "invalid_argument"),
        ("/api/ask", {"question": "x", "conversationId": "no"}, 404, "conversation_missing"),
        ("/api/ask", {"question": "x", "agentName": "no"}, 404, "agent_missing"),
        ("/api/ask", {"question": "x", "provider": "openai"}, 503, "model_missing"),
        ("/api/ask", {"question": "x", "repository_id": "no"}, 404, "repository_unclear"),
        ("/api/conversations/no/turns", {"question": "x"}, 404, "conversation_missing"),
        ("/api/turns/no/approvals", {}, 404, "conversation_missing"),
        ("/api/turns/no/approvals", {"approvals": {"a": 1}}, 400, "invalid_argument"),
        ("/api/turns/no/stop", {}, 404, "conversation_missing"),
    ],
)
def test_what_cannot_be_asked(
    client: TestClient, path: str, given: dict[str, Any], status: int, code: str
) -> None:
    for headers in ({}, STREAM):
        answer = client.post(path, json=given, headers=headers)
        assert error_of(answer) == code
        assert answer.status_code == status


def test_words_that_are_also_names_of_operations_stay_words(client: TestClient) -> None:
    answer = client.post("/api/ask", json={"question": " "}).json()
    assert answer["error"]["message"] == "The question is empty; ask something."


def test_archived_restored_searched_exported_deleted(client: TestClient) -> None:
    id_ = asked(client)["conversationId"]
    one = f"/api/conversations/{id_}"
    assert client.post(f"{one}/archive").json()["archivedAt"]
    refused = client.post(f"{one}/turns", json={"question": "And now?"})
    assert (refused.status_code, error_of(refused)) == (409, "conversation_archived")
    listed = client.get("/api/conversations", params={"shelf": "archived"}).json()
    assert id_ in [entry["conversationId"] for entry in listed["conversations"]]
    assert client.post(f"{one}/restore").json()["archivedAt"] is None
    found = client.get("/api/conversations/search", params={"query": "REFUNDS", "limit": 1}).json()
    assert found["total"] >= 1
    assert found["matches"][0]["where"] in ("question", "answer")
    brief = client.get(one, params={"brief": "true"}).json()["turns"][0]
    assert "rounds" not in brief
    assert brief["citations"]
    assert json.loads(client.get(f"{one}/export").text)["exportVersion"] == 1
    page = client.get(f"{one}/export", params={"format": "markdown"}).json()["markdown"]
    assert page.startswith("# How are refunds booked in the ledger?\n")
    assert client.delete(one).json() == {"conversationId": id_, "deleted": True}
    assert error_of(client.get(one)) == "conversation_missing"


def test_pages(client: TestClient) -> None:
    ids = [asked(client)["conversationId"] for _ in range(3)]
    first = client.get("/api/conversations", params={"limit": 2}).json()
    rest = client.get("/api/conversations", params={"limit": 2, "cursor": first["cursor"]}).json()
    got = [one["conversationId"] for one in (*first["conversations"], *rest["conversations"])]
    assert got[:3] == ids[::-1]


def test_a_server_that_only_answers(base: Path) -> None:
    toolbox = toolbox_of(base)
    with client_of(toolbox, read_only=True) as client:
        id_ = asked(client)["conversationId"]
        for answer in (
            client.delete(f"/api/conversations/{id_}"),
            client.post(f"/api/conversations/{id_}/archive"),
            client.post("/api/turns/x/approvals", json={}),
        ):
            assert (answer.status_code, error_of(answer)) == (403, "read_only")
    toolbox.close()


def test_routes_that_answer_come_before_their_description(base: Path) -> None:
    toolbox = toolbox_of(base)
    paths = [getattr(route, "path", "") for route in routes(ServerState(toolbox=toolbox))]
    toolbox.close()
    assert "/api/ask" in paths
