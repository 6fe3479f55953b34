"""Turns when things go wrong: models, tools, disks, windows, and people who stop them."""

import asyncio
import json
from collections.abc import Callable

import pytest

from asterism.chat import ports
from asterism.chat.ports import ToolOutput, TurnOptions
from asterism.chat.run import RunningTurn, start
from asterism.models.llm.protocol import LanguageModel
from asterism.operations.error_codes import CODES as TOOL_CODES
from asterism.types import errors
from asterism.types.chat import (
    Discarded,
    Message,
    Noted,
    Role,
    Token,
    Turn,
    TurnFailed,
    TurnStatus,
)
from tests.chat.scenes import FIND, Notebook, Scene, Toolbox, new_turn
from tests.llm.asking import VENDORS, Vendor, model_of
from tests.llm.loopback import Call, FakeServer, Say

both = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.provider)
LOOK = Say("", (Call("find", '{"q": "login"}', "c1"),))
ANSWER = Say("It is in a.py")


@both
@pytest.mark.parametrize(
    ("say", "code"),
    [
        (Say(status=500), "provider_down"),
        (Say(status=429), "provider_down"),
        (Say(status=401), "provider_refused"),
        (Say(body="<html>", headers={"content-type": "text/html"}), "provider_refused"),
    ],
)
def test_a_model_that_gives_no_answer(vendor: Vendor, say: Say, code: str) -> None:
    scene = Scene([say], vendor=vendor)
    turn = scene.ask()
    assert turn.status is TurnStatus.failed
    assert turn.error is not None
    assert turn.error.code == code
    assert isinstance(scene.events[-1], TurnFailed)
    assert scene.notebook.turns[-1] == turn


@both
def test_an_answer_that_breaks_off_is_asked_for_anew(vendor: Vendor) -> None:
    scene = Scene([Say("It is per- haps", drop_after=4), ANSWER], vendor=vendor)
    turn = scene.ask()
    assert turn.answer == "It is in a.py"
    (gone,) = [event for event in scene.events if isinstance(event, Discarded)]
    assert gone.text
    assert "It is per- haps".startswith(gone.text)


@both
def test_an_answer_that_breaks_off_again_and_again(vendor: Vendor) -> None:
    turn = Scene([Say("It is in", drop_after=4)], vendor=vendor).ask()
    assert turn.status is TurnStatus.failed
    assert turn.error is not None
    assert turn.error.code == "model_reply_cut"
    # What was said until then is kept.
    assert turn.answer
    assert "It is in".startswith(turn.answer)


def test_a_failure_after_tools_keeps_what_they_found() -> None:
    turn = Scene([LOOK, Say(status=500)]).ask()
    assert turn.status is TurnStatus.failed
    assert turn.rounds[0].results[0].text == "find found it"


def test_a_tool_that_fails_is_told_to_the_model() -> None:
    def fail(tool: object, arguments: object) -> ToolOutput:
        raise errors.IndexMissing("There is no index; run `asterism index`.")

    scene = Scene([LOOK, ANSWER], toolbox=Toolbox(fail))
    turn = scene.ask()
    assert turn.status is TurnStatus.done
    assert turn.rounds[0].results[0].is_error
    assert "run `asterism index`" in scene.sent()["messages"][-1]["content"]


def test_a_tool_that_does_not_answer() -> None:
    async def forever() -> ToolOutput:
        await asyncio.sleep(60)
        return ToolOutput("late")

    scene = Scene(
        [LOOK, ANSWER],
        toolbox=Toolbox(lambda tool, given: forever()),
        options=TurnOptions(tool_seconds=0.01),
    )
    (result,) = scene.ask().rounds[0].results
    assert result.is_error
    assert "did not answer within" in result.text


def test_a_tool_that_says_ten_megabytes() -> None:
    huge = "x" * 10_000_000
    rows = {"results": [{"content": huge}]}
    scene = Scene([LOOK, ANSWER], toolbox=Toolbox(lambda tool, given: ToolOutput(huge, rows)))
    turn = scene.ask()
    (result,) = turn.rounds[0].results
    assert len(result.text) < 41_000
    assert "[9,960,000 characters left out]" in result.text
    assert result.left_out == 9_960_000
    assert result.data is None
    assert turn.notes == ("9,960,000 characters of what find said were left out.",)
    assert len(json.dumps(scene.sent())) < 50_000


