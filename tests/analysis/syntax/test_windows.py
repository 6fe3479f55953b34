"""Text without a grammar is cut into windows of lines, at blank lines where there are any."""

import pytest

from asterism.analysis.syntax.outlines import outline
from asterism.analysis.syntax.text import SOFT_LINES, WINDOW_LINES


def windows(text: str) -> list[tuple[int, int]]:
    found = outline("a.unknown", text.encode())
    assert {item.kind for item in found.items} <= {"text"}
    return [(item.start_line, item.end_line) for item in found.items]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n\n\n", []),
        ("  \t\n", []),
        ("\u00a0\n\u3000\n", []),
        ("a", [(1, 1)]),
        ("a\n", [(1, 1)]),
        ("\n\na\nb\n\n", [(3, 4)]),
        # A blank line early in a window does not end it.
        ("a\n\nb\n", [(1, 3)]),
        ("a\n" * WINDOW_LINES, [(1, WINDOW_LINES)]),
        ("a\n" * (WINDOW_LINES + 1), [(1, WINDOW_LINES), (WINDOW_LINES + 1, WINDOW_LINES + 1)]),
        # One that comes late does.
        (
            "a\n" * SOFT_LINES + "\n" + "b\n" * 3,
            [(1, SOFT_LINES), (SOFT_LINES + 2, SOFT_LINES + 4)],
        ),
    ],
)
def test_windows(text: str, expected: list[tuple[int, int]]) -> None:
    assert windows(text) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("first line of it\nmore\n", "first line of it"),
        ("a\nb\n", "a b"),
        (f"{'word ' * 30}\n", f"{('word ' * 30)[:60].rstrip()} …"),
        (" " * 3000 + "far away\n", "far away"),
        ("\u3000" * 3000 + "far away\n", "far away"),
    ],
)
def test_a_window_is_called_by_its_first_line(text: str, name: str) -> None:
    (item,) = outline("a.unknown", text.encode()).items
    assert item.name == name


def test_a_window_spans_its_bytes() -> None:
    source = "\nä\nb\n".encode()
    (item,) = outline("a.unknown", source).items
    assert source[item.span.start : item.span.end] == "ä\nb".encode()
