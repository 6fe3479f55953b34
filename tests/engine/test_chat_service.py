"""A question from its beginning to its record: models, tools, stops, repeats, turns in a row."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from asterism.config.model_sections import ModelSettings
from asterism.engine.chat.requests import Answered, AskRequest, GoOnRequest
from asterism.engine.chat.service import Asking
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.store.registry import Registered
from asterism.types.chat import (
    CitationsFound,
    Token,
    ToolEnded,
    ToolStarted,
    TurnDone,
    TurnEvent,
    TurnStatus,
)
from asterism.types.errors import (
    AgentMissing,
    Cancelled,
    ConversationArchived,
    ConversationMissing,
    ProviderMissing,
    TurnRunning,
    UsageError,
)
from tests.engine.conftest import SETTINGS, make
from tests.llm.fake_openai import FakeOpenAI
from tests.llm.loopback import Call, Say

LAMPS = '''
def light_lamps(count: int) -> int:
    """Light so many harbour lamps."""
    return count


def ring_bell() -> None:
    """Ring the bell when fog comes in."""
    light_lamps(1)
'''

AGENT = """\
description: Knows lamps
systemPrompt: You keep the lamps.
rules:
  - name: Tone
    text: Be brief.
"""


class Desk:
    """An engine over a small repository, and a scripted model."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.settings = SETTINGS
        self.engine = Engine(
            DataDirectories(base / "data", base / "cache"), lambda _root: self.settings
        )
        self.registered: Registered = self.engine.register(make(base / "harbour", lamps=LAMPS))
        self.engine.index(self.registered)
        self.asking = Asking(self.engine)
        self.heard: list[TurnEvent] = []

    def use(self, fake: FakeOpenAI) -> None:
        model = ModelSettings(provider="openai", name="fake-1", url=fake.url)
        self.settings = replace(SETTINGS, model=model)

    def ask(self, question: str = "who lights the lamps?", **more: object) -> Answered:
        request = AskRequest(question=question, **more)  # type: ignore[arg-type]
        return self.asking.ask(self.registered, request, self.heard.append).result(60)

    def close(self) -> None:
        self.asking.close()
        self.engine.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.close()


def test_without_a_model_the_hits_answer(desk: Desk) -> None:
    answered = desk.ask()
    assert answered.turn.status is TurnStatus.done
    assert (answered.turn.provider, answered.turn.model_id) == ("extractive", "extractive")
    assert "light_lamps" in answered.turn.answer
    places = {(found.citation.place, found.exists) for found in answered.citations}
    assert ("lamps.py:2-4", True) in places
    kinds = [type(event) for event in desk.heard]
    assert kinds == [Token, CitationsFound, TurnDone]
    (kept,) = desk.engine.records().turns().of(answered.conversation.id)
    assert kept.turn == answered.turn
    assert answered.conversation.repository == "harbour"


def test_citations_that_are_gone_are_said_to_be(desk: Desk) -> None:
    desk.ask(request_id="r-1")
    (desk.base / "harbour" / "lamps.py").write_text("x = 1\n")
    again = desk.ask(request_id="r-1")
    assert again.is_repeat
    assert again.citations
    assert not any(found.exists for found in again.citations if found.citation.first_line > 1)


def test_a_model_that_calls_our_tools(desk: Desk) -> None:
    calls = (
        Call("search_code", '{"query": "lamps"}'),
        Call("vector_search", '{"query": "light the lamps"}'),
        Call("symbol_lookup", '{"name": "light_lamps"}'),
        Call("symbol_relations", '{"name": "light_lamps", "relation": "callers"}'),
        Call("read_file", '{"path": "lamps.py", "first_line": 2, "last_line": 4}'),
        Call("read_file", '{"path": "../secret"}'),
        Call("search_code", '{"query": 7}'),
    )
    with FakeOpenAI([Say(calls=calls), Say("The keeper lights them.")]) as fake:
        desk.use(fake)
        answered = desk.ask()
    assert answered.turn.answer == "The keeper lights them."
    results = answered.turn.rounds[0].results
    assert [result.is_error for result in results] == [False] * 5 + [True] * 2
    texts = [result.text for result in results]
    assert "lamps.py:2-4  function light_lamps" in texts[0]
    assert "lamps.py:2-4  function light_lamps" in texts[1]
    assert "lamps.py:2  definition  function light_lamps" in texts[2]
    assert "ring_bell" in texts[3]
    assert texts[4].startswith("lamps.py:2-4 of 9 lines\ndef light_lamps")
    assert "leads out of the repository" in texts[5]
    assert "lamps.py" in {found.citation.path for found in answered.citations}
    assert answered.turn.usage == (20, 10)
    sent = fake.received[-1].body["messages"]
    assert sent[-1]["role"] == "tool"
    kinds = {type(event) for event in desk.heard}
    assert {ToolStarted, ToolEnded, Token, CitationsFound, TurnDone} <= kinds
    events = desk.engine.records().turns().events(answered.turn.id)
    assert [event.kind for event in events].count("tool_end") == 7
    assert events[-1].kind == "done"


