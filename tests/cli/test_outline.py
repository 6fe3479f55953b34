"""`asterism outline`: a tree for people, JSON for programs."""

import json
from pathlib import Path
from typing import Any

from asterism.analysis.syntax.outlines import DEEPEST_ITEM, TOO_HARD
from tests.analysis.syntax.material import ENDLESS
from tests.cli.conftest import Run

# What a tree draws in front of a line.
GUIDES = "│├└─ "


def outlined(run: Run, path: str) -> dict[str, Any]:
    done = run("outline", path, "--json")
    assert (done.code, done.err) == (0, "")
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_keys_of_an_outline(run: Run, repository: Path) -> None:
    found = outlined(run, "src/tokens.ts")
    expected = "file_path language symbols root_items imports exports references problems"
    assert list(found) == expected.split()
    assert (found["file_path"], found["language"]) == ("src/tokens.ts", "typescript")


def test_a_symbol_with_its_children(run: Run, repository: Path) -> None:
    (service,) = outlined(run, "src/tokens.ts")["symbols"]
    validate, key = service["children"]
    assert {name: value for name, value in service.items() if name != "children"} == {
        "name": "TokenService",
        "kind": "class",
        "qualified_name": "TokenService",
        "depth": 0,
        "parent": None,
        "start_line": 5,
        "end_line": 12,
        "signature": "export class TokenService",
        "modifiers": ["exported"],
        "doc": "Checks tokens.",
        "decorators": [],
        "is_exported": True,
        "tags": [],
    }
    assert validate == {
        "name": "validate",
        "kind": "method",
        "qualified_name": "TokenService.validate",
        "depth": 1,
        "parent": "TokenService",
        "start_line": 7,
        "end_line": 10,
        "signature": "async validate(token: string): Promise<Key>",
        "modifiers": ["async"],
        "doc": "Validates one.",
        "decorators": ["traced"],
        "is_exported": False,
        "tags": [],
        "children": [],
    }
    assert (key["name"], key["modifiers"]) == ("key", ["private"])


def test_everything_else_in_an_outline(run: Run, repository: Path) -> None:
    found = outlined(run, "src/tokens.ts")
    assert found["root_items"][2] == {
        "kind": "expression",
        "name": "start();",
        "start_line": 13,
        "end_line": 13,
    }
    first = found["imports"][0]
    assert first["module"] == "jsonwebtoken"
    assert first["names"] == [{"name": "default", "alias": "jwt"}]
    assert [export["name"] for export in found["exports"]] == ["TokenService"]
    assert {
        "name": "verify",
        "line": 9,
        "column": 15,
        "receiver": "jwt",
        "enclosing": "TokenService.validate",
        "local": False,
    } in found["references"]
    assert found["problems"] == []


def test_a_tree_for_people(run: Run, repository: Path) -> None:
    done = run("outline", "src/tokens.ts")
    assert done.code == 0
    title, *lines = done.out.rstrip("\n").split("\n")
    assert title.startswith("src/tokens.ts  typescript  3 symbols, 2 imports")
    assert [line.lstrip(GUIDES).split("  ")[0] for line in lines] == [
        "import import:jsonwebtoken",
        "import import:./keys",
        "class TokenService",
        "method validate",
        "method key",
        "expression start();",
    ]


def test_a_damaged_file_has_problems_and_is_no_error(run: Run, repository: Path) -> None:
    done = run("outline", "broken.py")
    assert (done.code, done.err) == (0, "")
    assert "broken.py:1: " in done.out
    assert outlined(run, "broken.py")["problems"] != []


def test_text_of_no_known_language(run: Run, repository: Path) -> None:
    found = outlined(run, "notes.xyz")
    assert found["language"] == "text"
    assert [item["name"] for item in found["root_items"]] == ["some words"]


def test_an_empty_file(run: Run, repository: Path) -> None:
    (repository / "empty.py").write_bytes(b"")
    found = outlined(run, "empty.py")
    assert (found["symbols"], found["root_items"], found["problems"]) == ([], [], [])
    assert run("outline", "empty.py").code == 0


def test_a_file_outside_the_current_directory(run: Run, repository: Path, tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text("x = 1\n")
    assert outlined(run, str(tmp_path / "alone.py"))["file_path"] == "alone.py"


def test_nesting_deeper_than_the_stack(run: Run, repository: Path) -> None:
    depth = 600
    text = "".join(f"function f{number}() {{\n" for number in range(depth)) + "}\n" * depth
    (repository / "deep.js").write_text(text)
    done = run("outline", "deep.js", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.out.count('"kind": "function"') == DEEPEST_ITEM + 1
    assert f"nest deeper than {DEEPEST_ITEM} levels" in done.out
    assert run("outline", "deep.js").out.count("function f") >= DEEPEST_ITEM


def test_a_file_whose_parse_does_not_end(run: Run, repository: Path) -> None:
    (repository / "endless.go").write_bytes(ENDLESS)
    found = outlined(run, "endless.go")
    assert found["symbols"] == []
    assert [problem["message"] for problem in found["problems"]] == [TOO_HARD.message]
