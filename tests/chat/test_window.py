"""What goes when a request is more than the model can read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.chat.prompts import Assembled, estimate, fitted, shortened, size_of
from asterism.types.chat import Message, Role, ToolCall

RULES, QUESTION = Message(Role.system, "rules"), Message(Role.user, "question")


def request(history: list[int], results: list[int], grounding: int = 0) -> Assembled:
    """Earlier turns with answers of these lengths, and results of these lengths."""
    told = []
    for length in history:
        told += [Message(Role.user, "earlier"), Message(Role.assistant, "a" * length)]
    steps = []
    for number, length in enumerate(results):
        call = ToolCall(f"c{number}", "find", "{}")
        steps += [
            Message(Role.assistant, "", (call,)),
            Message(Role.tool, "r" * length, call_id=call.id),
        ]
    found = (Message(Role.user, "g" * grounding),) if grounding else ()
    return Assembled((RULES,), tuple(told), found, QUESTION, steps=tuple(steps))


def test_what_fits_stays_as_it_is() -> None:
    asked = request([400], [400])
    assert fitted(asked, 10_000).request is asked
    assert fitted(asked, 10_000).notes == ()


def test_without_a_known_window_everything_is_sent() -> None:
    asked = request([400_000], [400_000])
    assert fitted(asked, 0).request is asked


@pytest.mark.parametrize(
    ("asked", "budget", "history", "results"),
    [
        # The oldest turn goes, whole.
        (request([4_000, 4_000], []), 1_200, 2, []),
        (request([4_000, 4_000], []), 100, 0, []),
        # Results are shortened when there is nothing older, the oldest first.
        (request([4_000], [8_000, 8_000]), 2_600, 0, [True, False]),
        (request([], [8_000, 8_000]), 800, 0, [True, True]),
    ],
)
def test_what_goes(asked: Assembled, budget: int, history: int, results: list[bool]) -> None:
    trimmed = fitted(asked, budget)
    assert trimmed.fits
    assert size_of(trimmed.request) <= budget
    assert len(trimmed.request.history) == history
    tools = [one for one in trimmed.request.steps if one.role is Role.tool]
    assert ["left out" in one.text for one in tools] == results
    assert (trimmed.request.system, trimmed.request.question) == ((RULES,), QUESTION)
    # No call loses its result.
    assert len(trimmed.request.steps) == len(asked.steps)


def test_found_code_is_shortened_too() -> None:
    trimmed = fitted(request([], [], grounding=40_000), 1_000)
    assert trimmed.fits
    assert "left out" in trimmed.request.grounding[0].text


def test_what_cannot_be_made_to_fit_says_so() -> None:
    assert not fitted(request([], [500]), 20).fits


@given(
    st.lists(st.integers(0, 9_000), max_size=6),
    st.lists(st.integers(0, 60_000), max_size=6),
    st.integers(1, 40_000),
)
def test_trimming_never_adds(history: list[int], results: list[int], budget: int) -> None:
    asked = request(history, results)
    trimmed = fitted(asked, budget)
    assert size_of(trimmed.request) <= size_of(asked)
    assert trimmed.fits is (size_of(trimmed.request) <= budget)
    assert bool(trimmed.notes) is (trimmed.request != asked)
    told = trimmed.request.history
    assert told == asked.history[len(asked.history) - len(told) :]
    assert not told or told[0].role is Role.user


@given(st.text(max_size=500), st.integers(0, 600))
def test_shortening(text: str, most: int) -> None:
    short = shortened(text, most)
    if len(text) <= most:
        assert short == text
    else:
        assert f"[{len(text) - most:,} characters left out]" in short
        assert len(short) <= most + 40


def test_tokens_are_never_underestimated_to_nothing() -> None:
    assert [estimate("x" * length) for length in (0, 1, 4, 5)] == [0, 1, 1, 2]
