"""Tool calls from pieces, as servers really send them."""

import pytest

from asterism.models.llm.stream import CallPieces
from asterism.types.chat import ToolCall

Piece = tuple[object, object, object, object]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        # As OpenAI: number, then name, then arguments in parts.
        (
            [(0, "a", "f", ""), (0, None, None, '{"x"'), (0, None, None, ": 1}")],
            [ToolCall("a", "f", '{"x": 1}')],
        ),
        # Two at once, interleaved.
        (
            [(0, "a", "f", "{"), (1, "b", "g", "{"), (0, None, None, "}"), (1, None, None, "}")],
            [ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}")],
        ),
        # Every call with the number 0.
        (
            [(0, "a", "f", "{}"), (0, "b", "g", "{}")],
            [ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}")],
        ),
        # No numbers; the name repeated.
        (
            [(None, "a", "f", "{"), (None, None, "f", "}"), (None, "b", "g", "{}")],
            [ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}")],
        ),
        # No ids, and arguments as an object.
        ([(0, None, "f", {"x": 1})], [ToolCall("call_1_f", "f", '{"x": 1}')]),
        # The same id twice would make two results one.
        (
            [(0, "a", "f", "{}"), (1, "a", "g", "{}")],
            [ToolCall("a", "f", "{}"), ToolCall("call_2_g", "g", "{}")],
        ),
        # Nothing that makes sense.
        ([(None, 7, None, None)], [ToolCall("call_1_", "", "")]),
        ([], []),
    ],
)
def test_calls_from_pieces(pieces: list[Piece], expected: list[ToolCall]) -> None:
    collected = CallPieces()
    for piece in pieces:
        collected.add(*piece)
    assert list(collected.calls()) == expected
