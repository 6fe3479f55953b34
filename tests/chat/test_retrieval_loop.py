"""Searching again: the model judges the hits, reformulates, and what was tried is recorded."""

import json

import pytest

from asterism.chat.ports import TurnOptions
from asterism.chat.retrieval_loop import HitVerdict, read_verdict
from asterism.types.chat import TurnStatus, Usage
from tests.chat.scenes import Scene, Shelf
from tests.llm.loopback import Say
from tests.search.selection_hits import hit

ANSWER = Say("It is in login.py", usage=(7, 3))
CART, LOGIN = hit("cart", 0.9, 0.9), hit("login", 0.9, 0.3)


def judge(**verdict: object) -> Say:
    """What the model thinks of the hits."""
    return Say(json.dumps(verdict), usage=(5, 1))


def test_a_better_search() -> None:
    shelf = Shelf(CART, by_query={"authenticate user": [LOGIN]})
    says = [
        judge(enough=False, useful=False, missing="no login here", query="authenticate user"),
        judge(enough=True),
        ANSWER,
    ]
    scene = Scene(says, shelf=shelf, options=TurnOptions(retries=2))
    turn = scene.ask("How do people get in?")
    assert turn.answer == "It is in login.py"
    assert shelf.queries == ["How do people get in?", "authenticate user"]
    assert [tuple(one) for one in turn.searches] == [
        ("How do people get in?", 1, "no login here"),
        ("authenticate user", 1, "enough"),
    ]
    # What was of no use is neither told nor cited.
    assert [citation.path for citation in turn.citations] == ["login.py"]
    told = str(scene.sent()["messages"])
    assert "source of login" in told
    assert "source of cart" not in told
    assert turn.usage == Usage(17, 5)


@pytest.mark.parametrize(
    ("says", "queries"),
    [
        # Content at once.
        ([judge(enough=True), ANSWER], 1),
        # No more than so many times; the last search is not judged.
        ([judge(enough=False, query="a"), judge(enough=False, query="b"), ANSWER], 3),
        # The same search again is of no use.
        ([judge(enough=False, query="Where is it?"), ANSWER], 1),
        ([judge(enough=False, query="a"), judge(enough=False, query="A"), ANSWER], 2),
        ([judge(enough=False), ANSWER], 1),
        # A judge that makes no sense, or fails, does not stop the answer.
        ([Say("I think it is fine."), ANSWER], 1),
        ([Say(status=400), ANSWER], 1),
    ],
)
def test_how_often_is_searched(says: list[Say], queries: int) -> None:
    shelf = Shelf(CART)
    scene = Scene(says, shelf=shelf, options=TurnOptions(retries=2))
    turn = scene.ask()
    assert turn.status is TurnStatus.done
    assert turn.answer == "It is in login.py"
    assert len(shelf.queries) == len(turn.searches) == queries


def test_all_of_no_use_is_still_something() -> None:
    says = [judge(enough=False, useful=False, query="a"), ANSWER]
    scene = Scene(says, shelf=Shelf(CART), options=TurnOptions(retries=1))
    assert scene.ask().searches[0].verdict == "not enough"
    assert "source of cart" in str(scene.sent()["messages"])


def test_without_the_option_hits_are_not_judged() -> None:
    shelf = Shelf(CART)
    scene = Scene([ANSWER], shelf=shelf)
    scene.ask()
    assert shelf.queries == []


def test_a_model_without_tools_is_given_the_hits() -> None:
    shelf = Shelf(LOGIN)
    scene = Scene([ANSWER], tools=(), shelf=shelf)
    turn = scene.ask()
    assert "source of login" in str(scene.sent()["messages"])
    assert [citation.path for citation in turn.citations] == ["login.py"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"enough": true}', HitVerdict(enough=True, said="enough")),
        (
            'Well: ```json\n{"enough": false, "missing": "m", "query": " q "}\n```',
            HitVerdict(enough=False, said="m", query="q"),
        ),
        (
            '{"enough": false, "useful": false}',
            HitVerdict(enough=False, useful=False, said="not enough"),
        ),
        (
            '{"enough": false, "query": 5}',
            HitVerdict(enough=False, said="not enough"),
        ),
        ("no", HitVerdict(enough=True, said="not judged: the verdict could not be read")),
        ("{", HitVerdict(enough=True, said="not judged: the verdict could not be read")),
        ("{}", HitVerdict(enough=True, said="not judged: the verdict could not be read")),
        (
            '{"enough": "yes"}',
            HitVerdict(enough=True, said="not judged: the verdict could not be read"),
        ),
    ],
)
def test_verdicts(text: str, expected: HitVerdict) -> None:
    assert read_verdict(text) == expected
