"""Documents by their headings: what is a section, where it ends, and what contains it."""

from textwrap import dedent

import pytest

from asterism.analysis.syntax.outlines import outline

Section = tuple[str, int, int, int]


def sections(path: str, text: str) -> list[Section]:
    """Name, depth, first and last line of each section."""
    found = outline(path, dedent(text).lstrip("\n").encode())
    return [(item.name, item.depth, item.start_line, item.end_line) for _, item in found.symbols()]


def names(path: str, text: str) -> list[str]:
    return [name for name, *_ in sections(path, text)]


def paragraphs(path: str, text: str) -> list[tuple[int, int]]:
    found = outline(path, dedent(text).lstrip("\n").encode())
    return [(item.start_line, item.end_line) for _, item in found.root_items()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\n", [("One", 0, 1, 1)]),
        ("# One\n\ntext\n\n# Two\n", [("One", 0, 1, 3), ("Two", 0, 5, 5)]),
        ("# One\n## In\ntext\n# Two\n", [("One", 0, 1, 3), ("In", 1, 2, 3), ("Two", 0, 4, 4)]),
        # A level may be left out.
        ("# One\n### Deep\n## In\n", [("One", 0, 1, 3), ("Deep", 1, 2, 2), ("In", 1, 3, 3)]),
        ("### Deep\n# One\n", [("Deep", 0, 1, 1), ("One", 0, 2, 2)]),
        ("One\n===\n\ntext\n\nTwo\n---\n", [("One", 0, 1, 7), ("Two", 1, 6, 7)]),
        ("# One #\n\n## Two ##\n", [("One", 0, 1, 3), ("Two", 1, 3, 3)]),
        ("# [Link](a.md) and `code`\n", [("Link and `code`", 0, 1, 1)]),
        ("# Ünïcode 日本 🦀\n", [("Ünïcode 日本 🦀", 0, 1, 1)]),
    ],
)
def test_markdown(text: str, expected: list[Section]) -> None:
    assert sections("a.md", text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "#not a heading\n",
        "####### seven\n",
        "text\n\n    # code\n",
        "```\n# in a fence\n```\n",
        "~~~\n# in a fence\n~~~\n",
        "````\n```\n# still in\n```\n````\n",
        "---\ntitle: x\n# a comment in YAML\n---\n",
        "```\n# never closed\n",
        "\\# escaped\n",
        "just text\n\n---\n\nmore\n",
    ],
)
def test_no_heading(text: str) -> None:
    assert names("a.md", text) == []


def test_a_heading_behind_a_fence() -> None:
    assert names("a.md", "```sh\n# no\n```\n\n# Yes\n") == ["Yes"]


def test_a_heading_behind_front_matter() -> None:
    assert sections("a.md", "---\ntitle: x\n---\n\n# Yes\n") == [("Yes", 0, 5, 5)]


def test_text_before_the_first_heading_is_by_paragraphs() -> None:
    text = "one\ntwo\n\nthree\n\n# Heading\n\nfour\n"
    assert paragraphs("a.md", text) == [(1, 2), (4, 4)]
    assert sections("a.md", text) == [("Heading", 0, 6, 8)]


def test_two_sections_of_one_name() -> None:
    assert names("a.md", "# A\n## Use\n# B\n## Use\n") == ["A", "Use", "B", "Use"]


def test_the_path_of_a_section() -> None:
    found = outline("a.md", b"# A\n\n## B\n\n### C\n")
    assert [item.path for item in found.items] == [("A",), ("A", "B"), ("A", "B", "C")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One\n===\n\ntext\n", [("One", 0, 1, 4)]),
        ("One\n===\n\nTwo\n---\n", [("One", 0, 1, 5), ("Two", 1, 4, 5)]),
        # The order of appearance gives the level, whatever the character.
        (
            "One\n---\n\nTwo\n===\n\nThree\n-----\n",
            [("One", 0, 1, 5), ("Two", 1, 4, 5), ("Three", 0, 7, 8)],
        ),
        # An overline is another style, and belongs to the heading.
        ("===\nOne\n===\n\nTwo\n===\n", [("One", 0, 1, 6), ("Two", 1, 5, 6)]),
        ("A long title\n==\n", []),
    ],
)
def test_restructured_text(text: str, expected: list[Section]) -> None:
    assert sections("a.rst", text) == expected


def test_many_headings() -> None:
    """Twenty thousand sections end where the next begins."""
    found = sections("a.md", "# A\n\ntext\n\n" * 20_000)
    assert len(found) == 20_000
    assert found[-2:] == [("A", 0, 79_993, 79_995), ("A", 0, 79_997, 79_999)]
