"""Do the tools for agents' items find, list and change them, with text and scores and no vectors?"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.engine.engine import Engine
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.limits import CallReply
from tests.servers.conftest import make_engine

AGENT = """\
description: For tests
rules:
  # Comments stay.
  - name: Money
    include: agent
    text: Amounts of money are whole cents, never floating point.
  - name: Politeness
    text: Say please.
references:
  - name: Weather
    include: agent
    text: It rains in autumn.
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    agents = tmp_path / "data" / "agents"
    agents.mkdir(parents=True)
    (agents / "mine.yaml").write_text(AGENT)
    return tmp_path


@pytest.fixture
def engine(base: Path) -> Iterator[Engine]:
    made = make_engine(base)
    yield made
    made.close()


def call(engine: Engine, tool: str, **arguments: object) -> CallReply:
    return Toolbox(engine, Standpoint()).call(tool, {"agentName": "mine", **arguments})


def structured(reply: CallReply) -> dict[str, list[dict[str, object]]]:
    assert reply.error is None, reply.parts[0].text
    assert reply.structured is not None
    return reply.structured


def test_a_search_gives_text_and_score(engine: Engine) -> None:
    reply = call(engine, "search_items", query="store the price as a float amount of money?")
    items = {str(item["name"]): item for item in structured(reply)["items"]}
    assert "whole cents" in str(items["Money"]["text"])
    assert float(str(items["Money"]["similarityScore"])) > 0
    assert items["Politeness"]["includeMode"] == "always"
    assert "rule Money [agent " in reply.parts[0].text
    assert "vector" not in json.dumps(reply.structured)


def test_a_search_can_be_of_one_kind(engine: Engine) -> None:
    reply = call(engine, "search_items", query="autumn rain weather", type="reference")
    assert {item["type"] for item in structured(reply)["items"]} <= {"reference"}


def test_items_are_listed_in_short_and_one_whole(engine: Engine) -> None:
    listed = structured(call(engine, "list_items"))["items"]
    assert [item["name"] for item in listed] == ["Money", "Politeness", "Weather"]
    assert all("text" not in item for item in listed)
    (one,) = structured(call(engine, "list_items", name="Weather"))["items"]
    assert one["text"] == "It rains in autumn."


def test_a_rule_is_added_changed_switched_and_removed(engine: Engine, base: Path) -> None:
    file = base / "data" / "agents" / "mine.yaml"
    rule = {"type": "rule", "name": "Dates"}
    call(engine, "edit_item", action="add", text="UTC.", include="agent", **rule)
    assert "name: Dates" in file.read_text()
    (changed,) = structured(
        call(engine, "edit_item", action="update", text="UTC only.", priority=7, **rule)
    )["items"]
    assert (changed["text"], changed["priority"], changed["include"]) == ("UTC only.", 7, "agent")
    (off,) = structured(call(engine, "edit_item", action="disable", **rule))["items"]
    assert off["enabled"] is False
    assert structured(call(engine, "edit_item", action="remove", **rule))["items"] == []
    assert file.read_text().rstrip() == AGENT.rstrip()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"action": "add", "type": "rule", "name": "X"}, "needs a text"),
        ({"action": "add", "type": "rule", "name": "Money", "text": "x"}, "Money"),
        ({"action": "update", "type": "rule", "name": "X", "text": "x"}, "add it instead"),
        ({"action": "update", "type": "rule", "name": "Money"}, "changes nothing"),
        ({"action": "remove", "type": "reference", "name": "Money"}, "there are: Weather"),
    ],
)
def test_what_cannot_be_done_changes_nothing(
    engine: Engine, base: Path, arguments: dict[str, object], words: str
) -> None:
    reply = call(engine, "edit_item", **arguments)
    assert reply.error is not None
    assert words in reply.parts[0].text
    assert (base / "data" / "agents" / "mine.yaml").read_text() == AGENT


def test_the_agent_that_comes_with_us_is_not_changed(engine: Engine) -> None:
    given = {"action": "remove", "type": "rule", "name": "Name the place", "agentName": "reader"}
    reply = Toolbox(engine, Standpoint()).call("edit_item", given)
    assert reply.error is not None
    assert "comes with Asterism" in reply.parts[0].text


def test_an_unknown_agent_is_an_error_that_names_the_known(engine: Engine, base: Path) -> None:
    shutil.rmtree(base / "data" / "agents")
    reply = call(engine, "list_items")
    assert reply.error is not None
    assert "there are: reader" in reply.parts[0].text
