"""What becomes of each call: it runs, it waits, or it is answered; never two of these, never none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.chat.ports import ToolOutput, TurnOptions
from asterism.chat.tool_calls import (
    CallTerms,
    is_looping,
    must_ask,
    offered,
    same,
    sort_calls,
    trimmed,
)
from asterism.types.agent_settings import Permission
from asterism.types.chat import Round, ToolCall, ToolResult, ToolSpec
from tests.chat.scenes import ASKING, FIND, FORBIDDEN, WRITE

OPTIONS = TurnOptions()
TOOLS = (FIND, ASKING, WRITE)


@pytest.mark.parametrize(
    ("permission", "effects", "expected"),
    [
        (Permission.always, False, False),
        (Permission.ask, False, True),
        # Whatever is allowed: what can change something asks.
        (Permission.always, True, True),
        (Permission.ask, True, True),
    ],
)
def test_who_has_to_be_asked(permission: Permission, effects: bool, expected: bool) -> None:
    tool = ToolSpec("t", "", {}, permission, effects)
    assert must_ask(tool) is expected


def test_what_is_offered() -> None:
    twin = FIND._replace(description="Another of that name.")
    assert offered((FIND, FORBIDDEN, twin, WRITE)) == (FIND, WRITE)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', True),
        ("", "{}", True),
        ('{"a": 1}', '{"a": 2}', False),
        ("{broken", "{broken", True),
    ],
)
def test_the_same_call(one: str, other: str, expected: bool) -> None:
    calls = [ToolCall(str(n), "find", text) for n, text in enumerate((one, other))]
    assert (same(calls[0]) == same(calls[1])) is expected


def test_a_call_that_failed_may_be_made_again() -> None:
    call = ToolCall("c1", "find", '{"q": 1}')
    again = call._replace(id="c2")
    failed = Round("", (call,), (ToolResult("c1", "find", "no", is_error=True),))
    went_well = Round("", (call,), (ToolResult("c1", "find", "yes"),))
    terms = CallTerms(TOOLS, OPTIONS)
    assert [one[0] for one in sort_calls([again], [failed], terms).run] == [again]
    assert sort_calls([again], [went_well], terms).run == ()


def test_a_change_may_be_made_again_if_it_is_approved() -> None:
    call = ToolCall("c1", "write", "{}")
    made = Round("", (call,), (ToolResult("c1", "write", "done"),))
    again = call._replace(id="c2")
    terms = CallTerms(TOOLS, OPTIONS, {"c2": True})
    assert len(sort_calls([again], [made], terms).run) == 1


def test_nothing_is_a_loop_at_first() -> None:
    call = ToolCall("c1", "find", "{")
    failed = Round("", (call,), (ToolResult("c1", "find", "no", is_error=True),))
    assert not is_looping([], OPTIONS)
    assert not is_looping([failed, failed], OPTIONS)
    assert is_looping([failed, failed, failed], OPTIONS)


names = st.sampled_from(["find", "ask_first", "write", "unknown", ""])
arguments = st.sampled_from(["", "{}", '{"q": 1}', '{"q": 2}', "[]", "{", "null", "[" * 5_000])


@given(
    st.lists(st.tuples(names, arguments), max_size=20),
    st.dictionaries(st.integers(0, 20).map(lambda n: f"c{n}"), st.booleans(), max_size=5),
)
def test_every_call_has_one_fate(wanted: list[tuple[str, str]], approvals: dict[str, bool]) -> None:
    calls = [ToolCall(f"c{n}", name, text) for n, (name, text) in enumerate(wanted)]
    fates = sort_calls(calls, (), CallTerms(TOOLS, OPTIONS, approvals))
    ran = [call.id for call, _, _ in fates.run]
    ids = [*ran, *(call.id for call in fates.wait), *(one.call_id for one in fates.answered)]
    assert sorted(ids) == sorted(call.id for call in calls)
    for call, tool, _ in fates.run:
        assert not must_ask(tool) or approvals.get(call.id) is True
    assert all(one.is_error for one in fates.answered)


@pytest.mark.parametrize(
    ("output", "left_out", "has_data"),
    [
        (ToolOutput("x" * 100, {"a": 1}), 0, True),
        (ToolOutput("x" * 101, {"a": 1}), 1, True),
        (ToolOutput("", {"a": "x" * 100}), 0, False),
        # Rows that cannot be written belong to no turn.
        (ToolOutput("", {"a": object()}), 0, False),
        (ToolOutput("", None), 0, False),
    ],
)
def test_results_are_made_to_fit(output: ToolOutput, left_out: int, has_data: bool) -> None:
    options = TurnOptions(tool_chars=100, data_chars=50)
    result = trimmed(ToolCall("c", "find", "{}"), output, options)
    assert result.left_out == left_out
    assert (result.data is not None) is has_data
    assert json.dumps(result.data)
