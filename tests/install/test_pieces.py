"""Whatever a file says, it is edited rightly or refused; and what goes in comes out."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.install.clients import Format
from asterism.install.pieces import (
    Piece,
    PieceState,
    ServerEntry,
    TextBlock,
    added,
    state_of,
    taken_back,
)
from asterism.types.errors import InputError

FIELDS = {"command": "/x/asterism", "args": ["mcp"]}
PATH = ("m", "asterism")
JSON = ["{", "}", "[", "]", ",", ":", '"m"', '"asterism"', '"a"', "1", "null", "{}", '"m":{', ",}"]
TOML = [
    "[m]",
    "[m.asterism]",
    "[[m]]",
    "[m.x]",
    '[ m . "asterism" . env ]',
    "m = {",
    "}",
    "a = 1",
    "m.x = 1",
    'm.asterism.command = "asterism"',
    'command = "asterism"',
    "args = [",
    '"b",',
    "]",
    '"""',
    "'''",
    "# c",
]
MARKS = ["<!-- asterism:begin", "-->", "<!-- asterism:end -->", "x", "\ufeff", "é"]
SPACE = ["\n", "\r\n", " ", "\t"]


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        pytest.param(
            ServerEntry(Format.json, PATH, FIELDS), [*JSON, "// c\n", "/* c */"], id="json"
        ),
        pytest.param(ServerEntry(Format.toml, PATH, FIELDS), TOML, id="toml"),
        pytest.param(TextBlock("Hi\nyou"), MARKS, id="block"),
    ],
)
def test_any_text(piece: Piece, words: Sequence[str]) -> None:
    @given(st.lists(st.sampled_from([*words, *SPACE]), max_size=14))
    def check(parts: list[str]) -> None:
        before = "".join(parts).encode()
        try:
            state = state_of(before, piece)
            now = added(before, piece)
        except InputError:
            return
        assert state_of(now, piece) is PieceState.current
        assert added(now, piece) == now
        if state is PieceState.absent:
            assert taken_back(now, piece, [before]) == before
            # Without a copy of what was there, at least no piece stays.
            left = taken_back(now, piece, [b"\xff"])
            assert left is None or state_of(left, piece) is PieceState.absent

    check()


def test_the_lines_of_an_older_version_go_too() -> None:
    older, newer = TextBlock("Old."), TextBlock("New.\nLonger.")
    before = b"# Mine"
    now = added(added(before, older), newer)
    assert b"Old" not in now
    assert taken_back(now, newer, [before]) == before
    assert taken_back(added(before, older), newer, [before]) == before


@pytest.mark.parametrize("form", list(Format))
def test_a_copy_with_an_older_entry_is_not_gone_back_to(form: Format) -> None:
    first = ServerEntry(form, PATH, {"command": "/old/asterism"})
    second = ServerEntry(form, PATH, FIELDS)
    between = added(b"", first)
    now = added(between, second)
    assert state_of(between, second) is PieceState.older
    left = taken_back(now, second, [between])
    assert left is None or state_of(left, second) is PieceState.absent


def test_a_file_that_was_empty_stays_and_one_that_was_not_there_goes() -> None:
    piece = ServerEntry(Format.json, PATH, FIELDS)
    assert taken_back(added(b"", piece), piece, [b""]) == b""
    assert taken_back(added(None, piece), piece, []) is None


@pytest.mark.parametrize(
    "command", ['C:\\a "b"\\asterism.exe', "/é/🚀/\x7f/asterism", "/a'b/asterism"]
)
@pytest.mark.parametrize("form", list(Format))
def test_odd_paths_are_written_as_they_are(command: str, form: Format) -> None:
    piece = ServerEntry(form, PATH, {"command": command, "args": ["mcp"]})
    assert state_of(added(None, piece), piece) is PieceState.current
