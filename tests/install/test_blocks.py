"""The marked block comes and goes, and the rest of the file stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.install.pieces import PieceState, TextBlock, added, state_of, taken_back
from asterism.install.toml_edits import BEGIN, END, with_block, without_block
from asterism.types.errors import InputError

BLOCK = f"{BEGIN}\nHello\nthere\n{END}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"{BLOCK}\n"),
        ("# Mine\n", f"# Mine\n\n{BLOCK}\n"),
        ("# Mine", f"# Mine\n\n{BLOCK}"),
        ("# Mine\n\n", f"# Mine\n\n\n{BLOCK}\n"),
        ("a\r\nb\r\n", f"a\nb\n\n{BLOCK}\n".replace("\n", "\r\n")),
        (f"a\n\n{BEGIN}\nold\n{END}\n\nb\n", f"a\n\n{BLOCK}\n\nb\n"),
        (f"a\n\n<!-- asterism:begin -->\n{END}", f"a\n\n{BLOCK}"),
    ],
)
def test_in_and_out(before: str, after: str) -> None:
    edited = with_block(before, "Hello\nthere\n")
    assert edited == after
    assert with_block(edited, "Hello\nthere\n") == edited
    if "asterism" not in before:
        assert without_block(edited) == before


def test_out_of_the_middle() -> None:
    assert without_block(f"a\n\n{BLOCK}\n\nb\n") == "a\n\nb\n"
    assert without_block(f"{BLOCK}\nb\n") == "b\n"


@pytest.mark.parametrize("text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BLOCK}\n{BLOCK}"])
def test_half_a_block_is_not_touched(text: str) -> None:
    with pytest.raises(InputError, match="do not belong together"):
        with_block(text, "x")


@given(st.binary(max_size=40).filter(lambda content: b"\0" not in content))
def test_any_bytes_come_back(content: bytes) -> None:
    piece = TextBlock("Hello\n")
    now = added(content, piece)
    assert state_of(now, piece) is PieceState.current
    assert taken_back(now, piece, [content]) == content
    left = taken_back(now + b"\nmore\n", piece, [content])
    assert left is not None
    assert left.startswith(content.rstrip(b"\r\n"))
    assert left.endswith(b"more\n")
    assert b"Hello" not in left[len(content.rstrip(b"\r\n")) :]
