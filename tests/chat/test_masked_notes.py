"""Is the reader told what a model did not get to read?"""

import asyncio
import json

import pytest

from asterism.chat.ports import TurnOptions
from asterism.chat.run import start
from asterism.chat.turn import masked_places
from asterism.disclosure.places import MaskingReport
from asterism.models.llm.options import LlmOptions
from asterism.models.llm.protocol import ModelRequest
from asterism.models.llm.provider import Lent, make_model
from asterism.types.chat import ModelReply, ToolCall, ToolResult, Turn, TurnStatus
from tests.chat.scenes import FIND, WRITE, Scene, Shelf, new_turn
from tests.disclosure.examples import AWS
from tests.llm.loopback import Say
from tests.search.selection_hits import hit


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


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("counts", "(2 AWS access key); `asterism files --tokens` shows where they are."),
        ("places", "(2 AWS access key): keys.py:8."),
        ("none", None),
    ],
)
def test_searching_again_counts_too(report: str, said: str | None) -> None:
    """Both searches find the key, so a request to the model has it twice, from one place."""
    signature = f"def connect(key='{AWS}'):"
    source = f"# Keys.\n{signature}\n    ..."
    leaking = hit("keys", 0.9, 0.3, signature=signature, lines=(7, 9), text=source)
    shelf = Shelf(leaking, by_query={"again": [leaking, hit("login", 0.9, 0.3)]})
    says = [
        Say(json.dumps({"enough": False, "useful": True, "query": "again"})),
        Say(json.dumps({"enough": True})),
        Say("In login.py."),
    ]
    options = TurnOptions(retries=2, masking_report=MaskingReport(report))
    scene = Scene(says, shelf=shelf, options=options)
    turn = scene.ask()
    assert turn.answer == "In login.py."
    start = "2 tokens were masked in what was sent to the model "
    assert notes(turn) == ([] if said is None else [start + said])


def test_a_key_that_only_the_judge_was_sent() -> None:
    leaking = hit("keys", 0.9, 0.3, signature=f"def connect(key='{AWS}'):")
    shelf = Shelf(leaking, by_query={"again": [hit("login", 0.9, 0.3)]})
    says = [
        Say(json.dumps({"enough": False, "useful": False, "query": "again"})),
        Say("In login.py."),
    ]
    scene = Scene(says, shelf=shelf, options=TurnOptions(retries=1))
    turn = scene.ask()
    assert AWS not in str(scene.sent(0)) + str(scene.sent(1))
    assert "masked: AWS" in str(scene.sent(0))
    assert "masked: AWS" not in str(scene.sent(1))
    assert [note.partition(" (")[0] for note in notes(turn)] == [
        "1 token was masked in what was sent to the model"
    ]


def test_a_row_that_was_shortened_has_the_place_of_its_beginning() -> None:
    rows = [
        {"relPath": "a.py", "chunk": f"x\n{AWS}\n", "startLine": 5, "endLine": 90},
        {"relPath": "b.py", "chunk": f"x\n{AWS}", "startLine": 5, "endLine": 6},
        {"relPath": "c.py", "chunk": "x", "startLine": 5, "endLine": 5},
        {"relPath": "d.py", "chunk": AWS},
        "no row",
    ]
    results = [ToolResult("c", "search", "", data={"results": rows}), ToolResult("d", "x", "")]
    assert [*masked_places(results)] == [("a.py", 5), ("b.py", 6)]
