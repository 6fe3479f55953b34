"""Texts come in pieces by their indentation, and pieces are scored by what they say."""

import pytest

from asterism.search.selection.pieces import Piece, layout_of, mentions

METHODS = """\
    count = 0

    # How many there are.
    @property
    def size(self):
        return self.count

    def clear(self):
        for one in self.all():
            one.close()

        self.count = 0"""

BRACES = """\
{
    /**
     * Opens it.
     */
    function open()
    {
        return 1;
    }

    function close() {
        return 2;
    }
}"""

STATEMENTS = "\n".join(f"step({n})" for n in range(14))

DIRECTIVES = """\
    int a = 1;
#if DEBUG
    int b = 2;

    int c = 3;
#endif"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["1-1"]),
        ("only = 1", ["1-1"]),
        # A comment and a decorator go with what is below them, blank lines with what is above.
        (METHODS, ["1-2", "3-7", "8-12"]),
        # Braces open and close; they begin nothing.
        (BRACES, ["1-9", "10-13"]),
        # Statements without a blank line between them are cut every few lines.
        (STATEMENTS, ["1-6", "7-12", "13-14"]),
        # What stands further to the left than all code is no level of its own.
        (DIRECTIVES, ["1-4", "5-6"]),
        ("# one\n# two\n\n# three", ["1-4"]),
        # A name that begins like a word that continues.
        ("a = 1\n\nendpoint = 2\n\nend", ["1-2", "3-5"]),
        ("\n\n", ["1-3"]),
    ],
)
def test_pieces(text: str, expected: list[str]) -> None:
    layout = layout_of(text)
    found = layout.pieces(0, len(layout.lines))
    assert [f"{piece.start + 1}-{piece.end}" for piece in found] == expected


def test_a_part_has_pieces_of_its_own() -> None:
    layout = layout_of(METHODS)
    assert layout.pieces(8, 12) == [Piece(8, 11), Piece(11, 12)]


@pytest.mark.parametrize(("piece", "expected"), [(Piece(0, 2), 0), (Piece(2, 7), 4)])
def test_the_head_of_a_piece_is_code(piece: Piece, expected: int) -> None:
    assert layout_of(METHODS).head(piece) == expected


def test_a_piece_of_comments_begins_with_its_first_line() -> None:
    assert layout_of("# one\n# two").head(Piece(0, 2)) == 0


@pytest.mark.parametrize(
    ("words", "matching", "best"),
    [
        (["count"], (), "1-2"),
        (["prop"], (), "3-7"),
        # One that says two words, against one that says one of them.
        (["all", "clos"], (), "8-12"),
        # Words are found in whatever case.
        (["how many"], (), "3-7"),
        # A line that matches counts for more than words.
        (["count"], (8,), "8-12"),
    ],
)
def test_scores(words: list[str], matching: tuple[int, ...], best: str) -> None:
    layout = layout_of(METHODS)
    said = mentions(layout, METHODS, words, matching)
    found = max(layout.pieces(0, 12), key=lambda piece: said.score(layout, piece))
    assert f"{found.start + 1}-{found.end}" == best


def test_a_word_that_is_everywhere_says_nothing() -> None:
    text = "\n".join(["step()"] * 100)
    layout = layout_of(text)
    assert mentions(layout, text, ["step"]).lines == []


def test_letters_that_grow_in_lower_case_move_nothing() -> None:
    text = "İİİİ\nfirst\nsecond"
    assert mentions(layout_of(text), text, ["second"]).lines == [2]
