"""Does a session begin from its agent, change by hand and by mention, and tell what is gone?"""

from dataclasses import replace

import pytest

from asterism.context.sessions import (
    add,
    items_of,
    mentioned,
    missing,
    new_session,
    remove,
    with_settings,
)
from asterism.types.agent_settings import settings_of
from asterism.types.context import Agent, Include, Reference, Rule, Server, Tool, ToolChoice
from asterism.types.errors import UsageError
from asterism.types.sessions import Session

AGENT = Agent(
    name="guide",
    rules=(
        Rule(name="A", text="First."),
        Rule(name="B", text="Second.", include=Include.manual),
        Rule(name="C", text="Third.", include=Include.agent),
        Rule(name="Off", text="Never.", enabled=False),
    ),
    references=(
        Reference(name="X", text="Ex."),
        Reference(name="Y", text="Why.", include=Include.agent),
    ),
    servers=(
        Server(
            name="web",
            command="web",
            include=Include.agent,
            tools=(ToolChoice(name="fetch", include=Include.always),),
        ),
        Server(name="shell", command="shell"),
    ),
)
TOOLS = (
    Tool(server="web", name="fetch", description="Fetch a page"),
    Tool(server="web", name="post"),
    Tool(server="shell", name="run"),
)
ITEMS = items_of(AGENT, TOOLS)


def held(session: Session) -> list[str]:
    return [f"{item.key} {item.mode}" for item in session.items]


@pytest.fixture
def session() -> Session:
    return new_session(AGENT, TOOLS, "s1", 5.0)


def test_a_session_begins_with_what_always_comes(session: Session) -> None:
    # A tool's own mode, else its server's, else always.
    assert held(session) == [
        "rule:A always",
        "ref:X always",
        "tool:shell.run always",
        "tool:web.fetch always",
    ]
    assert (session.agent, session.created, session.updated) == ("guide", 5.0, 5.0)


def test_items_are_added_and_removed_by_hand(session: Session) -> None:
    session = add(session, ITEMS, "rule:B")
    session = add(session, ITEMS, "Y")
    assert held(session)[-2:] == ["rule:B manual", "ref:Y manual"]
    session = remove(session, "rule:A")
    assert "rule:A always" not in held(session)
    assert all(key in {item.key for item in session.items} for key in session.contents)


def test_what_is_there_stays_as_it_is(session: Session) -> None:
    assert add(session, ITEMS, "rule:A") == session


@pytest.mark.parametrize(
    ("written", "hint"),
    [("rule:Zebra", "no item rule:Zebra"), ("rule:Ofg", "rule:Off"), ("web.fetsh", "web.fetch")],
)
def test_an_unknown_item_is_an_error_with_a_hint(session: Session, written: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        add(session, ITEMS, written)


def test_removing_what_is_not_held_says_what_is(session: Session) -> None:
    with pytest.raises(UsageError, match="it holds rule:A, ref:X"):
        remove(session, "rule:B")


def test_mentions_add_to_the_session(session: Session) -> None:
    found = mentioned(session, ITEMS, "Mind @rule:B and @rule:A; and @ref:Z, will you?")
    assert held(found.session)[-1] == "rule:B manual"
    assert [str(key) for key in found.added] == ["rule:B"]
    assert found.notes == ("The agent has no item @ref:Z. Did you mean ref:Y, ref:X?",)


def test_settings_override_the_agents_and_can_be_taken_back(session: Session) -> None:
    changed = with_settings(session, {"contextTopN": 2, "tools.preset": "aggressive"})
    resolved = settings_of({"contextTopN": 7, "temperature": 0.1}, changed.settings)
    assert (resolved.texts.top_n, resolved.tools.top_n, resolved.temperature) == (2, 10, 0.1)
    back = with_settings(changed, {"contextTopN": None})
    assert dict(back.settings) == {"tools.preset": "aggressive"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"contextTopM": 1}, "did you mean contextTop"),
        ({"contextTopN": -1}, "from 0 to 200"),
        ({"contextTopN": "5"}, "whole number"),
        ({"toolPermission": "sometimes"}, "one of always, never, ask"),
    ],
)
def test_a_bad_setting_is_an_error(
    session: Session, changes: dict[str, object], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        with_settings(session, changes)


def test_an_item_that_was_renamed_is_reported(session: Session) -> None:
    renamed = replace(AGENT, rules=(replace(AGENT.rules[0], name="A2"), *AGENT.rules[1:]))
    (found,) = missing(session, items_of(renamed, TOOLS))
    assert str(found.renamed_to) == "rule:A2"
    assert "now called rule:A2" in found.sentence


def test_an_item_that_is_gone_is_reported(session: Session) -> None:
    (found,) = missing(session, items_of(replace(AGENT, references=()), TOOLS))
    assert (str(found.key), found.renamed_to) == ("ref:X", None)
    assert "has no more" in found.sentence


def test_a_tool_of_a_server_that_is_down_is_not_gone(session: Session) -> None:
    without = items_of(AGENT, TOOLS[:2])
    assert [str(entry.key) for entry in missing(session, without)] == ["tool:shell.run"]
    assert missing(session, without, ["shell"]) == ()
