"""Do UTF-16 units and bytes of decoded text agree for any text?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.analysis.source.text import decode
from asterism.structure.positions import SourceUnits

TEXTS = st.text(alphabet=st.sampled_from("ab\n\ré漢😀\u2028\ufeff \t\"'"))


@given(TEXTS)
def test_every_character_is_found_both_ways(text: str) -> None:
    source = SourceUnits(text)
    unit = 0
    for place, char in enumerate(text):
        is_half = char == "\n" and text[place - 1 : place] == "\r"
        if not is_half and not (place == 0 and char == "\ufeff"):
            offset = source.to_bytes(unit)
            assert source.to_units(offset) == unit
            expected = "\n" if char == "\r" else char
            assert source.decoded[offset:].decode().startswith(expected)
            assert source.text(unit, unit + (2 if ord(char) > 0xFFFF else 1)) == char
        unit += 2 if ord(char) > 0xFFFF else 1


@given(TEXTS)
def test_the_decoded_text_is_what_the_index_reads(text: str) -> None:
    data = text.encode()
    # Where a first mark is, the compiler keeps it and the index does not.
    assert SourceUnits(text).decoded == decode(data)


@pytest.mark.parametrize(
    ("text", "unit", "line", "column"),
    [("a\nb", 2, 2, 0), ("😀x", 2, 1, 2), ("a\r\nbc", 4, 2, 1), ("a\rb", 2, 2, 0)],
)
def test_lines_and_columns(text: str, unit: int, line: int, column: int) -> None:
    source = SourceUnits(text)
    assert (source.line_of(unit), source.column_of(unit)) == (line, column)
    assert source.unit_at(line - 1, column) == unit


def test_a_place_after_the_end_is_the_end() -> None:
    assert SourceUnits("ab\n").unit_at(7, 0) == 3
