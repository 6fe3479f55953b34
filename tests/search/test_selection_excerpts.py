"""An excerpt is the head, what matters, and a mark for every gap."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.search.query.parse import understand
from asterism.search.selection.excerpts import (
    READ_CHARACTERS,
    Excerpt,
    excerpts_for,
    gap_mark,
    matching_lines,
)
from asterism.types.search import Hit, Lines
from tests.analysis.chunks.invariants import STEADY
from tests.search.selection_hits import hit

HARBOUR = """\
# Boats that lie in the harbour,
# and those that are at sea.
class Harbour(Place):
    \"\"\"A place for boats.\"\"\"

    limit = 40
    fee = 3

    def berth(self, boat):
        for berth in self.berths:
            if berth.free:
                berth.take(boat)
                return berth
        raise Full(self)

    def dredge(self, depth):
        self.closed = True
        while self.depth < depth:
            self.dig(1)
        self.closed = False

    def storm_warning(self, wind):
        if wind > 8:
            self.raise_flag("red")
        elif wind > 6:
            self.raise_flag("yellow")
        else:
            self.lower_flag()"""


def harbour(*matching: int) -> Hit:
    made = hit("Harbour", file="h.py", lines=(101, 128), text=HARBOUR, signature="class Harbour")
    chunk = made.chunk._replace(docstring="A place for boats.")
    return made._replace(chunk=chunk, lines=matching)


def excerpt(given: Hit, question: str, most: int, *without: Lines) -> Excerpt | None:
    return excerpts_for(understand(question))(given, most, without)


@pytest.mark.parametrize(
    ("question", "most", "expected"),
    [
        (
            "when is a storm warning given",
            330,
            """\
[2 lines left out, 101-102]
class Harbour(Place):
    \"\"\"A place for boats.\"\"\"
[17 lines left out, 105-121]
    def storm_warning(self, wind):
        if wind > 8:
            self.raise_flag("red")
        elif wind > 6:
            self.raise_flag("yellow")
        else:
            self.lower_flag()""",
        ),
        # The lines between two that nearly meet fit as well, and so does the beginning.
        (
            "dredge to a depth",
            360,
            """\
# Boats that lie in the harbour,
# and those that are at sea.
class Harbour(Place):
    \"\"\"A place for boats.\"\"\"

    limit = 40
    fee = 3

[7 lines left out, 109-115]
    def dredge(self, depth):
        self.closed = True
        while self.depth < depth:
            self.dig(1)
        self.closed = False

[7 lines left out, 122-128]""",
        ),
        # Nothing is said: it begins where the class begins.
        (
            "quaternion",
            200,
            """\
# Boats that lie in the harbour,
# and those that are at sea.
class Harbour(Place):
    \"\"\"A place for boats.\"\"\"

    limit = 40
    fee = 3

