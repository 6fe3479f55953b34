"""Is the reader told what a model did not get to read?"""

import asyncio

from asterism.backends.llm.options import LlmOptions
from asterism.backends.llm.protocol import ModelRequest
from asterism.backends.llm.providers import Lent, make_model
from asterism.chat.options import TurnOptions
from asterism.chat.running import start
from asterism.domain.chat import ModelReply, ToolCall, Turn, TurnStatus
from tests.chat.scenes import FIND, WRITE, Scene, new_turn
from tests.disclosure.examples import AWS


def played(asked: list[ModelRequest], first: ToolCall) -> Turn:
    """A turn whose model calls a tool once, and then answers."""

    async def sample(request: ModelRequest) -> ModelReply:
        asked.append(request)
        return ModelReply("Here.") if len(asked) > 1 else ModelReply("", (first,))

    async def run() -> Turn:
        model = make_model(LlmOptions("sampling"), Lent(sample, calls_tools=True))
        parts = Scene(tools=(FIND, WRITE)).parts(model)
        running = start(new_turn(f"What is {AWS}?"), parts, TurnOptions())
        async for _ in running:
            pass
        return await running.wait()

    return asyncio.run(run())


def notes(turn: Turn) -> list[str]:
    """Those on masking."""
    return [note for note in turn.notes if "masked" in note]


def test_once_whatever_is_sent_again_in_every_round() -> None:
    asked: list[ModelRequest] = []
    turn = played(asked, ToolCall("c1", FIND.name, "{}"))
    assert len(asked) == 2
    assert AWS not in repr(asked)
    # What the user wrote stays what it was on this machine.
    assert turn.question == f"What is {AWS}?"
    assert notes(turn) == [
        "1 token was masked in what was sent to the model (1 AWS access key); `asterism files "
        "--tokens` shows where they are."
    ]


def test_not_while_the_turn_waits() -> None:
    asked: list[ModelRequest] = []
    turn = played(asked, ToolCall("c1", WRITE.name, "{}"))
    assert turn.status is TurnStatus.awaiting_approval
    assert notes(turn) == []
