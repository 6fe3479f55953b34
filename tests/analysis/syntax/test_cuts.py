"""What stays of a file when only some of it is wanted."""

import pytest

from asterism.analysis.syntax.cuts import Pruning, problems_of
from asterism.analysis.syntax.outlines import outline
from asterism.types.outline import Span

MEMBERS = [
    ("a.c", "int a, *b;\nint c;", "b", "int a, *b;"),
    ("a.go", "package x\nconst (\n\tA = 1\n\tB = 2\n)", "B", "B = 2"),
    ("a.py", "x = 1; y = 2", "y", "y = 2"),
    ("a.ts", "class A {\n  constructor(private b: string) {}\n}", "b", "constructor(private b: "),
    ("a.md", "# b", "b", ""),
]


@pytest.mark.parametrize(("path", "text", "name", "expected"), MEMBERS)
def test_the_least_that_can_be_shown(path: str, text: str, name: str, expected: str) -> None:
    """A name that shares its declaration is shown with all of it."""
    source = text.encode()
    span = Pruning(outline(path, source), source).member(text.rindex(name))
    shown = source[span.start : span.end].decode()
    assert shown.startswith(expected)
    assert bool(shown) == bool(expected)


def test_a_part_is_read_in_the_language_of_the_whole() -> None:
    """A piece of a C++ header may look like C, which it is not."""
    source = b"namespace a {\nstd::string name();\n}\n"
    read = outline("a.h", source)
    assert read.language == "cpp"
    assert not problems_of(read, b"std::string name();\n")


def test_very_deep_code_is_kept_whole_inside() -> None:
    """No recursion without end, and no error."""
    depth = 400
    source = ("{" * depth + "let x = 1;" + "}" * depth).encode()
    at = source.index(b"let")
    pieces = Pruning(outline("a.js", source), source).prune([Span(at, at + 10)])
    assert pieces[0].start <= at < pieces[-1].end
