"""`asterism similar`: which code is meant, what is similar, and wrong places."""

import json
import os
from pathlib import Path

import pytest

from asterism.cli.commands.search import Typed, place_typed
from tests.cli.conftest import Run

SHAPES = """\
class Circle:
    def area(self, radius):
        total = 3 * radius * radius
        return round(total, 2)

    def edge(self, radius):
        total = 6 * radius
        return round(total, 2)
"""
COPY = """\
def circle_area(radius):
    total = 3 * radius * radius
    return round(total, 2)


def greet(name):
    print("Good morning", name)
"""


@pytest.fixture
def shapes(indexed: Path) -> Path:
    (indexed / "shapes.py").write_text(SHAPES)
    (indexed / "copy.py").write_text(COPY)
    return indexed


def rows(run: Run, *arguments: str) -> list[tuple[str, str]]:
    done = run("similar", *arguments, "--json")
    assert done.code == 0, done.err
    return [(row["file_path"], row["qualified_name"]) for row in json.loads(done.out)["results"]]


def test_the_copy_comes_first_and_the_family_not_at_all(run: Run, shapes: Path) -> None:
    found = rows(run, "shapes.py:3")
    assert found[0] == ("copy.py", "circle_area")
    assert ("shapes.py", "Circle.edge") in found
    assert not {("shapes.py", "Circle.area"), ("shapes.py", "Circle")} & {*found}


def test_a_class_is_not_like_its_methods(run: Run, shapes: Path) -> None:
    found = rows(run, "shapes.py:1")
    assert found
    assert "shapes.py" not in {path for path, _ in found}


def test_a_whole_file(run: Run, shapes: Path) -> None:
    found = rows(run, "shapes.py")
    assert found[0] == ("copy.py", "circle_area")
    assert "shapes.py" not in {path for path, _ in found}


def test_for_people(run: Run, shapes: Path) -> None:
    out = run("similar", "shapes.py:3", "--limit", "1").out
    assert out.startswith("Like method Circle.area  shapes.py:2–4\n\n1. copy.py:1–3  0.")
    assert "\n   function circle_area  by meaning\n   1 │ def circle_area(radius):\n" in out


def test_narrowed(run: Run, shapes: Path) -> None:
    found = rows(run, "shapes.py:3", "shapes.py")
    assert found == [("shapes.py", "Circle.edge")]
    assert rows(run, "shapes.py:3", "--filter", "path=src") == rows(run, "shapes.py:3", "src")


def test_a_blank_line_means_what_follows(run: Run, shapes: Path) -> None:
    out = run("similar", "copy.py:5").out
    assert out.startswith("Like function greet  copy.py:6–7\n")


def test_a_path_as_results_name_it(run: Run, shapes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shapes / "src")
    assert run("similar", "copy.py:1").code == 0
    assert run("similar", "../copy.py:1").code == 0


def test_a_snippet_on_standard_input(
    run: Run, shapes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snippet = tmp_path / "snippet"
    snippet.write_text(COPY.partition("\n\n")[0])
    with snippet.open() as typed, monkeypatch.context() as patch:
        patch.setattr("sys.stdin", typed)
        done = run("search", "-", "--mode", "similar", "--json")
    assert json.loads(done.out)["results"][0]["qualified_name"] == "circle_area"


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("a.py", Typed("a.py")),
        ("a.py:12", Typed("a.py", 12)),
        ("a.py:12:", Typed("a.py", 12)),
        ("a.py:12:5", Typed("a.py", 12)),
        ("a.py:12-20", Typed("a.py", 12, 20)),
        ("a.py:12–20", Typed("a.py", 12, 20)),
        ("a.py:-3", Typed("a.py", -3)),
        ("C:\\a.py:3", Typed("C:\\a.py", 3)),
        ("a.py:x", Typed("a.py:x")),
    ],
)
def test_a_place_is_taken_apart(typed: str, place: Typed) -> None:
    assert place_typed(typed) == place


def test_a_file_that_is_called_like_a_place(run: Run, shapes: Path) -> None:
    (shapes / "odd.py:12").write_text("def odd():\n    return 1\n")
    assert place_typed("odd.py:12") == Typed("odd.py:12")


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("", "FILE:LINE"),
        ("nowhere.py:3", "does not exist"),
        ("src", "is a directory"),
        ("src:3", "is a directory"),
        ("shapes.py:0", "counted from 1"),
        ("shapes.py:-1", "counted from 1"),
        ("shapes.py:9999", "ends on line 8"),
        ("shapes.py:4-2", "before line 4"),
        ("shapes.py:99999999999999999999", "ends on line 8"),
        ("image.xyz:1", "binary"),
        (".env:1", "left out: secret"),
        ("/:1", "is in no index yet"),
        ("a\0b.py:1", "NUL"),
    ],
)
def test_no_such_place(run: Run, shapes: Path, place: str, says: str) -> None:
    done = run("similar", place)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("asterism: ")
    assert done.err.count("\n") == 1
    assert says in done.err


def test_a_file_outside_of_any_repository(run: Run, shapes: Path, tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text("x = 1\n")
    done = run("similar", os.fspath(tmp_path / "alone.py:1"))
    assert (done.code, done.out) == (2, "")
    assert "asterism index" in done.err


def test_another_repository_is_not_looked_at(run: Run, shapes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("x = 1\n")
    assert run("index", str(other)).code == 0
    done = run("similar", "shapes.py:3", str(other))
    assert (done.code, done.out) == (2, "")
    assert "within one repository" in done.err


def test_an_empty_file(run: Run, shapes: Path) -> None:
    (shapes / "empty.py").write_text("")
    done = run("similar", "empty.py")
    assert (done.code, done.out) == (2, "")
    assert "no code of empty.py" in done.err
