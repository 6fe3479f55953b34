"""Declarations on one line: what is kept, what is folded, where it is cut."""

import pytest

from asterism.analysis.syntax.outlines import outline
from asterism.analysis.syntax.text import LABEL_LIMIT, SIGNATURE_LIMIT, fold, label


def signature(path: str, text: str) -> str:
    """The signature of the first symbol."""
    return next(item.signature for _, item in outline(path, text.encode()).symbols())


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "def f(a, b=1) -> int:\n    return 1\n", "def f(a, b=1) -> int"),
        ("a.py", "async def f(): ...\n", "async def f()"),
        ("a.py", "class A(B, metaclass=M):\n    pass\n", "class A(B, metaclass=M)"),
        ("a.py", "@one\n@two(1)\ndef f(): ...\n", "def f()"),
        ("a.py", "def f(\n    a,\n    b,\n): ...\n", "def f(a, b)"),
        ("a.py", "def f(  # why\n    a,  # what\n): ...\n", "def f(a)"),
        (
            "a.ts",
            "export async function f<T>(a: T): Promise<T> { }\n",
            "export async function f<T>(a: T): Promise<T>",
        ),
        ("a.ts", "function f(/* why */ a: string) { }\n", "function f( a: string)"),
        ("a.ts", "type A = string | number;\n", "type A = string | number"),
        (
            "a.ts",
            "abstract class A extends B implements C { }\n",
            "abstract class A extends B implements C",
        ),
        (
            "a.go",
            "package a\n\nfunc (s *Server) Run(a int) error {\n}\n",
            "func (s *Server) Run(a int) error",
        ),
        ("a.rs", "pub fn f<T: Debug>(a: &T) -> u8 { 1 }\n", "pub fn f<T: Debug>(a: &T) -> u8"),
        ("A.java", "class A extends B { }\n", "class A extends B"),
        ("a.c", "static int f(int a)\n{\n}\n", "static int f(int a)"),
        ("a.rb", "def f(a, b: 1)\nend\n", "def f(a, b: 1)"),
    ],
)
def test_signature(path: str, text: str, expected: str) -> None:
    assert " ".join(signature(path, text).split()) == " ".join(expected.split())


def test_a_long_signature_is_cut() -> None:
    names = ", ".join(f"argument_{number}" for number in range(100))
    found = signature("a.py", f"def f({names}): ...\n")
    assert found.endswith(" …")
    assert len(found) <= SIGNATURE_LIMIT + 2
    assert found.startswith("def f(argument_0, argument_1,")


def test_a_long_value_is_left_out() -> None:
    found = signature("a.py", f"TABLE = [{', '.join(map(str, range(500)))}]\n")
    assert found.startswith("TABLE")
    assert len(found) < 40


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("a  b\n\tc", 20, "a b c"),
        ("  a ", 20, "a"),
        ("", 20, ""),
        ("a\u00a0b\u2028c", 20, "a b c"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcdef …"),
        ("abcde fgh", 6, "abcde …"),
    ],
)
def test_fold(text: str, limit: int, expected: str) -> None:
    assert fold(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("start the server\nnow\n", "start the server"),
        ("if x:\n    go()\n", "if x: go()"),
        ("\n\n  deep down here\n", "deep down here"),
        ("x" * 100, "x" * LABEL_LIMIT + " …"),
    ],
)
def test_label(text: str, expected: str) -> None:
    assert label(text) == expected


@pytest.mark.parametrize(
    "before",
    ["", "internal ", "@Inject ", "@Inject internal ", "@A(1)\n@B\nprivate ", "internal actual "],
)
@pytest.mark.parametrize("types", ["", "<out T>"])
def test_a_first_constructor_on_a_line_of_its_own(before: str, types: str) -> None:
    text = (
        f"class A{types}\n{before}constructor(val x: Int) {{\n  fun f() {{}}\n}}\n\nfun g() {{}}\n"
    )
    found = outline("a.kt", text.encode())
    assert found.problems == ()
    named = [(item.kind, item.path) for _, item in found.symbols()]
    assert named == [
        ("class", ("A",)),
        ("property", ("A", "x")),
        ("method", ("A", "f")),
        ("function", ("g",)),
    ]
    said = " ".join(before.split())
    assert signature("a.kt", text) == f"class A{types} {said} constructor(val x: Int)".replace(
        "  ", " "
    )


@pytest.mark.parametrize("word", ["open", "set", "get", "final", "internal", "other"])
@pytest.mark.parametrize("use", ["{} = 2", "{} += 2", "{}.close()", "{}?.close()", "{}[1] = 2"])
def test_kotlin_names_that_are_modifiers_elsewhere(word: str, use: str) -> None:
    body = f"    var {word} = 1\n    {use.format(word)}\n    after()\n"
    text = f"class A {{\n  open fun f() {{\n{body}  }}\n\n  fun g() {{}}\n}}\n"
    found = outline("a.kt", text.encode())
    assert found.problems == ()
    assert [item.path for _, item in found.symbols()] == [("A",), ("A", "f"), ("A", "g")]
    assert word in {reference.name for reference in found.references}
