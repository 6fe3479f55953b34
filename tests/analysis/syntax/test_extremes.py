"""Files no editor would show: too deep, too wide, too long, or with nothing in them."""

import json
from typing import Any

import pytest

from asterism.analysis.syntax.language import DialectEntry
from asterism.analysis.syntax.outlines import outline_bytes
from tests.analysis.chunks.invariants import complaints
from tests.analysis.syntax.material import ROWS, name_in
from tests.fixture_checks import FIXTURES

DEEP = 10_000
NESTED_FUNCTIONS = 500

EDGES = {
    "empty": b"",
    "one blank": b" ",
    "one line end": b"\n",
    "only blanks": b" \t\n" * 200,
    "only a mark": b"\xef\xbb\xbf",
    "only two marks": b"\xef\xbb\xbf\xef\xbb\xbf",
    "only a wide mark": b"\xff\xfe",
    "only NULs": b"\x00" * 64,
    "one byte": b"\xff",
    "only form feeds": b"\x0c\n\x0c\n",
    "only other blanks": "\u00a0\n\u3000\u2003\n\u2028\n\x85\n\x1f\n".encode(),
    "every separator": "a\u2028b\u2029c\x0bd\x0ce\x85f\x1cg\x1dh\x1ei\n".encode() * 50,
    "no line end at the end": b"x",
    "slashes": b"// a\n// b\n\n/* c\n d */\n",
    "hashes": b"# a\n# b\n\n# c\n",
    "dashes": b"-- a\n-- b\n\n{- c -}\n",
    "an open comment": b"/* a\n b\n",
    "an open string": b'x = "abc\n\n\ny = 1\n',
    "an open triple string": b'x = """abc\n\n\ny = 1\n',
    "a shebang": b"#!/bin/sh\n",
    "conflict marks": b"<<<<<<< a\nx = 1\n=======\nx = 2\n>>>>>>> b\n",
}

DEPTHS = {
    "parentheses": b"(" * DEEP + b")" * DEEP,
    "brackets": b"x = " + b"[" * DEEP + b"]" * DEEP + b"\n",
    "braces": b"{" * DEEP + b"}" * DEEP,
    "open parentheses": b"(\n" * DEEP,
    "open braces": b"{" * DEEP,
    "closed braces": b"}" * DEEP,
}

MEGABYTE = 1_000_000
LONG_LINES = {
    "one word": b"x" * MEGABYTE,
    "one string": b'x = "' + b"y" * MEGABYTE + b'"\n',
    "many statements": b"x = 1; " * 10_000,
}

# Nine hundred kilobytes take seconds, so only a few languages get them.
LARGE = {"python": 24_000, "text": 80_000}


def sample(entry: DialectEntry) -> dict[str, Any]:
    """What `tests/fixtures/<key>.json` has for a language.

    `nested` begins and ends a definition that can be nested in another; `line` is a statement,
    where `x = y()` is not.
    """
    found: dict[str, Any] = json.loads((FIXTURES / f"{entry.key}.json").read_text())
    return found


everywhere = pytest.mark.parametrize("entry", ROWS.values(), ids=ROWS)


@everywhere
def test_next_to_nothing(entry: DialectEntry) -> None:
    wrong = {edge: complaints(name_in(entry), data) for edge, data in EDGES.items()}
    assert {edge: found for edge, found in wrong.items() if found} == {}


@pytest.mark.parametrize("shape", DEPTHS)
@everywhere
def test_nested_brackets(entry: DialectEntry, shape: str) -> None:
    assert complaints(name_in(entry), DEPTHS[shape]) == []


@everywhere
def test_nested_definitions(entry: DialectEntry) -> None:
    opening, closing = sample(entry)["nested"]
    numbers = range(NESTED_FUNCTIONS)
    text = "".join(opening.format(n=n, pad=" " * n) for n in numbers)
    text += " " * NESTED_FUNCTIONS + "x\n" + closing.format() * NESTED_FUNCTIONS
    assert complaints(name_in(entry), text.encode()) == []


@pytest.mark.parametrize("shape", LONG_LINES)
@everywhere
def test_one_long_line(entry: DialectEntry, shape: str) -> None:
    assert complaints(name_in(entry), LONG_LINES[shape]) == []


@everywhere
def test_many_short_lines(entry: DialectEntry) -> None:
    line, count = sample(entry).get("line", "x%d = y()\n"), LARGE.get(entry.key, 4_000)
    data = "".join(line % number for number in range(count)).encode()
    assert complaints(name_in(entry), data) == []
    assert entry.key not in LARGE or len(data) > 900_000


def test_nesting_is_found() -> None:
    """The deep samples are what they say: one function in the other, all the way down."""
    text = "".join(" " * n + f"def f{n}():\n" for n in range(60)) + " " * 60 + "pass\n"
    found = outline_bytes("a.py", text.encode())
    assert max(item.depth for item in found.items) == 59