def test_a_defect_of_asterism_ends_the_turn() -> None:
    def crash(tool: object, arguments: object) -> ToolOutput:
        raise ZeroDivisionError

    scene = Scene([LOOK, ANSWER], toolbox=Toolbox(crash))
    turn = scene.ask()
    assert turn.status is TurnStatus.failed
    assert turn.error == ports.INTERNAL
    assert isinstance(scene.events[-1], TurnFailed)


class Broken:
    """A recorder that breaks by a defect of Asterism."""

    async def save(self, turn: Turn) -> None:
        """Break."""
        raise ZeroDivisionError


def test_whatever_breaks_the_reader_hears_of_an_end() -> None:
    async def run() -> list[object]:
        scene = Scene()
        parts = scene.parts(None)._replace(recorder=Broken())
        return [event async for event in start(new_turn(), parts, scene.options)]

    (last,) = asyncio.run(run())
    assert isinstance(last, TurnFailed)
    assert last.error == ports.INTERNAL


def test_a_disk_that_is_full() -> None:
    scene = Scene([LOOK, ANSWER], notebook=Notebook(is_full=True))
    turn = scene.ask()
    assert turn.status is TurnStatus.done
    assert turn.answer == "It is in a.py"
    told = [event.text for event in scene.events if isinstance(event, Noted)]
    assert told == ["This turn is not saved: The disk is full; free some space."]


def test_a_conversation_over_the_window() -> None:
    """The oldest turns go, then results are shortened; the rules and the question stay."""
    history = [
        message
        for number in range(20)
        for message in (
            Message(Role.user, f"question {number}"),
            Message(Role.assistant, "a" * 4_000),
        )
    ]
    scene = Scene(
        [LOOK, ANSWER],
        history=history,
        toolbox=Toolbox(lambda tool, given: ToolOutput("r" * 30_000)),
        model_options={"window": 8_000},
        options=TurnOptions(max_output_tokens=1_000),
    )
    turn = scene.ask("The question itself")
    assert turn.status is TurnStatus.done
    first, second = scene.sent(0)["messages"], scene.sent(1)["messages"]
    assert first[1]["content"] not in ("question 0", "a" * 4_000)
    assert first[1]["role"] == "user"
    assert first[-1]["content"] == "The question itself"
    assert len(json.dumps(second)) < 8_000 * 4
    assert any("oldest messages of the conversation were left out" in one for one in turn.notes)
    assert any("were shortened" in one for one in turn.notes)


def test_a_question_over_the_window() -> None:
    turn = Scene([ANSWER], model_options={"window": 2_000}).ask("x" * 50_000)
    assert turn.status is TurnStatus.failed
    assert turn.error is not None
    assert turn.error.code == "text_too_long"


def test_a_window_no_larger_than_the_usual_answer() -> None:
    """The answer gets half of it: asked for more, nothing could be asked at all."""
    scene = Scene([LOOK, ANSWER], model_options={"window": 4_096})
    assert scene.ask().status is TurnStatus.done
    sent = scene.sent()
    assert sent.get("max_tokens", sent.get("max_completion_tokens")) == 2_048


def test_a_window_that_only_the_server_knows() -> None:
    def script(body: dict[str, object]) -> Say:
        if len(json.dumps(body)) > 20_000:
            return Say(status=400, body='{"error": {"code": "context_length_exceeded"}}')
        return ANSWER

    history = [Message(Role.user, "q" * 9_000), Message(Role.assistant, "a" * 9_000)] * 3
    scene = Scene(script, history=history)
    turn = scene.ask()
    assert turn.status is TurnStatus.done
    assert turn.answer == "It is in a.py"
    assert any("left out" in note for note in turn.notes)


Act = Callable[[RunningTurn, FakeServer], None]