[20 lines left out, 109-128]""",
        ),
    ],
)
def test_excerpts(question: str, most: int, expected: str) -> None:
    found = excerpt(harbour(), question, most)
    assert found is not None
    assert found.text == expected


def test_a_piece_that_is_too_long_is_opened() -> None:
    body = "\n".join(f"    value_{n} = compute({n})\n" for n in range(60))
    source = f"def setup():\n    begin()\n\n    if ready:\n{body.replace('    value', '        value')}\n    finish()"
    found = excerpt(hit("setup", text=source, lines=(1, source.count("\n") + 1)), "value_37", 300)
    assert found is not None
    lines = found.text.split("\n")
    assert lines[0] == "def setup():"
    assert "    if ready:" in lines
    assert "        value_37 = compute(37)" in lines


def test_lines_that_match_are_shown() -> None:
    found = excerpt(harbour(119), "storm warning", 330)
    assert found is not None
    assert "            self.dig(1)" in found.text.split("\n")


def test_lines_that_are_not_wanted_are_left_out() -> None:
    question = "dredge to a depth, and storm warning"
    found = excerpt(harbour(), question, 600, Lines(116, 120))
    assert found is not None
    assert "dredge" not in found.text
    assert "storm_warning" in found.text
    assert Lines(116, 120) in found.gaps


@pytest.mark.parametrize(
    ("most", "without"),
    [
        # Not even the head.
        (20, ()),
        # The head, and nothing of what stands under it.
        (60, ()),
        # Everything is shown elsewhere.
        (600, (Lines(101, 128),)),
    ],
)
def test_there_is_no_excerpt_of_nothing(most: int, without: tuple[Lines, ...]) -> None:
    assert excerpt(harbour(), "storm warning", most, *without) is None


def test_a_head_goes_on_to_its_last_parenthesis() -> None:
    source = "def f(\n    a,\n    b,\n):\n    start(a)\n\n    stop(b)\n\n    wait(a, b, 1_000, 'seconds')"
    found = excerpt(hit("f", text=source, lines=(1, 9), signature="def f(a, b)"), "stop", 75)
    assert found is not None
    assert found.text.startswith("def f(\n    a,\n    b,\n):\n    start(a)")


def test_what_is_not_read_is_a_gap() -> None:
    lines = [f"    call_number_{n}()" for n in range(2_000)]
    source = "\n".join(["def long():", *lines])
    assert len(source) > READ_CHARACTERS
    found = excerpt(hit("long", text=source, lines=(1, 2_001)), "call_number_1999", 400)
    assert found is not None
    assert found.gaps[-1].last == 2_001


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (Lines(7, 7), "[1 line left out, 7]"),
        (Lines(7, 9), "[3 lines left out, 7-9]"),
    ],
)
def test_marks(gap: Lines, expected: str) -> None:
    assert gap_mark(gap) == expected


LINES = st.lists(
    st.builds(
        lambda indent, word, more: " " * indent + word + more,
        st.integers(0, 8),
        st.sampled_from(["", "{", "}", "# note", "alpha(", ")", "beta = 1", "def gamma():", "end"]),
        st.text(alphabet="ab é", max_size=30),
    ),
    min_size=1,
    max_size=60,
)
RANGES = st.lists(st.tuples(st.integers(1, 70), st.integers(0, 9)), max_size=2)


@STEADY
@given(LINES, st.integers(0, 900), RANGES)
def test_an_excerpt_is_the_text_with_holes(
    lines: list[str], most: int, ranges: list[tuple[int, int]]
) -> None:
    without = [Lines(first, first + more) for first, more in ranges]
    given = hit("gamma", text="\n".join(lines), lines=(1, len(lines)))
    found = excerpt(given, "alpha beta gamma", most, *without)
    if found is None:
        return
    assert len(found.text) <= most
    gaps = list(found.gaps)
    filled: list[str] = []
    for line in found.text.split("\n"):
        if gaps and line == gap_mark(gaps[0]) and gaps[0].first == len(filled) + 1:
            gap = gaps.pop(0)
            filled += lines[gap.first - 1 : gap.last]
        else:
            filled.append(line)
    assert filled == lines
    assert not gaps
    left_out = {line for gap in found.gaps for line in range(gap.first, gap.last + 1)}
    barred = {line for one in without for line in range(one.first, one.last + 1)}
    assert barred & set(range(1, len(lines) + 1)) <= left_out
    assert not re.search(r"\[0 lines", found.text)


BOOKED = """\
def book(
    account,
    refund,
):
    # A refund is booked.
    check(account)
    refund.key = key_of(account)
    log("booked")
    account.append(refund)
"""


def test_matching_lines_are_those_below_the_head_that_say_most() -> None:
    """In their order, with their places; a comment says half of what code does."""
    question = understand("how is a refund booked with its key")
    assert matching_lines(BOOKED, question, 2) == [
        (6, "refund.key = key_of(account)"),
        (7, 'log("booked")'),
    ]
    assert matching_lines("def book(refund): ...", question, 2) == []
    long = f"def book():\n    refund({'x, ' * 99})"
    assert [len(line) for _at, line in matching_lines(long, question, 1)] == [120]
