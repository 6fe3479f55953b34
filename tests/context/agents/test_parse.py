"""Agents' files: what they say, and everything that is wrong with them at once."""

import pytest

from asterism.context.agents.nodes import AgentInvalid
from asterism.context.agents.parse import problems_of, read_agent
from asterism.types.agent_settings import Permission
from asterism.types.context import (
    FromEnvironment,
    Include,
    Reference,
    Rule,
    ToolChoice,
    ToolKey,
)

WHOLE = """\
version: 1
description: Helps with the shop
systemPrompt: |
  You help.
settings:
  preset: aggressive
  contextTopN: 4
  tools:
    contextTopN: 8
rules:
  - name: Errors
    description: About errors
    priority: 700
    include: agent
    text: |
      Catch little.
  - {name: Off, text: x, enabled: false}
references:
  - name: Api
    text: "The API."
servers:
  - name: files
    command: npx
    args: [-y, files, --token=env:TOK, --api-key, env:KEY]
    environment: {LOG: debug, API_KEY: env:API_KEY}
    include: agent
    permission: always
    tools:
      read_file: always
      write_file: {permission: ask, expandResults: false}
  - name: web
    url: https://tools.example/mcp
    headers: {Authorization: Bearer env:WEB}
    enabled: false
toolRules:
  files.read_file: [files.write_file, web.fetch]
  files.write_file: files.read_file
"""


def test_a_whole_file() -> None:
    agent = read_agent("shop", WHOLE, "shop.yaml")
    assert (agent.name, agent.description, agent.system_prompt) == (
        "shop",
        "Helps with the shop",
        "You help.\n",
    )
    assert dict(agent.settings) == {
        "preset": "aggressive",
        "contextTopN": 4,
        "tools.contextTopN": 8,
    }
    assert agent.rules == (
        Rule(
            name="Errors",
            description="About errors",
            priority=700,
            include=Include.agent,
            text="Catch little.\n",
        ),
        Rule(name="Off", text="x", enabled=False),
    )
    assert agent.references == (Reference(name="Api", text="The API."),)
    files, web = agent.servers
    assert files.args == (
        "-y",
        "files",
        FromEnvironment("TOK", "--token="),
        "--api-key",
        FromEnvironment("KEY"),
    )
    assert dict(files.environment) == {"LOG": "debug", "API_KEY": FromEnvironment("API_KEY")}
    assert (files.include, files.permission) == (Include.agent, Permission.always)
    assert files.tools == (
        ToolChoice(name="read_file", include=Include.always),
        ToolChoice(name="write_file", permission=Permission.ask, expand_results=False),
    )
    assert dict(web.headers) == {"Authorization": FromEnvironment("WEB", "Bearer ")}
    assert not web.enabled
    assert dict(agent.tool_rules) == {
        ToolKey("files", "read_file"): (ToolKey("files", "write_file"), ToolKey("web", "fetch")),
        ToolKey("files", "write_file"): (ToolKey("files", "read_file"),),
    }


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "rules:\nreferences:\nsettings:\n"])
def test_little_is_enough(text: str) -> None:
    assert read_agent("a", text, "a.yaml").rules == ()


