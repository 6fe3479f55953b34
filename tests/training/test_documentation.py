"""Are the first sentences of documentation found, and taken out of the code, in every language?"""

import pytest

from training.examples.documentation import LONGEST_CHARS, first_sentences, without_documentation


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Reads a file into memory.", "Reads a file into memory."),
        ("Reads a file.\nKeeps it in memory.", "Reads a file. Keeps it in memory."),
        ("Reads a file.\n\nThe rest is dropped.", "Reads a file."),
        ("Reads a file\n\nArgs:\n    path: where it is", "Reads a file"),
        ("Reads the whole file.\n@param path where it is", "Reads the whole file."),
        ("@brief Reads the whole file at once", "Reads the whole file at once"),
        ("<summary>\nReads the whole file.\n</summary>", "Reads the whole file."),
        (
            "Reads {@link Path the path} and `more` of it",
            "Reads Path the path and more of it",
        ),
        ("Reads [the file](http.md) into memory", "Reads the file into memory"),
        ("Reads :class:`~shop.File` into memory", "Reads shop.File into memory"),
    ],
)
def test_first_sentences(doc: str, expected: str) -> None:
    found = first_sentences(doc)
    assert found is not None
    assert " ".join(found.split()).replace(" .", ".") == expected


@pytest.mark.parametrize(
    "doc",
    [
        "",
        "   \n\n",
        "short",
        "two words",
        "Copyright 2020 by Example, all rights reserved.",
        "eslint-disable no-console for this file",
        "See https://example.org for more of this",
        "读取整个文件的内容到内存里面,然后返回它的所有行。",
        "x = {1: 2, 3: 4, 5: 6}; y = [7, 8, 9]",
        "if (a == b) {",
        "XXX make this better some day",
        "{@inheritDoc} of the class above it",
    ],
)
def test_no_prose(doc: str) -> None:
    assert first_sentences(doc) is None


def test_a_long_sentence_is_cut() -> None:
    found = first_sentences("word " * 500)
    assert found is not None
    assert 0 < len(found) <= LONGEST_CHARS


@pytest.mark.parametrize(
    ("code", "doc", "expected"),
    [
        (
            'def read(path):\n    """Reads a file."""\n    return open(path)',
            "Reads a file.",
            "def read(path):\n    return open(path)",
        ),
        (
            "/**\n * Reads a file.\n *\n * Twice.\n */\nread(path) {}",
            "Reads a file.\n\nTwice.",
            "read(path) {}",
        ),
        ("// Reads a file.\nfunc Read() {}", "Reads a file.", "func Read() {}"),
        (
            "/// <summary>\n/// Reads a file.\n/// </summary>\nvoid Read() {}",
            "Reads a file.",
            "void Read() {}",
        ),
        (
            '@doc """\nReads a file.\n"""\ndef read(path), do: path',
            "Reads a file.",
            "def read(path), do: path",
        ),
        ("x = 1\n\n# another remark\ny = 2", "Reads.", "x = 1\n\n# another remark\ny = 2"),
    ],
)
def test_code_without_its_documentation(code: str, doc: str, expected: str) -> None:
    assert without_documentation(code, doc) == expected
