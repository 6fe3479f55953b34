"""Does every match go to the innermost chunk, once?"""

import pytest

from asterism.search.exact.search import Segment, claim, segments_of
from asterism.search.exact.worker import Span
from asterism.store.chunk_table import ChunkKey, Source

LINES = [f"line {number}" for number in range(1, 31)]


def source(name: str, first: int, last: int, depth: int = 0) -> Source:
    text = "\n".join(LINES[first - 1 : last])
    return Source(ChunkKey("repo", name), "a.py", first, last, depth, text)


CLASS = source("class", 5, 20)
FIRST = source("first", 7, 10, 1)
INNER = source("inner", 8, 9, 2)
SECOND = source("second", 12, 18, 1)
AFTER = source("after", 21, 22)
FILE = [CLASS, FIRST, INNER, SECOND, AFTER]


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([], []),
        ([FIRST], [(7, 10)]),
        (FILE, [(5, 22)]),
        ([FIRST, SECOND], [(7, 10), (12, 18)]),
        ([FIRST, INNER], [(7, 10)]),
        ([source("a", 1, 1), source("b", 2, 3)], [(1, 3)]),
        ([source("a", 1, 4), source("b", 3, 6)], [(1, 6)]),
    ],
)
def test_segments(sources: list[Source], expected: list[Span]) -> None:
    segments = [Segment(first, "\n".join(LINES[first - 1 : last])) for first, last in expected]
    assert segments_of(sources) == segments


def one(*lines: int) -> list[list[Span]]:
    return [[(line, line) for line in lines]]


@pytest.mark.parametrize(
    ("matches", "expected"),
    [
        (one(8), {"inner": [8]}),
        (one(7), {"first": [7]}),
        (one(5), {"class": [5]}),
        (one(22, 8, 5, 10, 13), {"class": [5], "inner": [8], "first": [10], "second": [13], "after": [22]}),
        (one(8, 9), {"inner": [8, 9]}),
        # A match of several lines belongs to the chunk that holds all of it.
        ([[(8, 9)]], {"inner": [8]}),
        ([[(8, 10)]], {"first": [8]}),
        ([[(9, 12)]], {"class": [9]}),
        # One that no chunk holds goes by its first line.
        ([[(18, 22)]], {"second": [18]}),
        # All needles must be in one chunk, the smallest that has them.
        ([[(8, 8)], [(9, 9)]], {"inner": [8, 9]}),
        ([[(8, 8)], [(8, 8)]], {"inner": [8]}),
        ([[(8, 8)], [(10, 10)]], {"first": [8, 10]}),
        ([[(8, 8)], [(13, 13)]], {"class": [8, 13]}),
        ([[(8, 8)], [(22, 22)]], {}),
        # What is left over counts only where everything occurs once more.
        ([[(8, 8), (13, 13)], [(9, 9)]], {"inner": [8, 9]}),
        ([[(8, 8), (13, 13)], [(9, 9), (5, 5)]], {"inner": [8, 9], "class": [5, 13]}),
    ],
)  # fmt: skip
def test_claims(matches: list[list[Span]], expected: dict[str, list[int]]) -> None:
    for sources in (FILE, FILE[::-1]):
        found = claim(sources, matches)
        assert {match.key.id: list(match.lines) for match in found} == expected
        assert found == sorted(found, key=lambda match: match.lines)


def test_of_chunks_with_the_same_lines_the_deepest_is_innermost() -> None:
    outer, inner = source("a", 3, 3, 1), source("z", 3, 3, 2)
    for sources in ([outer, inner], [inner, outer]):
        assert [match.key.id for match in claim(sources, one(3))] == ["z"]
    outer, inner = source("z", 3, 3, 1), source("a", 3, 3, 2)
    assert [match.key.id for match in claim([outer, inner], one(3))] == ["a"]


def test_lines_of_chunks_that_are_left_out_belong_to_the_next_one() -> None:
    found = claim([CLASS, SECOND], one(8, 13))
    assert [(match.key.id, match.lines) for match in found] == [("class", (8,)), ("second", (13,))]
