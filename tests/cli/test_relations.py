"""`asterism callers`, `callees` and `refs`: trees for people, JSON for programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from asterism.structure.shapes import NONE_BY_NAME
from tests.cli.conftest import Run

CALLS = """\
package shop

type Till struct{}

func (t *Till) Close() {
\tlast()
}

func first() {
\tmiddle()
\tmiddle()
}

func middle() {
\tlast()
\tfirst()
}

func last() {}

func idle() {}
"""
OTHER = "package shop\n\nfunc Open() {\n\tfirst()\n}\n"


@pytest.fixture(autouse=True)
def shop(indexed: Path, run: Run) -> Path:
    """The small repository with some Go, which is connected by name wherever this runs."""
    (indexed / "shop.go").write_text(CALLS)
    (indexed / "other.go").write_text(OTHER)
    assert run("index").code == 0
    return indexed


def printed(run: Run, *arguments: str) -> list[str]:
    done = run(*arguments)
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()


def test_callers(run: Run) -> None:
    assert printed(run, "callers", "first") == [
        "function first  shop.go:9",
        "├── function middle  shop.go:14  calls it in line 16  by name, 0.95  …",
        "└── function Open  other.go:3  calls it in line 4  by name, 0.85  …",
        "… not followed further; --depth 2 does",
    ]


def test_callers_of_callers(run: Run) -> None:
    assert printed(run, "callers", "first", "--depth", "3") == [
        "function first  shop.go:9",
        "├── function middle  shop.go:14  calls it in line 16  by name, 0.95",
        "│   └── function first  shop.go:9  calls it in lines 10, 11  by name, 0.95  ↺",
        "└── function Open  other.go:3  calls it in line 4  by name, 0.85  ?",
        "↺ stands above already  ? none found by name, which does not see calls through interfaces "
        "or values",
    ]


def test_no_callers_by_name(run: Run) -> None:
    assert printed(run, "callers", "idle") == [
        "function idle  shop.go:21",
        f"└── not known: {NONE_BY_NAME}",
    ]


def test_more_than_a_reader_follows(run: Run, shop: Path) -> None:
    calls = "".join(f"func f{n}() {{\n\tidle()\n}}\n\n" for n in range(25))
    (shop / "many.go").write_text(f"package shop\n\n{calls}")
    assert printed(run, "callers", "idle")[-2:] == [
        "└── … and 5 more",
        "… not followed further; --depth 2 does",
    ]
    assert printed(run, "refs", "idle")[-1] == "    └── … and 15 more (--json)"


def test_callees(run: Run) -> None:
    assert printed(run, "callees", "first", "--depth", "2") == [
        "function first  shop.go:9",
        "└── function middle  shop.go:14  called in lines 10, 11  by name, 0.95",
        "    ├── function last  shop.go:19  called in line 15  by name, 0.95  …",
        "    └── function first  shop.go:9  called in line 16  by name, 0.95  ↺",
        "↺ stands above already  … not followed further; --depth 3 does",
    ]
    assert printed(run, "callees", "idle") == ["function idle  shop.go:21", "└── calls nothing"]


def test_refs(run: Run) -> None:
    assert printed(run, "refs", "first") == [
        "function first  shop.go:9  1 file",
        "├── shop.go",
        "│   └── function middle  :14  calls it in line 16  by name, 0.95",
        "└── other.go",
        "    └── function Open  :3  calls it in line 4  by name, 0.85",
    ]
    assert printed(run, "refs", "idle") == [
        "function idle  shop.go:21",
        f"└── not known: {NONE_BY_NAME}",
    ]


def test_json(run: Run) -> None:
    def asked(*arguments: str) -> Any:
        return json.loads("\n".join(printed(run, *arguments, "--json")))

    found = asked("callers", "first", "--depth", "2")
    assert {key: found[key] for key in ("name", "relation", "depth", "total_count", "notes")} == {
        "name": "first",
        "relation": "callers",
        "depth": 2,
        "total_count": 1,
        "notes": [],
    }
    (definition,) = found["definitions"]
    assert (definition["file_path"], definition["line"], definition["not_known"]) == (
        "shop.go",
        9,
        [],
    )
    middle, opened = definition["calls"]["calls"]
    assert (middle["qualified_name"], middle["known"], middle["confidence"], middle["lines"]) == (
        *("middle", "by_name", 0.95),
        [16],
    )
    assert [below["mark"] for below in middle["calls"]] == ["cycle"]
    assert opened["not_known"]
    (idle,) = asked("refs", "idle")["definitions"]
    assert (idle["references"], idle["users"]) == (None, [])
    assert idle["not_known"] == [NONE_BY_NAME]
    assert asked("refs", "first")["definitions"][0]["references"] == ["other.go"]


@pytest.mark.parametrize("command", ["callers", "callees", "refs"])
def test_a_name_that_is_not_there(run: Run, command: str) -> None:
    done = run(command, "fist")
    assert (done.code, done.err) == (1, "")
    assert done.out == "No symbol fist in shop.\nDid you mean first?\n"
    found = json.loads(run(command, "fist", "--json").out)
    assert (found["definitions"], found["did_you_mean"]) == ([], ["first"])


def test_only_what_is_defined_below_a_path(run: Run, shop: Path) -> None:
    (shop / "src" / "last.go").write_text("package src\n\nfunc last() {}\n")
    everywhere = printed(run, "callers", "last")
    assert [line for line in everywhere if line.startswith("function last")] == [
        "function last  shop.go:19",
        "function last  src/last.go:3",
    ]
    assert printed(run, "callers", "last", "src")[0] == "function last  src/last.go:3"
    assert printed(run, "callers", "last", "shop.go")[0] == "function last  shop.go:19"
    assert run("callers", "first", "src").code == 1


BAD = {
    "empty": (("callers", ""), "The name is empty"),
    "depth": (("callees", "x", "--depth", "0"), "--depth is 0; give 1 to 10"),
    "deep": (("callers", "x", "--depth", "11"), "--depth is 11; give 1 to 10"),
    "no such path": (("refs", "x", "nowhere"), "nowhere does not exist"),
    "depth of references": (("refs", "x", "--depth", "2"), "unrecognized arguments: --depth"),
    "no number": (("callers", "x", "--depth", "two"), "invalid int value"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_asked(run: Run, what: str) -> None:
    arguments, message = BAD[what]
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_path_that_is_not_indexed(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    done = run("callers", "first", str(other))
    assert (done.code, "asterism index" in done.err) == (2, True)
