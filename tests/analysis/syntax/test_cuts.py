"""What stays of a file when only some of it is wanted."""

import pytest

from asterism.analysis.syntax.cuts import ImportNames, Pruning, problems_of
from asterism.analysis.syntax.outlines import outline
from asterism.types.outline import Span

IMPORTS = [
    ("a.ts", "import D, { a, type b as c, d } from 'x';", "D", "import D from 'x';"),
    ("a.ts", "import D, { a, type b as c, d } from 'x';", "c", "import { type b as c} from 'x';"),
    ("a.ts", "import D, * as all from 'x';", "all", "import * as all from 'x';"),
    ("a.js", "const { a, b: c, d } = require('x');", "c", "const { b: c} = require('x');"),
    ("a.py", "from x import a, b as c, d", "c", "from x import b as c"),
    ("a.py", "from x import a, b as c, d", "d", "from x import d"),
    ("a.py", "from x import (a, b)", "a", "from x import (a)"),
    ("a.py", "import os.path, sys", "os", "import os.path"),
    ("a.rs", "use a::{b, c::{self, d as e}};", "e", "use a::{c::{d as e}};"),
    ("a.rs", "use a::{b, c::{self, d as e}};", "c", "use a::{c::{self}};"),
    ("a.scala", "import b.{c, d => e}", "e", "import b.{d => e}"),
    ("a.hs", "import B (c, D(..), E)", "D", "import B (D(..))"),
    ("a.php", "<?php\nuse A\\{B, C as D};", "D", "use A\\{C as D};"),
    ("a.php", "<?php\nuse A, B;", "B", "use B;"),
    ("a.ex", "alias A.{B, C}", "C", "alias A.{C}"),
    ("a.py", "from x import a, b", "unknown", "from x import a, b"),
]


@pytest.mark.parametrize(("path", "text", "name", "expected"), IMPORTS)
def test_an_import_is_narrowed(path: str, text: str, name: str, expected: str) -> None:
    """Only the wanted name is left, with the commas that it needs."""
    source = text.encode()
    read = outline(path, source)
    start = source.find(b"use") if path == "a.php" else 0
    wanted = ImportNames(Span(start, len(source)), frozenset({name}))
    pieces = Pruning(read, source).prune([], [wanted])
    found = " ".join(source[piece.start : piece.end].decode() for piece in pieces)
    assert found.replace(" ", "") == expected.replace(" ", "")
    assert not problems_of(read, ("<?php " + found if path == "a.php" else found).encode())


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
