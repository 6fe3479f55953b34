"""Edits of agents' files by command keep comments, order and everything else."""

from collections.abc import Callable
from difflib import ndiff

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.context.agents.edit import (
    add_item,
    enable,
    enable_item,
    new_agent_text,
    remove_item,
    replace_item,
    set_key,
    set_setting,
)
from asterism.context.agents.parse import read_agent
from asterism.types.context import Include, Reference, Rule
from asterism.types.errors import AsterismError

AGENT = """\
# Who answers in the shop.
description: Helps with the shop   # one line
systemPrompt: |  # spoken to the model
  You help.

  # This is no comment.

# What is chosen.
settings:
  contextTopN: 4  # few
  # tools are many
  tools:
    contextTopN: 8

rules:
  # the first rule
  - name: Errors
    description: about errors
    # why so high: it matters
    priority: 700
    text: |
      Catch only what you can handle.

      Say what to do next.
  # the second rule
  - name: "Names: short"   # quoted
    text: 'One word.'  # said briefly

# nothing looked up so far
references: []
servers:
- name: files
  command: npx
  args: [-y, "files"]  # as its page says
# the end
"""


def changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that went, and those that came, blank ones aside."""
    lines = [line for line in ndiff(before.split("\n"), after.split("\n")) if line[2:].strip()]
    gone = [line[2:] for line in lines if line.startswith("- ")]
    return gone, [line[2:] for line in lines if line.startswith("+ ")]


@pytest.mark.parametrize(
    ("edit", "gone", "come"),
    [
        (
            lambda text: set_key(text, "description", "Other"),
            ["description: Helps with the shop   # one line"],
            ["description: Other   # one line"],
        ),
        (
            lambda text: set_key(text, "systemPrompt", "Short."),
            ["systemPrompt: |  # spoken to the model", "  You help.", "  # This is no comment."],
            ["systemPrompt: Short.  # spoken to the model"],
        ),
        (
            lambda text: set_key(text, "rules.Errors.priority", 900),
            ["    priority: 700"],
            ["    priority: 900"],
        ),
        (
            lambda text: set_key(text, "rules.Names: short.text", "Two\nwords.\n"),
            ["    text: 'One word.'  # said briefly"],
            ["    text: |  # said briefly", "      Two", "      words."],
        ),
        (
            lambda text: set_key(text, "rules.Errors.include", "agent"),
            [],
            ["    include: agent"],
        ),
        (
            lambda text: set_key(text, "rules.Errors.priority", None),
            ["    priority: 700"],
            [],
        ),
        (
            lambda text: set_setting(text, "contextTopN", 6),
            ["  contextTopN: 4  # few"],
            ["  contextTopN: 6  # few"],
        ),
        (
            lambda text: set_setting(text, "tools.contextTopN", 9),
            ["    contextTopN: 8"],
            ["    contextTopN: 9"],
        ),
        (
            lambda text: set_setting(text, "texts.contextIncludeScore", 0.8),
            [],
            ["  texts:", "    contextIncludeScore: 0.8"],
        ),
        (
            lambda text: set_setting(text, "tools.contextTopN", None),
            ["  tools:", "    contextTopN: 8"],
            [],
        ),
        (lambda text: set_setting(text, "maxChatTurns", None), [], []),
        (lambda text: enable(text, False), [], ["enabled: false"]),
        (
            lambda text: enable_item(text, "server", "files", False),
            [],
            ["  enabled: false"],
        ),
        (
            lambda text: set_key(text, "servers.files.args", ["-y", "other"]),
            ['  args: [-y, "files"]  # as its page says'],
            ["  args:  # as its page says", "    - -y", "    - other"],
        ),
        (
            lambda text: add_item(text, Rule(name="Tests", text="Write one.\nOr two.\n")),
            [],
            ["  - name: Tests", "    text: |", "      Write one.", "      Or two."],
        ),
        (
            lambda text: add_item(
                text, Reference(name="Api", text="one", priority=1, include=Include.agent)
            ),
            ["references: []"],
            [
                "references:",
                "  - name: Api",
                "    priority: 1",
                "    include: agent",
                "    text: one",
            ],
        ),
        (
            lambda text: remove_item(text, "rule", "Errors"),
            [
                "  - name: Errors",
                "    description: about errors",
                "    # why so high: it matters",
                "    priority: 700",
                "    text: |",
                "      Catch only what you can handle.",
                "      Say what to do next.",
            ],
            [],
        ),
        (
            lambda text: remove_item(text, "rule", "Names: short"),
            ['  - name: "Names: short"   # quoted', "    text: 'One word.'  # said briefly"],
            [],
        ),
        (
            lambda text: replace_item(
                text, "Errors", Rule(name="Faults", text="Catch little.", priority=700)
            ),
            [
                "  - name: Errors",
                "    description: about errors",
                "    text: |",
                "      Catch only what you can handle.",
                "      Say what to do next.",
            ],
            ["  - name: Faults", "    description: ''", "    text: Catch little."],
        ),
        (
            lambda text: set_key(text, "toolRules.files.read_file", ["files.write_file"]),
            [],
            ["toolRules:", "  files.read_file:", "    - files.write_file"],
        ),
    ],
)
def test_only_what_is_meant_changes(
    edit: Callable[[str], str], gone: list[str], come: list[str]
) -> None:
    after = edit(AGENT)
    assert changed(AGENT, after) == (gone, come)
    read_agent("shop", after, "shop.yaml")


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        (
            "rules:\n  - {name: B, text: 'x: y'}  # short\n",
            lambda text: enable_item(text, "rule", "B", False),
            "rules:\n  - {name: B, text: 'x: y', enabled: false}  # short\n",
        ),
        (
            "rules: [{name: B, text: x}]  # short\n",
            lambda text: set_key(text, "rules.B.text", "two\nlines"),
            'rules: [{name: B, text: "two\\nlines"}]  # short\n',
        ),
        (
            "settings: {contextTopN: 3, tools: {contextTopK: 9}}  # few\n",
            lambda text: set_setting(text, "tools.contextTopK", None),
            "settings: {contextTopN: 3}  # few\n",
        ),
        (
            "settings: {}\n",
            lambda text: set_setting(text, "contextTopN", 2),
            "settings: {contextTopN: 2}\n",
        ),
        (
            "servers:\n- {name: s, command: c, environment: {A: b}}\n",
            lambda text: set_key(text, "servers.s.environment.T", "env:T"),
            "servers:\n- {name: s, command: c, environment: {A: b, T: env:T}}\n",
        ),
    ],
)
def test_a_value_in_brackets_stays_there(
    text: str, edit: Callable[[str], str], expected: str
) -> None:
    assert edit(text) == expected


def test_the_last_item_of_a_list_leaves_an_empty_list() -> None:
    text = "rules:\n  - name: A\n    text: x\n# end\n"
    assert remove_item(text, "rule", "A") == "rules: []\n# end\n"


def test_a_file_without_a_newline_at_its_end_is_continued_on_a_new_line() -> None:
    text = "description: x"
    assert enable(text, False) == "description: x\nenabled: false\n"
    assert add_item("rules:\n- name: A\n  text: |\n    x", Rule(name="B", text="y")) == (
        "rules:\n- name: A\n  text: |\n    x\n- name: B\n  text: y\n"
    )


def test_a_new_agent_reads_back() -> None:
    text = new_agent_text("For the shop: all of it", "You help.\nAlways.")
    agent = read_agent("shop", text, "shop.yaml")
    assert (agent.description, agent.system_prompt) == (
        "For the shop: all of it",
        "You help.\nAlways.\n",
    )
    assert "systemPrompt: |\n" in text


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        # A comment would be lost with what is replaced.
        (
            "servers:\n- name: a\n  command: x\n  args:\n  # why\n  - y\n",
            lambda text: set_key(text, "servers.a.args", ["z"]),
        ),
        # The dash stands alone.
        (
            "rules:\n-\n  name: A\n  text: x\n- name: B\n  text: y\n",
            lambda text: remove_item(text, "rule", "A"),
        ),
        ("rules: [\n", lambda text: enable(text, True)),
        ("description: x\n", lambda text: set_key(text, "rules.A.text", "y")),
        ("description: x\n", lambda text: set_key(text, "colour", "red")),
        ("description: x\n", lambda text: set_setting(text, "contextTopN", -1)),
        ("description: x\n", lambda text: remove_item(text, "rule", "A")),
        ("description: \x85 x\n", lambda text: enable(text, True)),
    ],
)
def test_what_cannot_be_done_without_loss_is_refused(text: str, edit: Callable[[str], str]) -> None:
    with pytest.raises(AsterismError):
        edit(text)


_LINES = st.text(
    st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029\ufeff"), max_size=12
)


@settings(max_examples=100, deadline=None)
@given(st.lists(_LINES, min_size=1, max_size=4).map("\n".join), st.integers(0, 999))
def test_any_text_can_be_set_and_no_comment_is_lost(value: str, priority: int) -> None:
    text = set_key(AGENT, "rules.Errors.text", f"x{value}")
    text = set_key(text, "rules.Names: short.priority", priority)
    agent = read_agent("shop", text, "shop.yaml")
    assert agent.rules[0].text == f"x{value}"
    assert agent.rules[1].priority == priority
    comments = [line.strip() for line in AGENT.split("\n") if "#" in line]
    kept = [line.strip() for line in text.split("\n")]
    assert [comment for comment in comments if comment not in kept] == []
