"""What a doc comment or docstring says, its markers removed."""

from textwrap import dedent

import pytest

from asterism.analysis.syntax.outlines import outline
from asterism.analysis.syntax.text import clean_comment, clean_docstring


def doc(path: str, text: str) -> str | None:
    """The doc of the first symbol."""
    found = outline(path, dedent(text).lstrip("\n").encode())
    return next(item.doc for _, item in found.symbols())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/** One. */", "One."),
        ("/**\n * One.\n *\n *   deep\n */", "One.\n\n  deep"),
        ("/*! One. */", "One."),
        ("// One.\n// Two.", "One.\nTwo."),
        ("/// One.\n///\n/// Two.", "One.\n\nTwo."),
        ("# One.\n#\n# Two.", "One.\n\nTwo."),
        ("## One.", "One."),
        ("-- One.", "One."),
        ("-- | One.\n-- Two.", "One.\nTwo."),
        ("--[[ One.\nTwo. ]]", "One.\nTwo."),
        ("{- | One. -}", "One."),
        ("/** a * b */", "a * b"),
        ("/***/", ""),
        ("/**/", ""),
        ("/** never closed", "never closed"),
        ("//", ""),
    ],
)
def test_clean_comment(text: str, expected: str) -> None:
    assert clean_comment(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"""One."""', "One."),
        ("'''One.'''", "One."),
        ("'One.'", "One."),
        ('"""\n    One.\n\n        deep\n    """', "One.\n\n    deep"),
        ('r"""One \\d."""', "One \\d."),
        ('""""""', None),
        ('"""never closed', "never closed"),
    ],
)
def test_clean_docstring(text: str, expected: str | None) -> None:
    assert clean_docstring(text) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.ts", "/** One. */\nfunction f() {}\n", "One."),
        # Prettier and others put a blank line below a long comment.
        ("a.ts", "/** One. */\n\nfunction f() {}\n", "One."),
        ("a.ts", "/** One. */\n\n\nfunction f() {}\n", None),
        ("a.ts", "// aside\n\nfunction f() {}\n", None),
        ("a.go", "package a\n\n// Loose.\n\nfunc Run() {}\n", None),
        ("a.ts", "// no doc\nfunction f() {}\n", None),
        ("a.ts", "/** One. */\n// aside\nfunction f() {}\n", "One."),
        ("a.ts", "/** One. */\n@traced\nclass A {}\n", "One."),
        ("a.ts", "/** One. */\nexport default function f() {}\n", "One."),
        ("a.py", 'def f():\n    """One."""\n', "One."),
        ("a.py", 'class A:\n    """One.\n\n    Two.\n    """\n', "One.\n\nTwo."),
        ("a.py", 'def f():\n    x = 1\n    """no doc"""\n', None),
        ("a.py", 'def f():\n    f"""no doc"""\n', None),
        ("a.go", "package a\n\n// Run runs.\n// Twice.\nfunc Run() {}\n", "Run runs.\nTwice."),
        ("a.rs", "/// One.\n#[test]\nfn f() {}\n", "One."),
        ("a.rs", "//! about the file\nfn f() {}\n", None),
        ("A.java", "/** One. */\nclass A {}\n", "One."),
        ("a.rb", "# One.\ndef f\nend\n", "One."),
        ("a.lua", "--- One.\nfunction f() end\n", "One."),
    ],
)
def test_doc_of_a_symbol(path: str, text: str, expected: str | None) -> None:
    assert doc(path, text) == expected
