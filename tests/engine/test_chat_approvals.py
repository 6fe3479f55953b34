"""Tools of an agent's server that need approval: approved, refused, resumed."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.engine.chat.requests import Answered, GoOnRequest
from asterism.types.chat import ApprovalWanted, TurnStatus
from tests.engine.test_chat_service import Desk
from tests.llm.fake_openai import FakeOpenAI
from tests.llm.loopback import Call, Say

SERVER = Path(__file__).resolve().parents[1] / "toolservers" / "fake_server.py"
TOOL = "fake__echo"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    folder = tmp_path / "data" / "agents"
    folder.mkdir(parents=True)
    for name, permission in (("asks", "ask"), ("trusts", "always"), ("never", "never")):
        (folder / f"{name}.yaml").write_text(
            f"""\
description: Repeats things
servers:
  - name: fake
    command: {sys.executable}
    args: ["{SERVER}", plain]
    permission: {permission}
"""
        )
    yield made
    made.close()


def script() -> list[Say]:
    return [Say(calls=(Call(TOOL, '{"text": "hello"}', "call-1"),)), Say("It said something.")]


def go_on(desk: Desk, answered: Answered, word: bool) -> Answered:
    request = GoOnRequest(turn=answered.turn.id, approvals={"call-1": word})
    return desk.asking.go_on(desk.registered, request, desk.heard.append).result(60)


@pytest.mark.parametrize(("word", "is_error"), [(True, False), (False, True)])
def test_the_turn_waits_and_goes_on_with_the_same_context(
    desk: Desk, word: bool, is_error: bool
) -> None:
    with FakeOpenAI(script()) as fake:
        desk.use(fake)
        waiting = desk.ask("repeat hello", agent="asks")
        assert waiting.turn.status is TurnStatus.awaiting_approval
        assert [call.name for call in waiting.turn.pending] == [TOOL]
        assert any(isinstance(event, ApprovalWanted) for event in desk.heard)
        kept = desk.engine.records().turns().get(waiting.turn.id).turn
        assert kept == waiting.turn
        done = go_on(desk, waiting, word)
        assert len(fake.received) == 2
    assert (done.turn.status, done.turn.answer) == (TurnStatus.done, "It said something.")
    assert done.turn.context == waiting.turn.context
    (result,) = done.turn.rounds[0].results
    assert result.is_error is is_error
    assert go_on(desk, done, word).is_repeat


def test_a_tool_that_may_always_be_called(desk: Desk) -> None:
    with FakeOpenAI(script()) as fake:
        desk.use(fake)
        done = desk.ask("repeat hello", agent="trusts")
    assert done.turn.status is TurnStatus.done
    (result,) = done.turn.rounds[0].results
    assert (result.is_error, "hello" in result.text) == (False, True)
    (session,) = desk.engine.records().sessions().sessions("trusts")
    (use,) = [use for use in desk.engine.records().sessions().uses("trusts") if use.called]
    assert (use.session, str(use.key), use.called) == (session.id, "tool:fake.echo", 1)


def test_a_tool_that_may_never_be_called_is_not_offered(desk: Desk) -> None:
    with FakeOpenAI(script()) as fake:
        desk.use(fake)
        done = desk.ask("repeat hello", agent="never")
    offered = [tool["function"]["name"] for tool in fake.received[0].body["tools"]]
    assert TOOL not in offered
    assert done.turn.rounds[0].results[0].is_error
