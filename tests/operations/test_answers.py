"""Do the tools that answer give the answer and nothing else, and failures their codes?"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CreateMessageRequestParams, CreateMessageResult, TextContent

from asterism.config.model_sections import ModelSettings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.operations.calls import Caller, Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.limits import MOST_CHARS, CallReply, measured
from tests.llm.fake_openai import FakeOpenAI
from tests.llm.loopback import Call, Say
from tests.servers.conftest import SETTINGS, copy_of_harbor, make_engine
from tests.servers.test_mcp_session import tell, texts

QUESTION = {"question": "How are refunds booked in the ledger?"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("answers")
    engine = make_engine(made)
    engine.index(engine.register(copy_of_harbor(made)))
    engine.close()
    folder = made / "data" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reviewer.yaml").write_text("description: Reviews things\n")
    return made


def toolbox_of(base: Path, fake: FakeOpenAI | None = None) -> Toolbox:
    settings = SETTINGS
    if fake is not None:
        model = ModelSettings(provider="openai", name="fake-1", url=fake.url)
        settings = replace(SETTINGS, model=model)
    engine = Engine(DataDirectories(base / "data", base / "cache"), lambda _root: settings)
    return Toolbox(engine, Standpoint(base / "harbor"))


@pytest.fixture
def toolbox(base: Path) -> Iterator[Toolbox]:
    made = toolbox_of(base)
    yield made
    made.close()


def payload(reply: CallReply) -> dict[str, Any]:
    """What the model reads: one part, JSON."""
    assert reply.error is None, reply.parts
    (part,) = reply.parts
    assert reply.structured is None
    found: dict[str, Any] = json.loads(part.text)
    return found


def test_an_answer_has_one_segment_and_nothing_of_how_it_came_about(toolbox: Toolbox) -> None:
    reply = toolbox.call("codebase_question", QUESTION)
    found = payload(reply)
    assert list(found) == ["conversationId", "modelId", "segments"]
    (segment,) = found["segments"]
    assert list(segment) == ["type", "text"]
    assert segment["type"] == "answer"
    assert "refund_parcel" in segment["text"]
    assert found["modelId"] == "extractive"
    assert {*reply.meta["asterism"]} == {
        *("conversationId", "turnId", "provider", "status", "isRepeat")
    }


def test_reasoning_and_tools_are_not_in_the_answer(base: Path) -> None:
    call = Call("search_code", '{"query": "refunds"}')
    script = [Say("Let me look for that.", calls=(call,)), Say("By refund_parcel.")]
    with FakeOpenAI(script) as fake:
        toolbox = toolbox_of(base, fake)
        found = payload(toolbox.call("codebase_question", QUESTION))
        turn = toolbox.asking()._engine.records().turns().of(found["conversationId"])[0].turn
        toolbox.close()
    assert found["segments"] == [{"type": "answer", "text": "By refund_parcel."}]
    assert found["modelId"] == "fake-1"
    # The evidence is under the turn.
    assert [result.name for result in turn.rounds[0].results] == ["search_code"]
    assert turn.citations


def test_no_text_is_an_empty_segment(base: Path) -> None:
    with FakeOpenAI([Say("")]) as fake:
        toolbox = toolbox_of(base, fake)
        reply = toolbox.call("codebase_question", QUESTION)
        toolbox.close()
    assert payload(reply)["segments"] == [{"type": "answer", "text": ""}]


def test_an_answer_that_is_too_long_is_cut_inside_its_segment(base: Path) -> None:
    with FakeOpenAI([Say('"quoted" ' * 20_000)]) as fake:
        toolbox = toolbox_of(base, fake)
        reply = toolbox.call("codebase_question", QUESTION)
        toolbox.close()
    assert measured(reply) <= MOST_CHARS
    (segment,) = payload(reply)["segments"]
    assert segment["text"].endswith(" characters left out; ask for less.]")
    assert len(segment["text"]) > 50_000


def test_a_conversation_goes_on(toolbox: Toolbox) -> None:
    first = payload(toolbox.call("codebase_question", QUESTION))
    same = {"conversationId": first["conversationId"]}
    second = payload(toolbox.call("codebase_question", {"question": "And fees?", **same}))
    assert second["conversationId"] == first["conversationId"]


def test_a_repeated_request_is_answered_once(toolbox: Toolbox) -> None:
    caller = Caller(request_id="r-1")
    first = toolbox.call("codebase_question", QUESTION, caller)
    again = toolbox.call("codebase_question", QUESTION, caller)
    assert payload(first) == payload(again)
    assert again.meta["asterism"]["isRepeat"]


def test_an_agent_answers_under_its_name(toolbox: Toolbox) -> None:
    given = {"agentName": "reviewer", "instruction": "How are refunds booked in the ledger?"}
    found = payload(toolbox.call("run_agent_instruction", given))
    assert list(found) == ["agentName", "conversationId", "modelId", "segments"]
    assert found["agentName"] == "reviewer"
    assert len(found["segments"]) == 1
    # The conversation remembers whom it is with.
    more = {"question": "And fees?", "conversationId": found["conversationId"]}
    assert payload(toolbox.call("codebase_question", more))["agentName"] == "reviewer"


def test_the_agents_there_are(toolbox: Toolbox) -> None:
    reply = toolbox.call("list_agents", {})
    assert reply.structured is not None
    names = [agent["name"] for agent in reply.structured["agents"]]
    assert "reviewer" in names
    assert "reviewer: Reviews things" in reply.parts[0].text


def test_an_archived_conversation(toolbox: Toolbox) -> None:
    id_ = payload(toolbox.call("codebase_question", QUESTION))["conversationId"]
    toolbox.asking()._engine.records().conversations().archive(id_)
    for name, given in (
        ("codebase_question", {**QUESTION, "conversationId": id_}),
        (
            "run_agent_instruction",
            {"agentName": "reviewer", "instruction": "x", "conversationId": id_},
        ),
    ):
        assert toolbox.call(name, given).error == "conversation_archived"


@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        ("codebase_question", {**QUESTION, "conversationId": "no"}, "conversation_missing"),
        ("codebase_question", {**QUESTION, "provider": "openai"}, "model_missing"),
        ("codebase_question", {**QUESTION, "provider": "sampling"}, "model_missing"),
        ("codebase_question", {**QUESTION, "provider": "unknown"}, "invalid_argument"),
        ("codebase_question", {"question": "  "}, "invalid_argument"),
        ("run_agent_instruction", {"agentName": "no", "instruction": "x"}, "agent_missing"),
    ],
)
def test_failures_have_their_codes(
    toolbox: Toolbox, name: str, given: dict[str, str], code: str
) -> None:
    reply = toolbox.call(name, given)
    assert reply.error == code
    assert reply.parts[0].text.endswith(f" [{code}]")


def test_a_model_that_refuses(base: Path) -> None:
    with FakeOpenAI([Say(status=403, body="{}")]) as fake:
        toolbox = toolbox_of(base, fake)
        reply = toolbox.call("codebase_question", QUESTION)
        toolbox.close()
    assert reply.error == "provider_refused"
    assert reply.meta["asterism"]["turnId"]


def test_a_client_that_leaves_stops_the_turn(base: Path) -> None:
    with FakeOpenAI([Say("The ledger books them all.", hold_after=3)]) as fake:
        toolbox = toolbox_of(base, fake)
        reply = toolbox.call("codebase_question", QUESTION, Caller(gone=fake.holding.is_set))
        assert reply.error == "cancelled"
        assert fake.left.wait(30)
        toolbox.close()


def test_the_clients_own_model(toolbox: Toolbox) -> None:
    seen: list[CreateMessageRequestParams] = []

    async def sample(_context: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        seen.append(params)
        text = TextContent(type="text", text="By refund_parcel, says the client.")
        return CreateMessageResult(role="assistant", content=text, model="lent-1")

    async def story(client: Client) -> None:
        asked = {**QUESTION, "provider": "sampling"}
        result = await client.call_tool("codebase_question", asked)
        (text,) = texts(result)
        found = json.loads(text)
        assert found["modelId"] == "lent-1"
        assert found["segments"][0]["text"] == "By refund_parcel, says the client."

    tell(toolbox, story, sampling_callback=sample)
    # It has no tools, so the code is found for it.
    said = json.dumps([message.model_dump(mode="json") for message in seen[0].messages])
    assert "refund_parcel" in said
    assert "How are refunds booked" in said


def test_a_client_that_lends_no_model(toolbox: Toolbox) -> None:
    async def story(client: Client) -> None:
        asked = {**QUESTION, "provider": "sampling"}
        result = await client.call_tool("codebase_question", asked)
        assert result.is_error
        assert texts(result)[0].endswith("[model_missing]")

    tell(toolbox, story)
