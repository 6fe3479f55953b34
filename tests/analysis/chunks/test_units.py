"""Which items share a chunk, and what it is then called."""

import pytest

from tests.analysis.chunks.cutting import chunks_of

Row = tuple[str, str, int, int]


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.ts", "const a = 1, b = 2;\n", [("const", "a, b", 1, 1)]),
        ("a.py", "x = 1; y = 2\nz = 3\n", [("variable", "x, y", 1, 1), ("variable", "z", 2, 2)]),
        (
            "a.ts",
            "const a = 1,\n  b = 2;\n",
            [("const", "a", 1, 1), ("const", "b", 2, 2)],
        ),
        (
            "a.ts",
            "function f() {\n} function g() {\n}\n",
            [("function", "f, g", 1, 3)],
        ),
        # The statement takes part, but a symbol gives the name and the kind.
        ("a.ts", "run(); function f() {}\n", [("function", "f", 1, 1)]),
        ("a.py", "import os, sys\n", [("import", "import:os, sys", 1, 1)]),
    ],
)
def test_siblings_on_one_line(path: str, source: str, expected: list[Row]) -> None:
    found = [
        (chunk.node_kind, chunk.qualified_name, chunk.start_line, chunk.end_line)
        for chunk in chunks_of(path, source)
    ]
    assert found == expected


def test_members_of_classes_on_one_line_share_a_chunk_too() -> None:
    found = chunks_of("a.ts", "class A { f() {} } class B { g() {} }\n")
    assert [chunk.qualified_name for chunk in found] == ["A, B", "A.f, g"]
    assert found[1].parent_chunk_id == found[0].id
    assert found[0].child_chunk_ids == (found[1].id,)


def test_many_names_are_cut_short() -> None:
    source = "; ".join(f"x{number} = {number}" for number in range(12)) + "\n"
    (found,) = chunks_of("a.py", source)
    assert found.name == "x0, x1, x2, x3, x4, x5, x6, x7, …"


def test_one_exported_name_makes_the_chunk_exported() -> None:
    (found,) = chunks_of("a.py", "_x = 1; y = 2\n")
    assert found.is_exported


def test_the_same_name_twice_is_said_once() -> None:
    (found,) = chunks_of("a.py", "x = 1; x = 2\n")
    assert found.name == "x"
