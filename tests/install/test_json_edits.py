"""An entry goes into a JSON file and out again, and nothing else of the text moves."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.install.clients import Format
from asterism.install.json_edits import entry_at, scan, with_entry, without_entry
from asterism.install.pieces import ServerEntry, added, taken_back
from asterism.types.errors import InputError

PATH = ("servers", "asterism")
ENTRY = {"command": "/opt/asterism", "args": ["mcp"]}
PIECE = ServerEntry(Format.json, PATH, ENTRY)
ONE_LINE = '"asterism": {"command": "/opt/asterism", "args": ["mcp"]}'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "{}",
            '{\n  "servers": {\n    "asterism": {\n      "command": "/opt/asterism",\n'
            '      "args": ["mcp"]\n    }\n  }\n}',
            id="an empty object",
        ),
        pytest.param('{"a": 1}\n', f'{{"a": 1, "servers": {{{ONE_LINE}}}}}\n', id="one line"),
        pytest.param('{"servers":{}}', f'{{"servers":{{{ONE_LINE}}}}}', id="one line, empty"),
        pytest.param(
            '{"servers": {"x": {},}}', f'{{"servers": {{"x": {{}}, {ONE_LINE}}}}}', id="comma"
        ),
        pytest.param(
            '{\n\t// mine\n\t"servers": {\n\t\t"x": {} // the first\n\t\t// no more\n\t}\n}\n',
            '{\n\t// mine\n\t"servers": {\n\t\t"x": {}, // the first\n\t\t// no more\n'
            '\t\t"asterism": {\n\t\t\t"command": "/opt/asterism",\n\t\t\t"args": ["mcp"]\n\t\t}\n\t}\n}\n',
            id="tabs and comments",
        ),
        pytest.param(
            '{\r\n   "servers": {\r\n   },\r\n}',
            '{\r\n   "servers": {\r\n      "asterism": {\r\n         "command": "/opt/asterism",\r\n'
            '         "args": ["mcp"]\r\n      }\r\n   },\r\n}',
            id="CRLF, three spaces, trailing comma",
        ),
        pytest.param(
            '{\n  "servers": {\n    "asterism": {"command": "/old", "env": {"A": "b"}, /* x */ "args": []},\n    "y": {}\n  }\n}',
            '{\n  "servers": {\n    "asterism": {"command": "/opt/asterism", "env": {"A": "b"}, /* x */ "args": ["mcp"]},\n    "y": {}\n  }\n}',
            id="an older entry keeps its place and what else it says",
        ),
        pytest.param(
            '{"servers": {"asterism": null}}',
            '{"servers": {"asterism": {\n  "command": "/opt/asterism",\n  "args": ["mcp"]\n}}}',
            id="null is no entry",
        ),
        pytest.param(
            '{\n  "servers": { "x": {\n    }\n  }\n}',
            '{\n  "servers": { "x": {\n    },\n    "asterism": {\n      "command": "/opt/asterism",\n'
            '      "args": ["mcp"]\n    }\n  }\n}',
            id="a member on the line of the brace",
        ),
        pytest.param('{\n  "a": 1}', None, id="brace on the last line"),
        pytest.param('\ufeff{"a": "// no comment", "b": "\\u00e9\\""}', None, id="BOM, strings"),
        pytest.param("/* nothing yet */\n", None, id="only a comment"),
        pytest.param("", None, id="empty"),
        pytest.param(" \n", None, id="blank"),
        pytest.param('{"asterism": 1, "servers": {"x": 2}}', None, id="the name elsewhere"),
        pytest.param('{"servers": 1, "servers": {"x": 2}}', None, id="a key twice"),
    ],
)
def test_in_and_out(before: str, after: str | None) -> None:
    edited = with_entry(before, PATH, ENTRY)
    if after is not None:
        assert edited == after
    found = entry_at(edited, PATH)
    assert {key: found[key] for key in ENTRY} == ENTRY
    assert with_entry(edited, PATH, ENTRY) == edited
    left = scan(without_entry(edited, PATH, 0)).value
    assert "asterism" not in left["servers"]
    if "asterism" not in before:
        assert taken_back(edited.encode(), PIECE, [before.encode()]) == before.encode()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "line 1: it ends too early"),
        ("{\n'a': 1}", 'line 2: "\'" is not expected there'),
        ('{"a": 1 "b": 2}', "not expected"),
        ('{"a": 01}', "not expected"),
        ('{"a": "\x01"}', "not expected"),
        ("{} {}", "not expected"),
        ("/* open", "not expected"),
        ("[" * 101 + "]" * 101, "nested more than 100 deep"),
        ("[]", "the file is not an object"),
        ('{"servers": null}', '"servers" is not an object'),
        ('{"servers": []}', '"servers" is not an object'),
    ],
)
def test_refused(text: str, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        with_entry(text, PATH, ENTRY)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("before", "prune", "after"),
    [
        ('{"servers": {"asterism": {}}}', 1, "{}"),
        ('{"servers": {"asterism": {}}}', 0, '{"servers": {}}'),
        ('{"a": 1, "servers": {"asterism": {}}, "b": 2}', 1, '{"a": 1, "b": 2}'),
        ('{"servers": {"x": 1, "asterism": {}}}', 1, '{"servers": {"x": 1}}'),
        ('{"servers": {"asterism": {}, "x": 1}}', 1, '{"servers": { "x": 1}}'),
        (
            '{\n  "servers": {\n    "x": 1, // one\n    // two\n    "asterism": {} }\n}\n',
            1,
            '{\n  "servers": {\n    "x": 1 // one\n    // two\n }\n}\n',
        ),
        (
            '{\n  "servers": {\n    // why\n    "asterism": {}\n  }\n}\n',
            0,
            '{\n  "servers": {\n    // why\n  }\n}\n',
        ),
    ],
)
def test_out_of_a_file_that_was_edited_since(before: str, prune: int, after: str) -> None:
    assert without_entry(before, PATH, prune) == after


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=3), below, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(["servers", "asterism", "a", "//", '"'])
FILES = st.dictionaries(KEYS, VALUES, max_size=4) | st.fixed_dictionaries(
    {"servers": st.dictionaries(st.sampled_from(["x", "{", "/*"]), VALUES, max_size=3)}
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """JSON as users write it: any layout, comments, trailing commas, line ends."""
    value: Any = draw(FILES)
    text = json.dumps(value, indent=draw(st.sampled_from([None, 0, 1, 2, "\t"])))
    if draw(st.booleans()):
        text = text.replace("}", "// }\n}").replace("[]", "[ /* ] */ ]")
    lead, tail = (
        draw(st.sampled_from(["", "\ufeff", "// x\n"])),
        draw(st.sampled_from(["", "\n", " "])),
    )
    return (lead + text + tail).replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(texts())
def test_any_file_comes_back_to_the_byte(text: str) -> None:
    before = text.encode("utf-8", "surrogatepass")
    try:
        value = scan(text).value
        taken = value.get("servers", {}).get("asterism")
    except (InputError, AttributeError):
        return
    try:
        now = added(before, PIECE)
    except InputError:
        return
    assert taken is not None or taken_back(now, PIECE, [before]) == before
    assert taken is not None or added(before, PIECE) == now
    edited = without_entry(now.decode(), PATH, 0)
    assert "asterism" not in scan(edited).value["servers"]
