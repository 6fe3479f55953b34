"""A request's context: what the session holds, what is chosen, what goes with it, in order."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.context.items import columns, first_items
from asterism.context.request import Built, Chooser, ContextInput, build_request, extend_by_result
from asterism.context.vectors import ItemIndex
from asterism.models.embed.cache import NoCache
from asterism.models.embed.static import StaticEmbedder
from asterism.types.agent_settings import Permission
from asterism.types.context import (
    Agent,
    Include,
    ItemKey,
    ItemKind,
    LeftOutReason,
    Reference,
    ReferenceKey,
    RequestContext,
    RequestMode,
    Rule,
    RuleKey,
    Server,
    SessionItem,
    SessionMode,
    Tool,
    ToolChoice,
    ToolKey,
    key_from_text,
)
from tests.context.spoken import Measured, Taught, near

MANUAL: SessionMode = RequestMode.manual
AUTH, ERRORS = "How do I authenticate?", "What's the error handling?"


def chooser_of(vectors: dict[str, list[float]], *, down: bool = False) -> Chooser:
    """A chooser whose model was taught."""
    return Chooser(index=ItemIndex(Taught(vectors, down=down), NoCache()))


def given(context: RequestContext) -> dict[str, str]:
    """Names to modes."""
    return {str(item.key): str(item.mode) for item in context.items}


def reasons(context: RequestContext) -> dict[str, LeftOutReason]:
    """Names of what was left out to reasons."""
    return {str(entry.key): entry.reason for entry in context.left_out}


def rule(name: str, include: Include, text: str = "", priority: int = 500) -> Rule:
    return Rule(name=name, text=text or f"text of {name}", include=include, priority=priority)


FLOW = Agent(
    name="flow",
    rules=(
        rule("A", Include.always),
        rule("B", Include.manual),
        rule("C", Include.agent),
    ),
    references=(
        Reference(name="X", text="text of X"),
        Reference(name="Y", text="text of Y", include=Include.agent),
    ),
)
FLOW_VECTORS = {
    AUTH: near(0, 1.0),
    ERRORS: near(1, 1.0),
    "text of C": near(0, 0.92),
    "text of Y": near(1, 0.87),
}


def test_the_flow_from_agent_to_session_to_requests() -> None:
    session = first_items(FLOW, ())
    assert [(str(item.key), str(item.mode)) for item in session] == [
        ("rule:A", "always"),
        ("ref:X", "always"),
    ]
    session = (*session, SessionItem(RuleKey("B"), MANUAL))
    held = {"rule:A": "always", "rule:B": "manual", "ref:X": "always"}
    chooser = chooser_of(FLOW_VECTORS)

    first = build_request(ContextInput(agent=FLOW, message=AUTH, session=session), chooser).context
    assert given(first) == held | {"rule:C": "agent"}
    chosen = next(item for item in first.items if item.mode is RequestMode.agent)
    assert round(chosen.score or 0, 2) == 0.92

    second = build_request(
        ContextInput(agent=FLOW, message=ERRORS, session=session), chooser
    ).context
    assert given(second) == held | {"ref:Y": "agent"}
    assert {item.key for item in session} <= second.keys()


def test_a_manual_item_of_any_mode_is_not_chosen_again() -> None:
    session = (SessionItem(RuleKey("C"), MANUAL),)
    context = build_request(
        ContextInput(agent=FLOW, message=AUTH, session=session), chooser_of(FLOW_VECTORS)
    ).context
    assert given(context) == {"rule:C": "manual"}


def test_a_failing_model_leaves_the_session_and_says_so() -> None:
    session = first_items(FLOW, ())
    chooser = chooser_of(FLOW_VECTORS, down=True)
    context = build_request(
        ContextInput(agent=FLOW, message=AUTH, session=session), chooser
    ).context
    assert given(context) == {"rule:A": "always", "ref:X": "always"}
    assert context.notes == (
        "Nothing was chosen by meaning, because that failed: The model is not there. Start it.",
    )


def test_where_a_model_is_missing_another_chooses_and_the_request_says_so() -> None:
    missing = Taught(FLOW_VECTORS, down=True)
    there = chooser_of(FLOW_VECTORS)
    chooser = Chooser(index=ItemIndex(missing, NoCache()), instead=lambda: there)
    asked = ContextInput(agent=FLOW, message=AUTH, session=first_items(FLOW, ()))
    expected = build_request(asked, there).context
    found = build_request(asked, chooser).context
    assert given(found) == given(expected) != {}
    assert found.notes == ("The model is not there. Start it. The built-in model chose instead.",)
    noted = replace(there, notes=("Another one chose.",))
    assert build_request(asked, noted).context.notes == ("Another one chose.",)


def test_nothing_is_said_of_a_model_that_nothing_was_asked_of() -> None:
    agent = Agent(name="a", rules=(rule("r", Include.always),))
    missing = ItemIndex(Taught({}, down=True), NoCache())
    asked = ContextInput(agent=agent, message=AUTH, session=first_items(agent, ()))
    never = Chooser(index=missing, instead=lambda: chooser_of({}), notes=("noted",))
    assert build_request(asked, never).context.notes == ()


TOOLS = (
    Tool(server="files", name="read_file", description="Reads."),
    Tool(server="files", name="write_file", description="Writes."),
    Tool(server="db", name="query", description="Asks."),
    Tool(server="off", name="never_seen", description="Hidden."),
    Tool(server="unknown", name="stray", description="Hidden."),
)
TOOLED = Agent(
    name="tooled",
    servers=(
        Server(
            name="files",
            command="f",
            include=Include.agent,
            tools=(
                ToolChoice(name="read_file", include=Include.always),
                ToolChoice(name="write_file", permission=Permission.never),
            ),
        ),
        Server(name="db", command="d"),
        Server(name="off", command="o", enabled=False),
    ),
)


@pytest.mark.parametrize(
    ("server", "tool", "expected"),
    [
        (Include.agent, Include.manual, Include.manual),
        (Include.agent, None, Include.agent),
        (None, Include.manual, Include.manual),
        (None, None, Include.always),
    ],
)
def test_a_tools_mode_is_its_own_else_its_servers_else_always(
    server: Include | None, tool: Include | None, expected: Include
) -> None:
    choices = (ToolChoice(name="t", include=tool),)
    agent = Agent(name="a", servers=(Server(name="s", command="c", include=server, tools=choices),))
    listed = Tool(server="s", name="t")
    assert agent.include_of(listed) is expected
    assert bool(first_items(agent, (listed,))) is (expected is Include.always)


def test_tools_of_servers_that_are_off_or_unknown_are_not_offered() -> None:
    assert [str(item.key) for item in first_items(TOOLED, TOOLS)] == [
        "tool:db.query",
        "tool:files.read_file",
    ]


def test_what_may_not_be_called_is_left_out_before_the_search() -> None:
    embedder = Taught({"write_file: Writes.": near(0, 0.99), AUTH: near(0, 1.0)})
    chooser = Chooser(index=ItemIndex(embedder, NoCache()))
    context = build_request(ContextInput(agent=TOOLED, message=AUTH, tools=TOOLS), chooser).context
    assert reasons(context) == {"tool:files.write_file": LeftOutReason.not_allowed}
    assert embedder.batches == []


@pytest.mark.parametrize(
    ("agent", "server", "tool", "session", "expected"),
    [
        (None, None, None, None, Permission.ask),
        ("always", None, None, None, Permission.always),
        ("always", Permission.ask, None, None, Permission.ask),
        ("never", Permission.ask, Permission.always, None, Permission.always),
        (None, None, Permission.always, "ask", Permission.ask),
        (None, None, Permission.always, "never", Permission.never),
        (None, None, Permission.never, "always", Permission.never),
        (None, Permission.never, Permission.ask, "always", Permission.always),
    ],
)
def test_permissions(
    agent: str | None,
    server: Permission | None,
    tool: Permission | None,
    session: str | None,
    expected: Permission,
) -> None:
    choices = (ToolChoice(name="t", permission=tool),)
    made = Agent(
        name="a",
        servers=(Server(name="s", command="c", permission=server, tools=choices),),
        settings={} if agent is None else {"toolPermission": agent},
    )
    layer = {} if session is None else {"toolPermission": session}
    assert made.tool_permission(ToolKey("s", "t"), layer) is expected


@pytest.mark.parametrize(
    ("held", "absent", "reason", "detail"),
    [
        (RuleKey("gone"), {}, LeftOutReason.missing, "the agent's file has none of this name"),
        (RuleKey("off"), {}, LeftOutReason.disabled, ""),
        (ToolKey("off", "x"), {}, LeftOutReason.disabled, ""),
        (ToolKey("db", "x"), {}, LeftOutReason.missing, "it lists no such tool"),
        (ToolKey("db", "x"), {"db": "it hangs"}, LeftOutReason.missing, "it hangs"),
        (ToolKey("none", "x"), {}, LeftOutReason.missing, "the agent has no server none"),
        (ToolKey("files", "write_file"), {}, LeftOutReason.not_allowed, ""),
    ],
)
def test_what_a_session_holds_in_vain_is_named(
    held: ItemKey, absent: dict[str, str], reason: LeftOutReason, detail: str
) -> None:
    agent = replace(TOOLED, rules=(replace(rule("off", Include.always), enabled=False),))
    asked = ContextInput(
        agent=agent,
        message="x",
        session=(SessionItem(held, MANUAL),),
        tools=TOOLS,
        absent=absent,
    )
    context = build_request(asked, None).context
    assert context.items == ()
    found = next(entry for entry in context.left_out if entry.key == held)
    assert found.reason is reason
    assert found.detail.startswith(detail)
    assert [note.split(" is not there: ") for note in context.notes] == [
        list(entry) for entry in absent.items()
    ]


def test_three_columns_in_their_order() -> None:
    agent = Agent(
        name="shown",
        rules=(
            rule("File operations", Include.agent, priority=300),
            rule("Error handling", Include.manual, priority=700),
            rule("Authentication", Include.always, priority=700),
        ),
        references=(Reference(name="Schema", text="s", description="Tables", priority=2),),
        servers=(Server(name="files", command="f"), Server(name="db", command="d")),
    )
    tools = (Tool(server="files", name="read_file"), Tool(server="db", name="query"))
    session = (*first_items(agent, tools), SessionItem(RuleKey("Error handling"), MANUAL))
    vectors = {AUTH: near(0, 1.0), "text of File operations": near(0, 0.874)}
    built = build_request(
        ContextInput(agent=agent, message=AUTH, session=session, tools=tools), chooser_of(vectors)
    )
    shown = columns(built.context, built.items)
    assert {kind: [line.line for line in lines] for kind, lines in shown.items()} == {
        ItemKind.rule: [
            "700 • Authentication [Always]",
            "700 • Error handling [Manual]",
            "300 • File operations [Agent - 0.87]",
        ],
        ItemKind.reference: ["002 • Schema [Always]"],
        ItemKind.tool: ["db. • query [Always]", "files. • read_file [Always]"],
    }
    assert shown[ItemKind.reference][0].description == "Tables"
    gone = columns(built.context, {})[ItemKind.reference]
    assert [line.line for line in gone] == ["--- • Schema [Always]"]


def related_agent(names: Iterable[str], **settings: object) -> Agent:
    return Agent(
        name="related",
        rules=tuple(rule(name, Include.agent, text=name) for name in names),
        settings={key: value for key, value in settings.items() if isinstance(value, int | float)},
    )


CHAIN = {
    # One pass from `a` reaches `b`, two reach `c`; `far` is near to nothing.
    AUTH: [1.0, 0, 0, 0],
    "a": [0.8, 0.6, 0, 0],
    "b": [0, 0.8, 0.6, 0],
    "c": [0, 0, 0.9, 0.4359],
    "far": [0, 0, 0, 1.0],
}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"contextExpansionThreshold": 0.4}, {"rule:a": "agent", "rule:b": "expansion"}),
        (
            {"contextExpansionThreshold": 0.4, "contextExpansionDepth": 2},
            {"rule:a": "agent", "rule:b": "expansion", "rule:c": "expansion"},
        ),
        ({"contextExpansionThreshold": 0.5}, {"rule:a": "agent"}),
        ({"contextExpansionThreshold": 0.4, "contextExpansionDepth": 0}, {"rule:a": "agent"}),
        ({"contextExpansionThreshold": 0.4, "contextExpansionTopN": 0}, {"rule:a": "agent"}),
        (
            {"contextExpansionThreshold": 0.4, "contextExpansionEnabled": False},
            {"rule:a": "agent"},
        ),
        (
            {"contextExpansionThreshold": 0.4, "tools.contextExpansionEnabled": False},
            {"rule:a": "agent", "rule:b": "expansion"},
        ),
    ],
)
def test_expansion(settings: dict[str, float], expected: dict[str, str]) -> None:
    agent = replace(related_agent("abc"), settings=settings)
    built = build_request(ContextInput(agent=agent, message=AUTH), chooser_of(CHAIN))
    assert given(built.context) == expected
    scores = {str(item.key): round(item.score or 0, 2) for item in built.context.items}
    assert scores.get("rule:b", 0.48) == 0.48
    whys = {str(item.key): item.why for item in built.context.items}
    assert whys.get("rule:b", "goes with a") == "goes with a"


def test_expansion_brings_at_most_its_count_the_best_first() -> None:
    vectors = {AUTH: [1.0, 0], "a": [0.5, 0.866]}
    vectors |= {f"n{at}": [-0.1, 0.9, 0.01 * at + 0.1] for at in range(6)}
    agent = replace(related_agent(["a", *[f"n{at}" for at in range(6)]]), settings={})
    context = build_request(ContextInput(agent=agent, message=AUTH), chooser_of(vectors)).context
    brought = [str(item.key) for item in context.items if item.mode is RequestMode.expansion]
    assert brought == ["rule:n0", "rule:n1", "rule:n2"]


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [
        # By the curve of the built-in model these cosines are scores of 0.19, and of 0.12, which
        # is hardly above its floor.
        (0.54, {"rule:a": "agent", "rule:b": "expansion"}),
        (0.48, {"rule:a": "agent"}),
    ],
)
def test_what_is_hardly_likely_itself_brings_nothing_along(
    cosine: float, expected: dict[str, str]
) -> None:
    model = Measured({AUTH: [1.0, 0], "a": near(0, cosine, 2), "b": near(0, cosine - 0.5, 2)})
    chooser = Chooser(index=ItemIndex(model, NoCache()))
    built = build_request(ContextInput(agent=related_agent("ab"), message=AUTH), chooser)
    assert given(built.context) == expected


def test_tools_after_one_pattern_do_not_bring_each_other_along() -> None:
    """Ten tools as near to each other as can be, and one of another server that goes with one."""
    pattern = {f"t{at}": [0.9, *(0.4359 * (at == axis) for axis in range(10))] for at in range(10)}
    vectors = {AUTH: pattern["t0"], **pattern, "other": [0.7, 0.714]}
    tools = tuple(Tool(server="many", name=name) for name in pattern)
    agent = Agent(
        name="a",
        servers=tuple(
            Server(name=name, command=name, include=Include.agent) for name in ("many", "other")
        ),
        settings={"contextTopN": 1, "contextIncludeScore": 1, "contextExpansionThreshold": 0.7},
    )
    asked = ContextInput(
        agent=agent, message=AUTH, tools=(*tools, Tool(server="other", name="other"))
    )
    for graph in (False, True):
        context = build_request(
            replace(asked, overrides={"contextGraphEnabled": graph}), chooser_of(vectors)
        ).context
        assert given(context) == {"tool:many.t0": "agent", "tool:other.other": "expansion"}


@pytest.mark.parametrize("pieces", [True, False])
@pytest.mark.parametrize("directory", [True, False])
def test_the_relationship_graph_serves_by_look_up(
    tmp_path: Path, directory: bool, pieces: bool
) -> None:
    agent = replace(
        related_agent("abc"),
        settings={
            "contextGraphEnabled": True,
            "contextExpansionEnabled": pieces,
            "contextExpansionThreshold": 0.5,
        },
    )
    vectors = {**CHAIN, "b": [0, 0.9, 0.4359, 0], "c": [0, 0, 0.6, 0.8]}
    for _round in range(2):
        chooser = replace(chooser_of(vectors), relations=tmp_path if directory else None)
        context = build_request(ContextInput(agent=agent, message=AUTH), chooser).context
        assert given(context) == {"rule:a": "agent", "rule:b": "expansion"}
    assert len(list(tmp_path.iterdir())) == directory


def test_a_damaged_graph_is_computed_again(tmp_path: Path) -> None:
    agent = replace(
        related_agent("abc"),
        settings={"contextGraphEnabled": True, "contextExpansionThreshold": 0.4},
    )
    for content in (None, "[]", "no json", "[[[7, 0.9]], [], []]", '{"a": 1}'):
        for path in tmp_path.glob("*.json"):
            path.write_text(content or "[]")
        chooser = replace(chooser_of(CHAIN), relations=tmp_path)
        context = build_request(ContextInput(agent=agent, message=AUTH), chooser).context
        assert given(context) == {"rule:a": "agent", "rule:b": "expansion"}


def tool_agent(rules: dict[str, list[str]]) -> tuple[Agent, tuple[Tool, ...]]:
    names = sorted({*rules, *(name for targets in rules.values() for name in targets)})
    key = {name: ToolKey("s", name) for name in names}
    agent = Agent(
        name="tools",
        servers=(
            Server(
                name="s",
                command="c",
                include=Include.manual,
                tools=(ToolChoice(name="forbidden", permission=Permission.never),),
            ),
        ),
        tool_rules={key[name]: tuple(key[target] for target in rules[name]) for name in rules},
    )
    return agent, tuple(Tool(server="s", name=name) for name in names if name != "absent")


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"a": ["b", "c"]}, ["b", "c"]),
        ({"a": ["b"], "b": ["c"]}, ["b", "c"]),
        ({"a": ["b"], "b": ["a"]}, ["b"]),
        ({"a": ["a"]}, []),
        ({"a": ["b"], "b": ["c"], "c": ["b", "a"]}, ["b", "c"]),
        ({"b": ["c"]}, []),
        ({"a": ["forbidden", "absent", "b"]}, ["b"]),
    ],
)
def test_tools_that_come_along(rules: dict[str, list[str]], expected: list[str]) -> None:
    agent, tools = tool_agent(rules | {"a": rules.get("a", [])})
    asked = ContextInput(
        agent=agent,
        message="x",
        session=(SessionItem(ToolKey("s", "a"), MANUAL),),
        tools=tools,
    )
    context = build_request(asked, None).context
    assert given(context) == {"tool:s.a": "manual"} | {
        f"tool:s.{name}": "expansion" for name in expected
    }
    bare = RequestContext(agent="tools", prompt_hash="")
    called = extend_by_result(bare, asked, ToolKey("s", "a"), "result", None)
    assert given(called) == {f"tool:s.{name}": "expansion" for name in expected}


@pytest.mark.parametrize(
    ("settings", "tool", "down", "expected"),
    [
        ({"contextToolResultsEnabled": True}, None, False, {"rule:b"}),
        ({"contextToolResultsEnabled": True}, False, False, set()),
        ({"contextToolResultsEnabled": False}, None, False, set()),
        ({"contextToolResultsEnabled": False}, True, False, {"rule:b"}),
        ({"contextToolResultsEnabled": True}, None, True, set()),
        (
            {"contextToolResultsEnabled": True, "contextExpansionThreshold": 0.95},
            None,
            False,
            set(),
        ),
    ],
)
def test_what_a_tool_returns_brings_more(
    settings: dict[str, float], tool: bool | None, down: bool, expected: set[str]
) -> None:
    choices = (ToolChoice(name="t", expand_results=tool),)
    agent = Agent(
        name="a",
        rules=(rule("b", Include.agent, text="b"), rule("c", Include.agent, text="c")),
        servers=(Server(name="s", command="c", tools=choices),),
        settings=settings,
    )
    asked = ContextInput(agent=agent, message=AUTH, tools=(Tool(server="s", name="t"),))
    before = build_request(asked, chooser_of({AUTH: [0, 1.0]})).context
    chooser = chooser_of({"first": [0, 1.0], "found it": [1.0, 0], "b": [0.9, 0.4359]}, down=down)
    after = extend_by_result(before, asked, ToolKey("s", "t"), "first\n\nfound it", chooser)
    assert {name for name, mode in given(after).items() if mode == "expansion"} == expected
    assert set(before.items) <= set(after.items)
    assert bool(after.notes) is down
    missing = ItemIndex(Taught({}, down=True), NoCache())
    standing_in = Chooser(index=missing, instead=lambda: chooser)
    again = extend_by_result(before, asked, ToolKey("s", "t"), "first\n\nfound it", standing_in)
    assert (given(again), again.notes) == (given(after), after.notes)


@pytest.mark.parametrize("text", ["\ud800", "x" * 1_000_000, "\x00", "?", "。" * 3000])
def test_odd_texts_are_only_texts(text: str) -> None:
    """Half a character, a million letters, a tool without a name: the request goes on."""
    agent = Agent(
        name="odd",
        references=(Reference(name="r", text=f"a\n\n{text}", include=Include.agent),),
        servers=(Server(name="s", command="c", include=Include.agent),),
    )
    tools = (Tool(server="s", name=""), Tool(server="s", name="t", schema={"a": {1, 2}}))
    chooser = Chooser(index=ItemIndex(StaticEmbedder(), NoCache()))
    context = build_request(ContextInput(agent=agent, message=text, tools=tools), chooser).context
    assert context.considered == 3
    assert context.notes == ()


def test_session_settings_are_over_the_agents() -> None:
    agent = replace(related_agent("abc"), settings={"contextTopN": 0, "contextIncludeScore": 1.0})
    asked = ContextInput(agent=agent, message=AUTH)
    chooser = chooser_of(CHAIN)

    def names(built: Built) -> list[str]:
        return [item.key.name for item in built.context.items]

    assert names(build_request(asked, chooser)) == []
    assert names(build_request(replace(asked, overrides={"contextTopN": 1}), chooser)) == ["a"]
    assert names(build_request(replace(asked, inherited={}), chooser)) == ["a"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rule:A b", RuleKey("A b")),
        ("ref:x:y", ReferenceKey("x:y")),
        ("reference:x", ReferenceKey("x")),
        ("tool:s.a.b", ToolKey("s", "a.b")),
        ("tool:s", None),
        ("tool:.a", None),
        ("rule:", None),
        ("x:y", None),
        ("", None),
    ],
)
def test_keys_as_text(text: str, expected: ItemKey | None) -> None:
    assert key_from_text(text) == expected
    if expected is not None:
        assert key_from_text(str(expected)) == expected
