"""A table goes into a TOML file and out again, and nothing else of the text moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.install.clients import Format
from asterism.install.pieces import ServerEntry, added, taken_back
from asterism.install.toml_edits import entry_at, loads, with_entry, without_entry
from asterism.types.errors import InputError

PATH = ("mcp_servers", "asterism")
ENTRY = {"command": "/opt/asterism", "args": ["mcp"]}
PIECE = ServerEntry(Format.toml, PATH, ENTRY)
TABLE = '[mcp_servers.asterism]\ncommand = "/opt/asterism"\nargs = ["mcp"]'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"{TABLE}\n"),
        ("# mine\n", f"# mine\n\n{TABLE}\n"),
        ('model = "o"', f'model = "o"\n\n{TABLE}'),
        ("[a]\r\nx = 1\r\n", f"[a]\nx = 1\n\n{TABLE}\n".replace("\n", "\r\n")),
        ("[mcp_servers.x]\ncommand = 'y'\n", f"[mcp_servers.x]\ncommand = 'y'\n\n{TABLE}\n"),
        (
            '[mcp_servers."asterism"] # ours\ncommand = "/old" # there\nargs = [\n  "a", # [\n]\nenabled = false\n\n[b]\n',
            '[mcp_servers."asterism"] # ours\ncommand = "/opt/asterism"\nargs = ["mcp"]\nenabled = false\n\n[b]\n',
        ),
        (
            '[mcp_servers.asterism]\ncommand = "/opt/asterism"',
            '[mcp_servers.asterism]\nargs = ["mcp"]\ncommand = "/opt/asterism"',
        ),
        (
            'a = """\n[mcp_servers.asterism]\n"""\n',
            f'a = """\n[mcp_servers.asterism]\n"""\n\n{TABLE}\n',
        ),
        (
            "[mcp_servers.asterism]",
            '[mcp_servers.asterism]\nargs = ["mcp"]\ncommand = "/opt/asterism"\n',
        ),
        ("x = nan\n", f"x = nan\n\n{TABLE}\n"),
    ],
)
def test_in_and_out(before: str, after: str) -> None:
    edited = with_entry(before, PATH, ENTRY)
    assert edited == after
    assert with_entry(edited, PATH, ENTRY) == edited
    assert entry_at(without_entry(edited, PATH), PATH) is None
    if "asterism" not in loads(before).get("mcp_servers", {}):
        assert without_entry(edited, PATH) == before
        assert taken_back(edited.encode(), PIECE, [before.encode()]) == before.encode()


def test_what_belongs_to_the_table_goes_with_it() -> None:
    text = f"a = 1\n\n{TABLE}\n\n[mcp_servers.asterism.env]\nA = 'b'\n\n# next\n[b]\n"
    assert without_entry(text, PATH) == "a = 1\n\n# next\n[b]\n"


def test_comments_inside_stay() -> None:
    text = "[mcp_servers.asterism]\n# why\ncommand = 'x'\n[b]\n"
    assert without_entry(text, PATH) == "# why\n[b]\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a = ", "Invalid value"),
        ("a = 1\na = 2\n", "overwrite"),
        ("mcp_servers = 1\n", '"mcp_servers" is not a table'),
        ("mcp_servers = { x = { command = 'y' } }\n", "a table cannot be added there"),
        ("[mcp_servers]\nasterism = { command = '/old/asterism' }\n", "by hand"),
        ("[[mcp_servers.asterism]]\n", "is not a table"),
    ],
)
def test_refused(text: str, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        with_entry(text, PATH, ENTRY)
    assert complaint in str(caught.value)


LINES = st.sampled_from(
    [
        "# a comment",
        "",
        "k = 1",
        "k.j = 'a'",
        "[t]",
        "[t.u] # [x]",
        "[[many]]",
        'long = """\n[x]\n"""',
        "list = [ # ]\n  1,\n]",
        "raw = '''\n# no\n'''",
        "[mcp_servers]",
        "[mcp_servers.x]",
        "x = { y = [1, {z = 2}] }",
    ]
)


@given(st.lists(LINES, max_size=6), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_file_comes_back_to_the_byte(lines: list[str], newline: str, ended: bool) -> None:
    text = "\n".join(lines).replace("\n", newline) + (newline if ended else "")
    try:
        loads(text)
    except InputError:
        return
    before = text.encode()
    try:
        now = added(before, PIECE)
    except InputError:
        return
    assert entry_at(now.decode(), PATH) == ENTRY
    assert taken_back(now, PIECE, [before]) == before
    assert without_entry(now.decode(), PATH) == text or not text.strip()
