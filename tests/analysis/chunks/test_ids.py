"""Ids of chunks: the same after an edit elsewhere, different for everything that differs."""

import re

import pytest

from asterism.analysis.chunks.chunker import chunk_id
from tests.analysis.chunks.cutting import chunks_of

BEFORE = """
    import os

    def first():
        return os

    class Second:
        def method(self):
            return 2

        def method(self):
            return 3

    run()
    run()
    """

EDITS = {
    "lines above": "# a comment\n\nimport sys\n",
    "lines between": BEFORE.replace("    class", "    other = 1\n\n    class"),
    "another body": BEFORE.replace("return os", "first = os\n        return first"),
    "blank lines": BEFORE.replace("\n\n", "\n\n\n\n"),
    "a line less": BEFORE.replace("    import os\n", ""),
}


def ids(source: str, path: str = "a.py") -> dict[tuple[str, str, int], str]:
    """Each id by kind, name and ordinal."""
    found: dict[tuple[str, str, int], str] = {}
    for chunk in chunks_of(path, source):
        number = sum(key[:2] == (chunk.node_kind, chunk.qualified_name) for key in found)
        found[chunk.node_kind, chunk.qualified_name, number] = chunk.id
    return found


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_elsewhere_changes_no_id(edit: str) -> None:
    after = EDITS[edit] if "Second" in EDITS[edit] else EDITS[edit] + _flat(BEFORE)
    old, new = ids(BEFORE), ids(after)
    common = old.keys() & new.keys()
    assert ("class", "Second", 0) in common
    assert {key: new[key] for key in common} == {key: old[key] for key in common}


def _flat(source: str) -> str:
    return "\n".join(line[4:] for line in source.split("\n"))


def test_an_edit_inside_keeps_the_id_of_what_is_edited() -> None:
    assert ids(BEFORE)["function", "first", 0] == ids(EDITS["another body"])["function", "first", 0]


def test_equals_are_counted() -> None:
    found = ids(BEFORE)
    twice = {found["method", "Second.method", 0], found["method", "Second.method", 1]}
    assert len(twice) == 2
    assert len(set(found.values())) == len(found) == 7


@pytest.mark.parametrize(
    "other",
    [
        ("b.py", "function", ("A", "f"), 0),
        ("a.py", "method", ("A", "f"), 0),
        ("a.py", "function", ("Af",), 0),
        ("a.py", "function", ("A", "f"), 1),
    ],
)
def test_what_an_id_tells_apart(other: tuple[str, str, tuple[str, ...], int]) -> None:
    assert chunk_id(*other) != chunk_id("a.py", "function", ("A", "f"), 0)


def test_an_id_is_short_and_printable() -> None:
    assert re.fullmatch(r"[0-9a-f]{32}", chunk_id("a.py", "function", ("f",), 0))


def test_moving_the_file_changes_its_ids() -> None:
    assert set(ids(BEFORE).values()).isdisjoint(ids(BEFORE, "b/a.py").values())


def test_a_name_that_is_no_utf8_has_an_id() -> None:
    assert chunk_id("\udcff.py", "function", ("f",), 0) != chunk_id(
        "\udcfe.py", "function", ("f",), 0
    )
