"""What a request is made of: rules, context, conversation, code, question; and the same once more."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from asterism.chat.ports import PreparedRequest
from asterism.chat.prompts import history_of
from asterism.chat.run import start
from asterism.models.llm.options import LlmOptions
from asterism.models.llm.protocol import ModelRequest
from asterism.models.llm.provider import Lent, make_model
from asterism.types.chat import (
    ContextReady,
    Message,
    ModelReply,
    Role,
    ToolResult,
    Turn,
    TurnStatus,
)
from asterism.types.context import RequestContext
from tests.chat.scenes import FIND, WRITE, Scene, Shelf, new_turn
from tests.llm.loopback import Call, Say
from tests.search.selection_hits import hit

FIRST = RequestContext(agent="reviewer", prompt_hash="1")
WIDER = RequestContext(agent="reviewer", prompt_hash="2")
MESSAGES = (Message(Role.system, "You review."), Message(Role.user, "<rule> Be strict. </rule>"))
ANSWER = Say("Done")


class Reviewer:
    """An agent's contexts: a tool that finds, and one that writes once something was found."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def build(self, question: str) -> PreparedRequest:
        self.asked.append(f"build {question}")
        grounding = (ToolResult("g", "context", "code of the context"),)
        return PreparedRequest(FIRST, MESSAGES, (FIND,), grounding, ("One rule did not fit.",))

    async def rebuild(self, context: RequestContext | None) -> PreparedRequest:
        self.asked.append(f"rebuild {context.prompt_hash if context else None}")
        return PreparedRequest(context, MESSAGES, (FIND, WRITE))

    async def widen(
        self, prepared: PreparedRequest, results: Sequence[ToolResult]
    ) -> PreparedRequest:
        self.asked.append(f"widen {' '.join(result.call_id for result in results)}")
        return prepared._replace(context=WIDER, tools=(FIND, WRITE))


def test_the_order_of_a_request() -> None:
    scene = Scene([ANSWER], contexts=Reviewer(), history=[Message(Role.user, "Hello?")])
    turn = scene.ask("What now?")
    sent = [(one["role"], one["content"]) for one in scene.sent()["messages"]]
    assert [role for role, _ in sent] == ["system", "system", "user", "user", "user", "user"]
    assert sent[1][1] == "You review."
    assert sent[2][1] == "Hello?"
    assert "code of the context" in sent[3][1]
    assert sent[4][1] == "<rule> Be strict. </rule>"
    assert sent[5][1] == "What now?"
    assert turn.context == FIRST
    assert turn.notes == ("One rule did not fit.",)


def test_results_may_widen_the_context_and_an_approval_goes_on_with_it() -> None:
    look = Say("", (Call("find", '{"q": 1}', "c1"),))
    write = Say("", (Call("write", "{}", "c2"),))
    before = Reviewer()
    scene = Scene([look, write], contexts=before)
    waiting = scene.ask()
    assert waiting.status is TurnStatus.awaiting_approval
    assert waiting.context == WIDER
    assert before.asked == ["build Where is it?", "widen c1"]
    assert [event.context for event in scene.events if isinstance(event, ContextReady)] == [
        FIRST,
        WIDER,
    ]
    after = Reviewer()
    done = Scene([ANSWER], contexts=after).go_on(waiting, c2=True)
    assert done.status is TurnStatus.done
    assert done.context == WIDER
    assert after.asked == ["rebuild 2"]


def test_a_client_that_lends_a_model_without_tools_is_given_code() -> None:
    seen: list[ModelRequest] = []

    async def sample(request: ModelRequest) -> ModelReply:
        seen.append(request)
        return ModelReply("Here", model_id="theirs")

    async def run() -> Turn:
        scene = Scene(shelf=Shelf(hit("login", 0.9, 0.3)))
        model = make_model(LlmOptions("sampling"), Lent(sample))
        return await start(new_turn(), scene.parts(model), scene.options).wait()

    turn = asyncio.run(run())
    assert (turn.answer, turn.model_id) == ("Here", "theirs")
    assert [citation.path for citation in turn.citations] == ["login.py"]
    assert seen[0].tools == ()
    assert "source of login" in str(seen[0].messages)


def test_the_conversation_so_far() -> None:
    done = replace(new_turn("one"), status=TurnStatus.done, answer="1")
    stopped = replace(new_turn("two"), status=TurnStatus.stopped, answer="2")
    failed = replace(new_turn("three"), status=TurnStatus.failed, answer="3")
    empty = replace(new_turn("four"), status=TurnStatus.done, answer=" ")
    assert [message.text for message in history_of([done, stopped, failed, empty])] == [
        "one",
        "1",
        "two",
        "2",
    ]
