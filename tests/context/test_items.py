"""The texts that are compared: items in pieces, messages in sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.context.items import (
    MAX_PIECE,
    MAX_PIECES,
    MAX_SENTENCES,
    index_text,
    pieces_of,
    query_sentences,
)
from asterism.types.context import Item, Reference, Rule, Tool

S = "The quick brown fox jumps over it. "


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (Rule(name="n", description="d", text="t"), "n: d\n\nt"),
        (Rule(name="n", text="t"), "n\n\nt"),
        (Reference(name="n", description="d", text="t"), "n: d\n\nt"),
        (Reference(name="n", description=" ", text="t"), "n\n\nt"),
        (Tool(server="s", name="n", description="d"), "n: d"),
        (Tool(server="s", name="n"), "n"),
    ],
)
def test_index_text(item: Item, expected: str) -> None:
    assert index_text(item) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("a\n\nb", ("a", "b")),
        ("a\nb", ("a\nb",)),
        ("a\n \t\n\n\nb\n", ("a", "b")),
        (S * 10, ((S * 10).strip(),)),
        # 14 sentences of 35 characters are 489 with the blanks between them.
        (S * 20, ((S * 14).strip(), (S * 6).strip())),
        ("x" * 1200, ("x" * 500, "x" * 500, "x" * 200)),
        (f"One. {'y' * 600}", ("One.", "y" * 500, "y" * 100)),
        ("z " * 400, (("z " * 250).strip(), ("z " * 150).strip())),
        (f"{S * 20}\n\nend", ((S * 14).strip(), (S * 6).strip(), "end")),
    ],
)
def test_pieces(text: str, expected: tuple[str, ...]) -> None:
    assert pieces_of(text) == expected


@given(st.text(st.sampled_from("ab .!?\n。é"), max_size=3000))
def test_pieces_are_short_and_lose_nothing(text: str) -> None:
    pieces = pieces_of(text)
    assert all(0 < len(piece) <= MAX_PIECE for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_a_million_characters_are_read_and_more_is_not() -> None:
    assert len(pieces_of("word " * 200_000)) == MAX_PIECES


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("How do I log in?", ("How do I log in?",)),
        ("Fix the login. Then deploy it!", ("Fix the login.", "Then deploy it!")),
        ("fix it, e.g. the login", ("fix it, e.g. the login",)),
        ("Deploy it. Deploy it.", ("Deploy it.",)),
        ("", ()),
        ("  \n ", ()),
    ],
)
def test_sentences(message: str, expected: tuple[str, ...]) -> None:
    assert query_sentences(message) == expected


def test_a_pasted_log_is_read_at_its_ends() -> None:
    message = " ".join(f"Line number{number} failed." for number in range(500))
    found = query_sentences(message)
    assert len(found) == MAX_SENTENCES
    assert (found[0], found[-1]) == ("Line number0 failed.", "Line number499 failed.")


@given(st.text(max_size=4000))
def test_sentences_are_short(message: str) -> None:
    assert all(0 < len(sentence) <= 500 for sentence in query_sentences(message))