def played(scene: Scene, act: Act) -> Turn:
    """The turn, with something done to it while the model's answer is held."""
    with scene.vendor.fake(scene.script) as server:

        async def run() -> Turn:
            model: LanguageModel = model_of(scene.vendor, server.url)
            running = start(new_turn(), scene.parts(model), scene.options)
            spoken = asyncio.Event()
            reading = asyncio.create_task(_read(scene, running, spoken))
            await asyncio.to_thread(server.holding.wait, 10)
            await asyncio.wait_for(spoken.wait(), 10)
            act(running, server)
            turn = await running.wait()
            await asyncio.wait_for(reading, 10)
            await model.close()
            return turn

        return asyncio.run(run())


async def _read(scene: Scene, running: RunningTurn, spoken: asyncio.Event) -> None:
    async for event in running:
        scene.events.append(event)
        if isinstance(event, Token):
            spoken.set()


@both
def test_a_turn_that_is_stopped(vendor: Vendor) -> None:
    scene = Scene([Say("One two three", hold_after=4)], vendor=vendor)
    turn = played(scene, lambda running, server: running.stop())
    assert turn.status is TurnStatus.stopped
    assert turn.answer
    assert "One two three".startswith(turn.answer)
    assert scene.notebook.turns[-1] == turn
    assert scene.kinds().endswith("TurnDone")


def test_stopping_twice_is_stopping_once() -> None:
    def act(running: RunningTurn, server: FakeServer) -> None:
        running.stop()
        running.stop()

    scene = Scene([Say("One two three", hold_after=3)])
    assert played(scene, act).status is TurnStatus.stopped
    assert [turn.status.value for turn in scene.notebook.turns] == ["running", "stopped"]


def test_stopping_what_is_over_changes_nothing() -> None:
    async def run() -> Turn:
        scene = Scene()
        running = start(new_turn(), scene.parts(None), scene.options)
        await running.wait()
        running.stop()
        return await running.wait()

    assert asyncio.run(run()).status is TurnStatus.done


def test_a_turn_that_is_stopped_before_it_begins() -> None:
    async def run() -> tuple[Turn, list[Turn]]:
        scene = Scene()
        running = start(new_turn(), scene.parts(None), scene.options)
        running.stop()
        events = [event async for event in running]
        assert len(events) == 1
        return running.turn, scene.notebook.turns

    turn, kept = asyncio.run(run())
    assert turn.status is TurnStatus.stopped
    assert kept == [turn]


def test_a_loop_that_ends_interrupts_its_turns() -> None:
    """What a process leaves behind that ends in an orderly way can be resumed."""

    def act(running: RunningTurn, server: FakeServer) -> None:
        for task in asyncio.all_tasks():
            if task.get_name() == "turn t1":
                task.cancel()

    scene = Scene([LOOK, Say("One two three", hold_after=3)])
    turn = played(scene, act)
    assert turn.status is TurnStatus.interrupted
    assert scene.notebook.turns[-1] == turn
    assert Scene([ANSWER]).go_on(turn).answer == "It is in a.py"


def test_a_loop_that_ends_before_the_turn_began() -> None:
    async def run() -> list[object]:
        scene = Scene()
        running = start(new_turn(), scene.parts(None), scene.options)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        return [event async for event in running]

    (last,) = asyncio.run(run())
    assert last.turn.status is TurnStatus.interrupted  # type: ignore[attr-defined]


def test_a_tool_is_left_when_the_turn_is_stopped() -> None:
    async def run() -> Turn:
        begun = asyncio.Event()

        async def wait() -> ToolOutput:
            begun.set()
            await asyncio.sleep(60)
            return ToolOutput("late")

        scene = Scene(toolbox=Toolbox(lambda tool, given: wait()), tools=(FIND,))
        with scene.vendor.fake([LOOK]) as server:
            model = model_of(scene.vendor, server.url)
            running = start(new_turn(), scene.parts(model), scene.options)
            await asyncio.wait_for(begun.wait(), 10)
            running.stop()
            turn = await running.wait()
            await model.close()
        return turn

    turn = asyncio.run(run())
    assert turn.status is TurnStatus.stopped
    assert [call.id for call in turn.pending] == ["c1"]


def test_codes_are_those_of_the_tools() -> None:
    for kind, code in ports.CODES.items():
        assert TOOL_CODES[kind].name == code
