"""Bytes and UTF-16 columns lead to each other in any text."""

from hypothesis import given
from hypothesis import strategies as st

from asterism.analysis.resolve.scopes import FileScope
from asterism.structure.servers.names import offset_at, position_of
from asterism.types.outline import Outline


def scope(text: str) -> FileScope:
    return FileScope(Outline("a.go", "go"), text.encode())


@given(st.text(st.sampled_from("aß€😀\n ")), st.data())
def test_there_and_back(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    before = text[:at]
    file, offset = scope(text), len(before.encode())
    line, column = position_of(file, offset)
    assert line == before.count("\n")
    assert column == len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
    assert offset_at(file, line, column) == offset


def test_places_beyond_the_end() -> None:
    file = scope("ab\nß")
    assert [offset_at(file, 0, 99), offset_at(file, 1, 99), offset_at(file, 7, 0)] == [3, 5, 5]
