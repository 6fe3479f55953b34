"""Do sessions go from agent to request, survive the process, and replay what was sent?"""

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.config.model_sections import EmbeddingSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.sessions import Sessions
from asterism.engine.stores import DataDirectories
from asterism.types.context import ReferenceKey, RuleKey, ToolKey
from asterism.types.errors import UsageError

FAKE = Path(__file__).parents[1] / "toolservers" / "fake_server.py"
# The flow of the documentation: A and X always, B by hand, C and Y where they matter.
AGENT = f"""\
systemPrompt: You help.
rules:
  - name: A
    text: Be brief.
  - name: B
    include: manual
    text: Mention the ticket.
  - name: C
    description: Authentication, logging in, passwords
    include: agent
    text: Users authenticate with a password and a second factor.
references:
  - name: X
    text: The handbook.
  - name: Y
    description: Error handling, exceptions
    include: agent
    text: Errors are handled at the outer edge and told in one sentence.
servers:
  - name: fake
    command: {json.dumps(sys.executable)}
    args: [{json.dumps(str(FAKE))}, ok]
    permission: always
settings:
  contextTopN: 1
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    agents = tmp_path / "data" / "agents"
    agents.mkdir(parents=True)
    (agents / "flow.yaml").write_text(AGENT)
    return tmp_path


def engine_of(base: Path) -> Engine:
    return Engine(DataDirectories(base / "data", base / "cache"), lambda _root: Settings())


@pytest.fixture
def engine(base: Path) -> Iterator[Engine]:
    with closing(engine_of(base)) as made:
        yield made


@pytest.fixture
def sessions(engine: Engine) -> Sessions:
    return Sessions(engine.agents(), connect=False)


def given(sessions: Sessions, message: str, session: str) -> dict[str, str]:
    built = sessions.request(message, session).built
    return {str(item.key): str(item.mode) for item in built.context.items}


def test_the_flow_from_agent_to_request(sessions: Sessions) -> None:
    session = sessions.add(sessions.new("flow").id, ["rule:B"])
    assert [f"{held.key} {held.mode}" for held in session.items] == [
        "rule:A always",
        "ref:X always",
        "rule:B manual",
    ]
    held = {"rule:A": "always", "rule:B": "manual", "ref:X": "always"}
    assert given(sessions, "How do I authenticate?", session.id) == {**held, "rule:C": "agent"}
    wanted = {**held, "ref:Y": "agent"}
    assert given(sessions, "What's the error handling?", session.id) == wanted


def test_a_request_in_no_session_has_what_a_new_one_has(sessions: Sessions) -> None:
    asked = sessions.request("hm, @rule:B", agent="flow")
    assert asked.session is None
    assert [str(key) for key in asked.added] == ["rule:B"]
    assert RuleKey("B") in {item.key for item in asked.built.context.items}
    assert sessions.list() == ()


def test_mentions_stay_in_the_session(sessions: Sessions) -> None:
    id_ = sessions.new("flow").id
    assert sessions.request("mind @rule:b please", id_).added == (RuleKey("B"),)
    assert sessions.get(id_).holds(RuleKey("B"))
    assert sessions.request("and @ref:nothing", id_).notes == (
        "The agent has no item @ref:nothing.",
    )


def test_a_session_is_found_by_the_next_process(base: Path) -> None:
    with closing(engine_of(base)) as first:
        sessions = Sessions(first.agents(), connect=False)
        id_ = sessions.new("flow", "Refunds").id
        sessions.set(id_, {"contextTopN": 0})
    with closing(engine_of(base)) as second:
        sessions = Sessions(second.agents(), connect=False)
        (listed,) = sessions.list("flow")
        assert (listed.id, listed.title, listed.items) == (id_, "Refunds", 2)
        # The session's own value counts, not the agent's.
        assert "rule:C" not in given(sessions, "How do I authenticate?", id_)


def test_a_session_keeps_what_it_inherited(sessions: Sessions, base: Path) -> None:
    id_ = sessions.new("flow").id
    file = base / "data" / "agents" / "flow.yaml"
    file.write_text(AGENT.replace("contextTopN: 1", "contextTopN: 0"))
    assert "rule:C" in given(sessions, "How do I authenticate?", id_)
    assert "rule:C" not in given(sessions, "How do I authenticate?", sessions.new("flow").id)


def test_an_item_that_was_renamed_is_reported(sessions: Sessions, base: Path) -> None:
    id_ = sessions.new("flow").id
    file = base / "data" / "agents" / "flow.yaml"
    file.write_text(AGENT.replace("- name: A", "- name: Brevity"))
    asked = sessions.request("hello", id_)
    assert any("rule:A, which is now called rule:Brevity" in note for note in asked.notes)
    assert "rule:A" in {str(left.key) for left in asked.built.context.left_out}


def test_a_request_is_replayed_as_it_was_sent(sessions: Sessions, base: Path) -> None:
    id_ = sessions.new("flow").id
    asked = sessions.request("How do I authenticate?", id_)
    kept = sessions.keep(asked, asked.built.context, "How do I authenticate?")
    before = sessions.replay(kept)
    assert before.is_exact
    assert before.changes == ()
    assert any("second factor" in message.text for message in before.messages)
    file = base / "data" / "agents" / "flow.yaml"
    file.write_text(AGENT.replace("a second factor", "a fingerprint"))
    after = sessions.replay(kept)
    assert after.messages == before.messages
    assert [(str(change.key), str(change.change)) for change in after.changes] == [
        ("rule:C", "changed")
    ]
    assert [one.id for one in sessions.requests(id_)] == [kept]


def test_what_was_of_use_is_noted(sessions: Sessions) -> None:
    id_ = sessions.new("flow").id
    for _number in range(10):
        asked = sessions.request("How do I authenticate?", id_)
        kept = sessions.keep(asked, asked.built.context, "How do I authenticate?")
        answer = "Users authenticate with a password and a second factor."
        sessions.note_answer(kept, answer, {})
    usage, advice = sessions.usage("flow")
    by_key = {entry.key: entry for entry in usage}
    assert (by_key[RuleKey("C")].sent, by_key[RuleKey("C")].cited) == (10, 10)
    assert by_key[ReferenceKey("X")].cited == 0
    assert any(sentence.startswith("ref:X was sent 10 times") for sentence in advice)
    assert any(sentence.startswith("ref:Y was in none of 10") for sentence in advice)
    assert len(list(sessions.uses("flow"))) == 30


def test_a_deleted_session_is_gone(sessions: Sessions) -> None:
    id_ = sessions.new("flow").id
    sessions.delete(id_)
    with pytest.raises(UsageError):
        sessions.get(id_)


def test_what_items_said_goes_with_the_last_request_that_names_it(
    sessions: Sessions, base: Path
) -> None:
    ids = [sessions.new("flow").id for _number in range(2)]
    for id_, message in zip(ids, ("How do I authenticate?", "hm"), strict=True):
        asked = sessions.request(message, id_)
        sessions.keep(asked, asked.built.context, message)
    contents = base / "data" / "contents"
    before = {path.name for path in contents.glob("*/*")}
    sessions.delete(ids[0])
    left = {path.name for path in contents.glob("*/*")}
    # The rule that only the first request was given is gone; what both were given is there.
    assert len(before) - len(left) == 1
    sessions.delete(ids[1])
    assert not list(contents.glob("*/*"))


def test_tools_of_servers_take_part(engine: Engine) -> None:
    sessions = Sessions(engine.agents())
    session = sessions.new("flow")
    tool = ToolKey("fake", "echo")
    assert session.holds(tool)
    asked = sessions.request("hello", session.id)
    assert tool in {item.key for item in asked.built.context.items}
    result = engine.agents().call(asked.ready.agent, tool, {"text": "hi"})
    assert result.text == "hi"


def test_a_replay_without_servers_has_the_tools_as_they_were(engine: Engine) -> None:
    sessions = Sessions(engine.agents())
    asked = sessions.request("hello", agent="flow")
    kept = sessions.keep(asked, asked.built.context, "hello")
    again = Sessions(engine.agents(), connect=False).replay(kept)
    assert [tool.name for tool in again.tools] == ["fake__echo"]
    assert again.changes == ()


def test_a_server_that_is_not_there_is_said(engine: Engine, base: Path) -> None:
    file = base / "data" / "agents" / "flow.yaml"
    file.write_text(AGENT.replace(json.dumps(sys.executable), "no-such-program-at-all"))
    sessions = Sessions(engine.agents())
    asked = sessions.request("hello", agent="flow")
    assert any("fake" in note and "no-such-program" in note for note in asked.built.context.notes)


def test_a_session_can_be_of_an_agent_that_is_gone(sessions: Sessions, base: Path) -> None:
    session = sessions.new("flow")
    (base / "data" / "agents" / "flow.yaml").unlink()
    assert sessions.get(session.id) == replace(session, updated=sessions.get(session.id).updated)
    sessions.delete(session.id)


@pytest.mark.parametrize("after", [None, "rules: [", f"enabled: false\n{AGENT}"])
def test_a_request_is_replayed_whatever_became_of_its_agent(
    sessions: Sessions, base: Path, after: str | None
) -> None:
    asked = sessions.request("How do I authenticate?", agent="flow")
    kept = sessions.keep(asked, asked.built.context, "How do I authenticate?")
    before = sessions.replay(kept)
    file = base / "data" / "agents" / "flow.yaml"
    if after is None:
        file.unlink()
    else:
        file.write_text(after)
    again = sessions.replay(kept)
    assert again.messages == before.messages
    assert again.is_exact
    is_usable = after is not None and "systemPrompt" in after
    assert bool(again.changes) is bool(again.note) is not is_usable
    usage, _advice = sessions.usage("flow")
    assert {str(entry.key) for entry in usage} >= {"rule:A", "rule:C"}


@pytest.mark.parametrize("included", [True, False])
def test_a_request_goes_on_without_a_model(base: Path, included: bool) -> None:
    """A key is missing, which is only said where something could have been chosen."""
    if not included:
        file = base / "data" / "agents" / "flow.yaml"
        file.write_text(AGENT.replace("include: agent", "include: manual"))
    settings = Settings(embedding=EmbeddingSettings(provider="voyage"))
    engine = Engine(DataDirectories(base / "data", base / "cache"), lambda _root: settings)
    with closing(engine):
        sessions = Sessions(engine.agents(), connect=False)
        context = sessions.request("How do I authenticate?", agent="flow").built.context
    assert [str(item.key) for item in context.items] == ["rule:A", "ref:X"]
    assert any("wants a key" in note for note in context.notes) is included
