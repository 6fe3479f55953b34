"""Whatever a caller sends, does one event make one line that can be read?"""

import json
import logging

from hypothesis import given
from hypothesis import strategies as st

from asterism.telemetry.events import Event
from asterism.telemetry.log import Format, _Json, _Plain

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda below: st.lists(below) | st.dictionaries(st.text(), below),
    max_leaves=20,
)


def line(form: Format, fields: dict[str, object]) -> str:
    event = Event("tool", fields, "r1")
    record = logging.LogRecord("asterism", logging.INFO, "", 0, "%s", (event,), None)
    return (_Json() if form == "json" else _Plain()).format(record)


@given(st.dictionaries(st.sampled_from(["a", "query", "time", "event", "token"]), ANYTHING))
def test_json_can_be_read_back(fields: dict[str, object]) -> None:
    text = line("json", fields)
    assert "\n" not in text
    assert json.loads(text)["event"] == "tool"
    text.encode("utf-8")


@given(st.dictionaries(st.sampled_from(["a", "query", "time", "event", "token"]), ANYTHING))
def test_plain_is_one_printable_line(fields: dict[str, object]) -> None:
    text = line("plain", fields)
    assert len(text.splitlines()) == 1
    text.encode("utf-8")
