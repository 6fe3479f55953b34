"""The symbols table of a file: who is defined, exported, imported and used where."""

import pytest

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.symbols import symbol_rows
from asterism.analysis.syntax.outlines import outline
from asterism.types.index import Chunk, Role, SymbolRow

SOURCE = """\
import { verify as check, type Key } from "jwt";
import "./side";
export { other } from "./other";

export class Box {
  open(token: string): Key {
    const local = check(token);
    return local.value + this.size() + this.size();
  }
  size() { return LIMIT; }
}
const LIMIT = 3;
export default LIMIT;
"""


def rows_of(
    text: str, options: ChunkOptions | None = None
) -> tuple[list[SymbolRow], dict[str, Chunk]]:
    source = text.encode()
    found = outline("box.ts", source)
    chunks = chunk_file(found, source, FileOrigin("repo", "box.ts", "box.ts"), options)
    return list(symbol_rows(found, chunks)), {chunk.id: chunk for chunk in chunks}


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (
            "definition",
            [
                ("Box", "Box", "class", 5, True),
                ("open", "Box.open", "method", 6, False),
                ("size", "Box.size", "method", 10, False),
                ("LIMIT", "LIMIT", "const", 12, True),
            ],
        ),
        (
            "export",
            [
                ("other", "other", "re-export", 3, True),
                ("Box", "Box", "export", 5, True),
                ("default", "LIMIT", "export", 13, True),
            ],
        ),
        (
            "import",
            [
                ("check", "jwt.verify", "import", 1, False),
                ("Key", "jwt.Key", "import", 1, False),
                ("./side", "./side", "import", 2, False),
                ("other", "./other.other", "import", 3, True),
            ],
        ),
        (
            "usage",
            [
                ("Key", "Key", "usage", 6, False),
                ("check", "check", "usage", 7, False),
                ("value", "local.value", "usage", 8, False),
                ("size", "this.size", "usage", 8, False),
                ("LIMIT", "LIMIT", "usage", 10, False),
                ("LIMIT", "LIMIT", "usage", 13, False),
            ],
        ),
    ],
)
def test_rows_by_role(role: str, expected: list[tuple[str, str, str, int, bool]]) -> None:
    """Parameters and locals are no rows; a name twice on one line is one."""
    found = [
        (row.name, row.qualified_name, row.kind, row.line, row.is_exported)
        for row in rows_of(SOURCE)[0]
        if row.role.value == role
    ]
    assert found == expected


def test_every_row_names_its_file() -> None:
    assert {row.filepath for row in rows_of(SOURCE)[0]} == {"box.ts"}


@pytest.mark.parametrize(
    ("role", "name", "expected"),
    [
        ("definition", "Box", "Box"),
        ("definition", "open", "Box.open"),
        ("usage", "check", "Box.open"),
        ("import", "check", "import:jwt"),
        ("export", "Box", "Box"),
    ],
)
def test_a_row_points_to_its_chunk(role: str, name: str, expected: str) -> None:
    rows, chunks = rows_of(SOURCE)
    (row,) = (row for row in rows if row.role.value == role and row.name == name)
    assert chunks[row.chunk_id or ""].qualified_name == expected


def test_definitions_that_share_a_line_with_their_parent() -> None:
    rows, chunks = rows_of("class A { f() { return g(); } }\n")
    found = {(row.name, chunks[row.chunk_id or ""].qualified_name) for row in rows}
    assert found == {("A", "A"), ("f", "A.f"), ("g", "A.f")}


def test_a_row_points_to_its_part() -> None:
    text = "function f() {\n" + "  call_something_with_a_name();\n" * 30 + "}\n"
    rows, chunks = rows_of(text, ChunkOptions(max_tokens=60))
    used = [row for row in rows if row.role.value == "usage"]
    assert len({row.chunk_id for row in used}) > 1
    for row in used:
        chunk = chunks[row.chunk_id or ""]
        assert chunk.start_line <= row.line <= chunk.end_line


def test_definitions_of_each_depth_on_one_line_beside_parts() -> None:
    """Where a line belongs to several chunks, a definition points to the one of its own depth."""
    body = "  call_something_with_a_name();\n" * 30
    text = f"class A {{ f() {{ g(); }}\n h() {{\n{body} }} }}\n"
    rows, chunks = rows_of(text, ChunkOptions(max_tokens=60))
    found = {
        row.name: (chunks[row.chunk_id or ""].name, chunks[row.chunk_id or ""].part)
        for row in rows
        if row.role.value == "definition"
    }
    assert found == {"A": ("A", 0), "f": ("f", 0), "h": ("h", 0)}


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (
            "definition",
            [
                ("export class Box", None),
                ("open(token: string): Key", None),
                ("size()", None),
                ("const LIMIT = 3", None),
            ],
        ),
        ("export", [(None, "./other"), (None, None), (None, None)]),
        ("import", [(None, "jwt"), (None, "jwt"), (None, "./side"), (None, "./other")]),
        ("usage", [(None, None)] * 6),
    ],
)
def test_signatures_and_modules(role: str, expected: list[tuple[str | None, str | None]]) -> None:
    rows = [row for row in rows_of(SOURCE)[0] if row.role.value == role]
    assert [(row.signature, row.module) for row in rows] == expected


def test_ids_are_readable() -> None:
    text = 'import { a } from "m#1";\nexport { b as c } from "n";\nf();\nf();\n'
    assert [row.id for row in rows_of(text)[0]] == [
        "box.ts#export#b#n#0",
        "box.ts#import#m%231.a#m%231#0",
        "box.ts#import#n.b#n#0",
        "box.ts#usage#f#0",
        "box.ts#usage#f#1",
    ]


def test_equals_are_counted_by_role_and_module() -> None:
    text = "function f(a: A): A;\nfunction f(a: B): B;\nexport { x } from 'm';\nexport { x } from 'n';\n"
    found = [
        (row.role.value, row.qualified_name, row.ordinal)
        for row in rows_of(text)[0]
        if row.role.value in ("definition", "export")
    ]
    assert found == [
        ("definition", "f", 0),
        ("definition", "f", 1),
        ("export", "x", 0),
        ("export", "x", 0),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"qualified_name": "a#b", "module": None}, {"qualified_name": "a", "module": "b"}),
        ({"qualified_name": "a", "module": ""}, {"qualified_name": "a", "module": None}),
        ({"qualified_name": "a#1", "ordinal": 0}, {"qualified_name": "a", "ordinal": 1}),
        ({"qualified_name": "%23"}, {"qualified_name": "#"}),
    ],
)
def test_different_rows_have_different_ids(
    one: dict[str, object], other: dict[str, object]
) -> None:
    row = SymbolRow("a", "a", "export", Role.EXPORT, "a.ts", 1, True, None, 0)
    assert row._replace(**one).id != row._replace(**other).id  # type: ignore[arg-type]


def test_ids_survive_lines_above() -> None:
    old = [row.id for row in rows_of(SOURCE)[0]]
    new = [row.id for row in rows_of(f"\n// a comment\n\n{SOURCE}")[0]]
    assert new == old
    assert len(set(old)) == len(old)