def test_what_a_model_reads_of_a_match(desk: Desk) -> None:
    """Where it is, what it is, and how far it is from the question."""
    call = Call("vector_search", '{"query": "light the lamps"}')
    with FakeOpenAI([Say(calls=(call,)), Say("The keeper.")]) as fake:
        desk.use(fake)
        result = desk.ask().turn.rounds[0].results[0]
    assert result.data is not None
    rows = result.data["results"]
    assert isinstance(rows, list | tuple)
    assert rows
    for row in rows:
        place = f"{row['relPath']}:{row['startLine']}-{row['endLine']}"
        (line,) = [each for each in result.text.splitlines() if each.startswith(place)]
        assert f", distance {row['score']:.2f}" in line


def test_the_conversation_goes_on(desk: Desk) -> None:
    with FakeOpenAI([Say("The keeper."), Say("By hand.")]) as fake:
        desk.use(fake)
        first = desk.ask("who lights the lamps?")
        second = desk.ask("and how?", conversation=first.conversation.id)
    assert (second.number, second.conversation.id) == (2, first.conversation.id)
    said = [(one["role"], one["content"]) for one in fake.received[-1].body["messages"]]
    assert said[-3:] == [
        ("user", "who lights the lamps?"),
        ("assistant", "The keeper."),
        ("user", "and how?"),
    ]


def test_a_repeated_request_is_answered_once(desk: Desk) -> None:
    with FakeOpenAI([Say("The keeper.")]) as fake:
        desk.use(fake)
        first = desk.ask(request_id="r-1")
        again = desk.ask(request_id="r-1")
        assert len(fake.received) == 1
    assert (again.is_repeat, again.turn) == (True, first.turn)
    assert isinstance(desk.heard[-1], TurnDone)


def test_a_request_that_is_still_answered_is_waited_for(desk: Desk) -> None:
    with FakeOpenAI([Say("The keeper lights them all.", hold_after=3)]) as fake:
        desk.use(fake)
        request = AskRequest(question="who?", request_id="r-1")
        first = desk.asking.ask(desk.registered, request)
        assert fake.holding.wait(30)
        with pytest.raises(TurnRunning, match="still being answered"):
            desk.ask("who?", request_id="r-1", wait_seconds=0)
        second = desk.asking.ask(desk.registered, request)
        fake.release()
        assert first.result(30).turn == second.result(30).turn
        assert len(fake.received) == 1


def test_turns_of_a_conversation_take_turns(desk: Desk) -> None:
    first = desk.ask()
    with FakeOpenAI([Say("An answer.")]) as fake:
        desk.use(fake)
        asked = [
            desk.asking.ask(
                desk.registered,
                AskRequest(question=f"question {number}", conversation=first.conversation.id),
            )
            for number in range(6)
        ]
        numbers = [one.result(60).number for one in asked]
    assert sorted(numbers) == [2, 3, 4, 5, 6, 7]
    turns = desk.engine.records().turns().of(first.conversation.id)
    for before, after in pairwise(turns):
        assert before.ended is not None
        assert before.ended <= after.started


def test_stopping_keeps_what_was_said(desk: Desk) -> None:
    with FakeOpenAI([Say("The keeper lights them all.", hold_after=4)]) as fake:
        desk.use(fake)
        asked = desk.asking.ask(desk.registered, AskRequest(question="who?"))
        turn = asked.begun.result(30).recorded.turn.id
        assert fake.holding.wait(30)
        assert desk.asking.stop(turn)
        answered = asked.result(30)
    assert answered.turn.status is TurnStatus.stopped
    assert "The keeper lights them all.".startswith(answered.turn.answer)
    assert desk.engine.records().turns().get(turn).turn.status is TurnStatus.stopped
    assert not desk.asking.stop(turn)


def test_a_stop_from_another_process(desk: Desk) -> None:
    with FakeOpenAI([Say("The keeper lights them all.", hold_after=4)]) as fake:
        desk.use(fake)
        asked = desk.asking.ask(desk.registered, AskRequest(question="who?"))
        turn = asked.begun.result(30).recorded.turn.id
        assert fake.holding.wait(30)
        # What another process does: it leaves word in the database.
        assert desk.engine.records().turns().stop(turn)
        assert asked.result(30).turn.status is TurnStatus.stopped


