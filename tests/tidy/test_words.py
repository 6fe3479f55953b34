"""Which texts does the check for words of `tests/words.txt` read, and what does it find there?"""

import pytest

from scripts.house import words


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.md", "Nobody\nis given\nout.", [(1, "nobody"), (2, "given out")]),
        ("a.py", '"""Says of\nit."""\n', [(1, "says of it")]),
        ("a.py", "# Given\n# out.\n", [(1, "given out")]),
        ("a.py", "f'{x} is none of {y}'\n", [(1, "is none")]),
        ("a.py", "def test_nobody_asks(): ...\n", [(1, "nobody")]),
        ("a.py", "nobody = x is None\n", []),
        ("a.py", '"""The value is None."""\n', []),
        ("a.py", "'somebodyelse'\n", []),
    ],
)
def test_what_counts_as_a_match(name: str, source: str, expected: list[tuple[int, str]]) -> None:
    listed = words.pattern("# A list\nnobody|somebody\ngiven? out\nis none\nsays? of (it|a)\n")
    assert list(words.matches(name, source, listed)) == expected