def test_all_problems_are_told_at_once_with_line_and_key() -> None:
    text = """\
description: [1]
sytemPrompt: x
settings: {contextTopN: -1, contextTopX: 2, tools: {preset: wild, maxChatTurns: 3}}
rules:
  - name: A
    include: sometimes
    text: ""
  - name: a
    priority: 1000
    text: x
    enabled: "yes"
  - just text
servers:
  - name: x.y
    url: https://u:p@host
    headers: {Authorization: Bearer abc}
    args: [--token, abc, --key=abc]
  - command: a
toolRules: {z.y: [q]}
rules: []
"""
    with pytest.raises(AgentInvalid) as caught:
        read_agent("a", text, "a.yaml")
    assert [(problem.line, problem.key) for problem in caught.value.problems] == [
        (1, "description"),
        (2, "sytemPrompt"),
        (3, "settings.contextTopN"),
        (3, "settings.contextTopX"),
        (3, "settings.tools.maxChatTurns"),
        (3, "settings.tools.preset"),
        (6, "rules[1].include"),
        (7, "rules[1].text"),
        (8, "rules[2].name"),
        (9, "rules[2].priority"),
        (11, "rules[2].enabled"),
        (12, "rules[3]"),
        (14, "servers[1].name"),
        (15, "servers[1].url"),
        (16, "servers[1].headers.Authorization"),
        (17, "servers[1].args[2]"),
        (17, "servers[1].args[3]"),
        (18, "servers[2].name"),
        (19, "toolRules.z.y"),
        (19, "toolRules.z.y"),
        (20, "rules"),
    ]
    message = str(caught.value)
    assert message.startswith("a.yaml has 21 problems:\n  line 1, description: ")
    for told in (
        "did you mean systemPrompt?",
        "give a whole number from 0 to 200",
        "'sometimes' is not allowed; give one of always, manual, agent",
        "there are two with the name 'a'",
        "write env:VARIABLE",
        "twice; the first is on line 4",
    ):
        assert told in message
    assert "abc" not in message


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("a: [", 1, "no YAML"),
        ("rules:\n- name: A\n text: x\n", 3, "no YAML"),
        ("a:\n\tb: 1", 2, "no YAML"),
        ("description: a: b", 1, "no YAML"),
        ("description: \x00", 1, "no YAML"),
        ("description: x\n---\ndescription: y", 2, "no YAML"),
        ("- 1", 1, "keys and values"),
        ("only words", 1, "keys and values"),
        ("a: &x [1]\nb: *x", 1, "aliases"),
        ("rules: *x", 1, "no YAML"),
        ("a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]", 1, "aliases"),
        ("<<: {description: x}", 1, "no such key"),
        ("description: !!python/object:os.system x", 1, "not read"),
        ("rules: !mine []", 1, "not read"),
        ("{a: " * 5000, 1, "levels deep"),
        ("a: " + "[" * 30 + "]" * 30, 1, "levels deep"),
        ("? [a]\n: b", 1, "no key"),
        ("1: b", 1, "no key"),
        ("version: 2", 1, "newer"),
        ('description: "\\ud800"', 1, "half a character"),
        ("description: 5", 1, "put it in quotes"),
        ("rules: {a: b}", 1, "a list is wanted"),
        ("rules:\n- text: x", 2, "needs a name"),
        ("rules:\n- name: ''\n  text: x", 2, "needs a name"),
        ("rules:\n- name: |\n    a\n    b\n  text: x", 2, "one line"),
        (f"rules:\n- name: {'n' * 101}\n  text: x", 2, "longer than 100"),
        ("rules:\n- name: A", 2, "no text"),
        ("rules:\n- name: A\n  text: '  '", 3, "no text"),
        ("rules:\n- name: A\n  text:", 3, "no text"),
        ("servers:\n- name: a\n  command: x\n  url: https://y", 2, "either command or url"),
        ("servers:\n- name: a", 2, "either command or url"),
        ("servers:\n- name: a\n  url: ftp://y", 3, "http://"),
        ("servers:\n- name: a\n  url: 'http://[y'", 3, "http://"),
        ("servers:\n- name: a\n  command: x\n  environment: {A: 1}", 4, "put it in quotes"),
        ("servers:\n- name: a\n  command: x\n  environment: {A: 'env:'}", 4, "env:TOKEN"),
        ("servers:\n- name: a\n  command: x\n  environment: {A: ghp_abc}", 4, "secrets"),
        ("servers:\n- name: a\n  command: x\n  environment: {MY_TOKEN: abc}", 4, "secrets"),
        ("servers:\n- name: a\n  command: x\n  tools: {t: maybe}", 4, "always, manual, agent"),
        ("toolRules: {a.b: c.d}", 1, "the file has no servers"),
    ],
)
def test_what_is_wrong(text: str, line: int, told: str) -> None:
    found = problems_of(text)
    assert [(problem.line, told in problem.message) for problem in found[:1]] == [(line, True)], (
        found
    )


def test_a_million_characters_and_more_aliases_than_memory() -> None:
    long = "\n".join("    " + "lorem ipsum dolor sit amet. " * 4 for _line in range(9_000))
    agent = read_agent("a", f"references:\n- name: big\n  text: |\n{long}\n", "a.yaml")
    assert len(agent.references[0].text) > 1_000_000
    bomb = "a0: &a0 [x, x, x]\n" + "".join(
        f"a{at}: &a{at} [*a{at - 1}, *a{at - 1}, *a{at - 1}]\n" for at in range(1, 60)
    )
    assert "aliases" in problems_of(bomb)[0].message


def test_very_many_problems_are_counted() -> None:
    text = "rules:\n" + "- x\n" * 500
    with pytest.raises(AgentInvalid, match="and 450 more"):
        read_agent("a", text, "a.yaml")
