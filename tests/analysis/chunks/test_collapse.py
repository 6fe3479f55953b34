"""A chunk's code is its source with the bodies of its children left out."""

from textwrap import dedent

import pytest

from tests.analysis.chunks.cutting import chunk_named, chunks_of, code_of


def check(path: str, source: str, name: str, expected: str) -> None:
    found = code_of(chunk_named(path, source, name))
    assert found == dedent(expected).strip("\n")


NESTED = """
    class A:
        def m(self):
            def inner():
                return 1
            return inner
    """


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("A", "class A:\n    def m(self)"),
        ("A.m", "    def m(self):\n        def inner()\n        return inner"),
        ("A.m.inner", "        def inner():\n            return 1"),
    ],
)
def test_each_level_shows_its_children_as_signatures(name: str, expected: str) -> None:
    assert code_of(chunk_named("a.py", NESTED, name)) == expected


def test_class_on_one_line() -> None:
    source = "class One { first() { return 1; } second() { return 2; } }\n"
    check("a.ts", source, "One", "class One { first() second() }")


def test_comments_above_a_child_go_with_its_body() -> None:
    source = """
        class A {
          // Stays: it is about nothing below.

          /** Goes with the method. */
          // This one too.
          m() { return 1; }
        }
        """
    expected = """
        class A {
          // Stays: it is about nothing below.

          m()
        }
        """
    check("a.ts", source, "A", expected)


def test_comment_above_a_child_without_a_body_stays() -> None:
    source = """
        class A {
          // The key.
          key = 1;
        }
        """
    check("a.ts", source, "A", source)


def test_decorators_of_a_child_go_with_its_body() -> None:
    source = """
        class A:
            @property
            def m(self):
                return 1
            x = 2
        """
    check("a.py", source, "A", "class A:\n    def m(self)\n    x = 2")


def test_a_body_below_a_child_without_one() -> None:
    """The property has no body to leave out; the method in its value has."""
    source = """
        class X {
          static api = {
            get(id) {
              return 1;
            },
          };
        }
        """
    expected = """
        class X {
          static api = {
            get(id),
          };
        }
        """
    check("a.ts", source, "X", expected)


def test_a_callback_is_left_out_of_its_statement() -> None:
    source = """
        describe("the parser", () => {
          it("reads", () => {
            expect(read()).toBe(1);
          });
        });
        """
    statement, outer, inner = chunks_of("a.ts", source)
    assert code_of(statement) == 'describe("the parser", () =>);'
    assert code_of(outer) == 'describe("the parser", () => {\n  it("reads", () =>);\n});'
    assert code_of(inner) == '  it("reads", () => {\n    expect(read()).toBe(1);\n  });'


def test_text_behind_a_child_stays() -> None:
    source = """
        class A:
            def m(self):
                return 1

            limit = 3  # after
        """
    check("a.py", source, "A", "class A:\n    def m(self)\n\n    limit = 3  # after")


def test_letters_of_several_bytes() -> None:
    source = """
        class Größe:
            ä = "ö"
            def fläche(self):
                return "日本"
            ü = "🦀"
        """
    expected = """
        class Größe:
            ä = "ö"
            def fläche(self)
            ü = "🦀"
        """
    check("a.py", source, "Größe", expected)


def test_the_source_itself_is_whole() -> None:
    chunk = chunk_named("a.py", NESTED, "A")
    assert chunk.full_source == dedent(NESTED).strip("\n")
