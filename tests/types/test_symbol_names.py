"""How many ways are there to understand a symbol's name in a query?"""

import pytest

from asterism.types.index import Role, SymbolName, SymbolQuery, symbol_query


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", {SymbolName("x")}),
        ("  x ", {SymbolName("x")}),
        ("A.x", {SymbolName("A.x"), SymbolName("x", "A")}),
        ("A::x", {SymbolName("A::x"), SymbolName("x", "A")}),
        ("A#x", {SymbolName("A#x"), SymbolName("x", "A")}),
        ("#x", {SymbolName("#x")}),
        ("N::A::x", {SymbolName("N::A::x"), SymbolName("x", "N.A")}),
        ("A > x", {SymbolName("A > x"), SymbolName("x", "A"), SymbolName("x", "", "A")}),
        (
            "src/a.ts > A > x",
            {SymbolName("src/a.ts > A > x"), SymbolName("x", "A", "src/a.ts")},
        ),
        (
            "./src/a.ts > x",
            {SymbolName("./src/a.ts > x"), SymbolName("x", "", "src/a.ts")},
        ),
        (
            "a.md > v1.2",
            {
                SymbolName("a.md > v1.2"),
                SymbolName("v1.2", "a.md"),
                SymbolName("2", "a.md.v1"),
                SymbolName("v1.2", "", "a.md"),
                SymbolName("2", "v1", "a.md"),
            },
        ),
        (">>=", {SymbolName(">>=")}),
        (".", {SymbolName(".")}),
        ("", {SymbolName("")}),
        ("..", {SymbolName("..")}),
    ],
)
def test_readings(text: str, expected: set[SymbolName]) -> None:
    assert set(symbol_query(text).readings) == expected


def test_other_conditions_are_kept() -> None:
    narrowed = SymbolQuery("", roles=(Role.USAGE,), limit=3, offset=1)
    query = symbol_query("A.x", narrowed)
    assert query.name == "A.x"
    assert (query.roles, query.limit, query.offset) == ((Role.USAGE,), 3, 1)
