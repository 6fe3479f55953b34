"""What a reply with code shows of the symbols that were wanted."""

import pytest

from asterism.evaluation.datasets import LabelledPlace, Query
from asterism.evaluation.replies import ReplyText, WantedCode, is_shown, reply_measures

TEN = tuple(f"line {number}" for number in range(10))
SELL = WantedCode("src/a.py", TEN)
BUY = WantedCode("src/b.py", ("def buy():", "return 1"))


def snapshot(path: str, lines: tuple[str, ...], mark: str = "#") -> str:
    return "\n".join([f"{mark} {path}", *(f"    {line}" for line in lines), ""])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (snapshot("src/a.py", TEN), True),
        (snapshot("src/a.py", TEN, "//"), True),
        # A marked gap may leave out one line of ten.
        (snapshot("src/a.py", TEN[:-1]), True),
        (snapshot("src/a.py", TEN[:-2]), False),
        (snapshot("src/a.py", TEN[::-1]), False),
        (snapshot("src/b.py", TEN), False),
        # A list of candidates names the file and shows nothing.
        ("src/a.py:1-10  sell  0.5\n" + "\n".join(TEN), False),
        ("", False),
    ],
)
def test_nine_tenths_of_the_lines_are_shown(text: str, shown: bool) -> None:
    assert is_shown(SELL, text) is shown


def test_a_file_is_shown_by_any_of_its_lines() -> None:
    whole = WantedCode("src/a.py", None)
    assert is_shown(whole, snapshot("src/a.py", TEN[:1]))
    assert not is_shown(whole, snapshot("src/b.py", TEN))


@pytest.mark.parametrize(
    ("before", "wanted", "needs_all", "recalls"),
    [
        (0, [SELL], False, (1.0, 1.0, 1.0)),
        (8_000, [SELL], False, (0.0, 1.0, 1.0)),
        (16_000, [SELL], False, (0.0, 0.0, 1.0)),
        (32_000, [SELL], False, (0.0, 0.0, 0.0)),
        (0, [SELL, BUY], False, (1.0, 1.0, 1.0)),
        (0, [SELL, BUY], True, (0.5, 0.5, 0.5)),
        (0, [], False, (0.0, 0.0, 0.0)),
    ],
)
def test_within_so_many_tokens(
    before: int, wanted: list[WantedCode], needs_all: bool, recalls: tuple[float, ...]
) -> None:
    query = Query("1", "q", "shop", (LabelledPlace("src/a.py"),), needs_all=needs_all)
    text = "x" * before + "\n" + snapshot("src/a.py", TEN)
    found = reply_measures(ReplyText(text, 3), query, wanted)
    assert found[:3] == recalls
    assert (found.results, found.tokens) == (3, -(-len(text) // 4))


@pytest.mark.parametrize(("lines", "share"), [(TEN, 70 / 80), (TEN[:5], 0.0), (TEN[:6], 42 / 52)])
def test_the_share_of_wanted_code(lines: tuple[str, ...], share: float) -> None:
    """Less than half of a symbol's lines may be there by accident; 7 characters are in a line."""
    query = Query("1", "q", "shop", (LabelledPlace("src/a.py"),))
    text = "\n".join(["# src/a.py", *lines])
    assert reply_measures(ReplyText(text, 1), query, [SELL]).wanted_share == share
