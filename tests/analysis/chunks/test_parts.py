"""A body over the limit is cut at statements into parts of the same symbol."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.analysis.chunks.chunker import cut_lines
from asterism.analysis.chunks.units import ChunkOptions
from tests.analysis.chunks.cutting import chunks_of, code_of
from tests.analysis.chunks.invariants import STEADY, complaints
from tests.analysis.syntax.material import SOURCES

SMALL = ChunkOptions(max_tokens=60)


@pytest.mark.parametrize(
    ("levels", "closed", "limit", "expected"),
    [
        ({}, set(), 10, [(1, 8)]),
        ({}, set(), 4, [(1, 4), (5, 8)]),
        # The outermost statement of the second half wins over a later inner one.
        ({3: 1, 4: 2, 5: 2}, set(), 4, [(1, 2), (3, 4), (5, 8)]),
        # A cut in the first half would waste the second half.
        ({2: 1}, set(), 4, [(1, 4), (5, 8)]),
        # Lines 3 to 6 are one collapsed child: no cut before any of them but the first.
        ({}, {4, 5, 6}, 4, [(1, 6), (7, 8)]),
        # One line is the least, whatever the limit.
        ({}, set(), 0, [(line, line) for line in range(1, 9)]),
    ],
)
def test_where_lines_are_cut(
    levels: dict[int, int], closed: set[int], limit: int, expected: list[tuple[int, int]]
) -> None:
    found = cut_lines(
        1, 8, levels, closed.__contains__, lambda first, last: last - first + 1, limit
    )
    assert found == expected


LONG = """
    def work():
        first = [
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        ]
        second = [
            "cccccccccccccccccccccccccccccccccccccccccccc",
            "dddddddddddddddddddddddddddddddddddddddddddd",
        ]
        return first
    """


def test_parts_begin_with_statements() -> None:
    found = chunks_of("a.py", LONG, SMALL)
    heads = [chunk.full_source.split("\n", 1)[0].strip() for chunk in found]
    assert heads == ["def work():", "second = ["]
    assert [chunk.part for chunk in found] == [0, 1]


def test_parts_are_one_symbol() -> None:
    first, second = chunks_of("a.py", LONG, SMALL)
    assert second.id == f"{first.id}-1"
    shared = {(chunk.qualified_name, chunk.signature, chunk.depth) for chunk in (first, second)}
    assert shared == {("work", "def work()", 0)}
    assert (first.start_line, second.end_line) == (1, 10)
    assert second.start_line == first.end_line + 1


def test_a_whole_symbol_has_the_id_of_its_first_part() -> None:
    assert chunks_of("a.py", LONG)[0].id == chunks_of("a.py", LONG, SMALL)[0].id


def test_a_childs_body_is_never_cut() -> None:
    methods = "".join(
        f"    def method_{number}(self, argument):\n        return {number}\n\n"
        for number in range(12)
    )
    found = chunks_of("a.py", f"class Long:\n{methods}", SMALL)
    parts = [chunk for chunk in found if chunk.name == "Long"]
    assert len(parts) > 1
    heads = {chunk.full_source.split("\n", 1)[0].lstrip()[:4] for chunk in parts[1:]}
    assert heads <= {"def ", ""}
    assert not any("return" in code_of(part) for part in parts)


def test_a_parent_knows_every_part_of_its_children() -> None:
    found = chunks_of(
        "a.py", "class A:\n" + "".join(f"    {line}\n" for line in LONG.split("\n")), SMALL
    )
    parent, *parts = found
    assert len(parts) > 1
    assert parent.child_chunk_ids == tuple(part.id for part in parts)
    assert {part.parent_chunk_id for part in parts} == {parent.id}


def test_a_line_over_the_limit_is_clipped_and_says_so() -> None:
    line = "value = '" + "x" * 1000 + "'"
    (found,) = chunks_of("a.py", f"{line}\n", SMALL)
    assert found.full_source == line
    assert len(found.embedding_text) == SMALL.max_chars
    head, mark = found.embedding_text.rsplit("\n", 1)
    assert mark == f"[clipped: {_clipped(line)} characters of a line over the limit]"
    assert head.endswith("xxx")


def _clipped(line: str) -> int:
    whole = chunks_of("a.py", f"{line}\n")[0].embedding_text
    return len(whole) - SMALL.max_chars


def test_a_long_preamble_gives_way_to_code() -> None:
    """Documentation of a thousand words must not leave the parts without code."""
    source = f'def f():\n    """{"word " * 60}."""\n' + "    call()\n" * 60
    found = chunks_of("a.py", source, SMALL)
    for chunk in found:
        assert chunk.embedding_text.startswith("[Python] a.py > f\n")
        assert code_of(chunk)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
@given(tokens=st.integers(60, 400))
@settings(STEADY, max_examples=4)
def test_the_rules_hold_at_any_limit(path: object, tokens: int) -> None:
    assert isinstance(path, type(SOURCES[0]))
    assert complaints(path.name, path.read_bytes(), ChunkOptions(max_tokens=tokens)) == []