def test_a_question_that_is_taken_back_while_it_waits(desk: Desk) -> None:
    with FakeOpenAI([Say("The keeper lights them all.", hold_after=4)]) as fake:
        desk.use(fake)
        first = desk.asking.ask(desk.registered, AskRequest(question="who?"))
        conversation = first.begun.result(30).conversation.id
        assert fake.holding.wait(30)
        second = desk.asking.ask(
            desk.registered, AskRequest(question="how?", conversation=conversation)
        )
        second.stop()
        with pytest.raises(Cancelled):
            second.result(30)
        fake.release()
        first.result(30)
    assert len(desk.engine.records().turns().of(conversation)) == 1


def test_a_model_that_is_down_fails_the_turn_and_can_be_asked_again(desk: Desk) -> None:
    with FakeOpenAI([Say(status=401, body="{}")]) as fake:
        desk.use(fake)
        failed = desk.ask(request_id="r-1")
    assert failed.turn.status is TurnStatus.failed
    assert failed.turn.error is not None
    assert failed.turn.error.code == "provider_refused"
    with FakeOpenAI([Say("After all.")]) as fake:
        desk.use(fake)
        again = desk.ask(request_id="r-1")
    assert (again.turn.answer, again.turn.error, again.number) == ("After all.", None, 1)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"question": " "}, UsageError),
        ({"conversation": "nothing"}, ConversationMissing),
        ({"agent": "unknown"}, AgentMissing),
        ({"provider": "unknown"}, UsageError),
        ({"provider": "openai"}, ProviderMissing),
        ({"provider": "sampling"}, ProviderMissing),
        ({"model": "anthropic/"}, ProviderMissing),
    ],
)
def test_what_cannot_be_asked_leaves_no_trace(
    desk: Desk, request_: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        desk.ask(**request_)
    assert desk.engine.records().conversations().page().total == 0


def test_an_archived_conversation_takes_no_question(desk: Desk) -> None:
    id_ = desk.ask().conversation.id
    desk.engine.records().conversations().archive(id_)
    with pytest.raises(ConversationArchived):
        desk.ask(conversation=id_)


def test_a_repository_without_an_index(desk: Desk) -> None:
    bare = desk.engine.register(make(desk.base / "bare", other="x = 1\n"))
    answered = desk.asking.ask(bare, AskRequest(question="who?")).result(60)
    assert answered.turn.status is TurnStatus.failed
    assert answered.turn.error is not None
    assert answered.turn.error.code == "index_missing"


@pytest.fixture
def agent(desk: Desk) -> str:
    folder = desk.base / "data" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "keeper.yaml").write_text(AGENT)
    return "keeper"


def test_an_agent_brings_its_rules_and_keeps_its_session(desk: Desk, agent: str) -> None:
    with FakeOpenAI([Say("Yes."), Say("No.")]) as fake:
        desk.use(fake)
        first = desk.ask(agent=agent)
        second = desk.ask("still?", conversation=first.conversation.id)
    sent = json.dumps(fake.received[0].body["messages"])
    assert "You keep the lamps." in sent
    assert "Be brief." in sent
    assert [str(item.key) for item in second.turn.context.items] == ["rule:Tone"]  # type: ignore[union-attr]
    assert second.turn.agent_name == agent
    kept = desk.engine.records().conversations().get(first.conversation.id)
    assert (kept.agent, bool(kept.session)) == (agent, True)
    assert len(desk.engine.records().sessions().requests(kept.session)) == 2
    assert [found.name for found in desk.asking.agents(desk.registered)][:1] == [agent]


def test_many_turns_at_once_are_all_answered(desk: Desk) -> None:
    """Fifty streams against one endpoint: none is lost, and each is kept whole."""
    with FakeOpenAI(lambda body: Say(f"Answer to {body['messages'][-1]['content']}")) as fake:
        desk.use(fake)
        asked = [
            desk.asking.ask(desk.registered, AskRequest(question=f"question {number}"))
            for number in range(50)
        ]
        answers = [one.result(120).turn.answer for one in asked]
    assert answers == [f"Answer to question {number}" for number in range(50)]
    assert desk.engine.records().conversations().page(limit=200).total == 50


def test_closing_stops_what_runs(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with FakeOpenAI([Say("The keeper lights them all.", hold_after=4)]) as fake:
        desk.use(fake)
        asked = desk.asking.ask(desk.registered, AskRequest(question="who?"))
        assert fake.holding.wait(30)
        conversation = asked.begun.result(30).conversation.id
        waiting = desk.asking.ask(
            desk.registered, AskRequest(question="how?", conversation=conversation)
        )
        desk.close()
    assert asked.result(0).turn.status is TurnStatus.stopped
    # It may have had its turn once the first was stopped; in no case does it go on.
    with suppress(Cancelled):
        assert waiting.result(0).turn.status is TurnStatus.stopped


def test_going_on_with_what_is_done_tells_it(desk: Desk) -> None:
    done = desk.ask()
    request = GoOnRequest(turn=done.turn.id, approvals={})
    again = desk.asking.go_on(desk.registered, request).result(30)
    assert (again.is_repeat, again.turn) == (True, done.turn)
