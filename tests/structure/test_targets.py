"""Is the symbol that is meant found, whatever moved, and the one around an offset?"""

import pytest

from asterism.analysis.syntax.outlines import outline
from asterism.structure.positions import Enclosing, SymbolTarget, find_item

SOURCE = b"""class A {
  go() { return 1; }
  go(x) { return 2; }
}
function b() { function c() {} }
class A { go() {} }
"""
FOUND = outline("a.ts", SOURCE)


@pytest.mark.parametrize(
    ("name", "line", "offset", "starts"),
    [
        ("A", 1, None, 1),
        ("A", 6, None, 6),
        ("A.go", 2, None, 2),
        ("A.go", 3, None, 3),
        ("A.go", 6, None, 6),
        ("A.go", 99, None, 6),
        ("A.go", 6, SOURCE.index(b"go(x)"), 3),
        ("b.c", 1, None, 5),
    ],
)
def test_the_nearest_of_a_name_is_meant(
    name: str, line: int, offset: int | None, starts: int
) -> None:
    index = find_item(FOUND, SymbolTarget("a.ts", name, line, offset))
    assert index is not None
    assert FOUND.items[index].start_line == starts


def test_a_name_that_is_gone_is_not_found() -> None:
    assert find_item(FOUND, SymbolTarget("a.ts", "gone", 1)) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (b"return 1", "A.go"),
        (b"class A", "A"),
        (b"c()", "b.c"),
        (b"function b", "b"),
        (b"\nfun", None),
    ],
)
def test_the_innermost_symbol_around(text: bytes, name: str | None) -> None:
    index = Enclosing(FOUND.items).at(SOURCE.index(text))
    assert (FOUND.items[index].qualified_name if index is not None else None) == name
