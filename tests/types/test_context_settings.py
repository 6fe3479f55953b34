"""Settings of agents and sessions: defaults, presets, domains, and which layer wins."""

import pytest

from asterism.types.agent_settings import (
    PRESETS,
    SETTINGS,
    AgentSettings,
    ContextSettings,
    Domain,
    Layer,
    Permission,
    Preset,
    settings_of,
)


def test_the_defaults_are_those_that_are_promised() -> None:
    settings = settings_of()
    assert settings == AgentSettings()
    assert settings.texts == settings.tools == PRESETS[Preset.normal]
    texts = settings.texts
    assert (texts.top_k, texts.top_n, texts.include_score) == (20, 5, 0.7)
    assert texts.expansion_depth == 1
    assert (texts.expansion_threshold, texts.expansion_top_n) == (0.75, 3)
    for name, known in SETTINGS.items():
        assert known.read(known.default) == known.default, name
        assert known.default == _value(settings, name), name


def _value(settings: AgentSettings, name: str) -> object:
    domain, _dot, bare = name.rpartition(".")
    if bare == "preset":
        return "normal"
    field = SETTINGS[name].field
    holder = settings.of(Domain(domain)) if domain else settings
    return getattr(holder, field) if hasattr(holder, field) else getattr(settings.texts, field)


@pytest.mark.parametrize(
    ("layers", "texts", "tools"),
    [
        ([{"contextTopN": 3}], 3, 3),
        ([{"tools.contextTopN": 8}], 5, 8),
        ([{"texts.contextTopN": 2, "contextTopN": 7}], 2, 7),
        ([{"preset": "aggressive"}], 10, 10),
        ([{"contextTopN": 4, "preset": "aggressive"}], 4, 4),
        ([{"tools.preset": "conservative"}], 5, 3),
        ([{"tools.preset": "conservative", "contextTopN": 6}], 6, 3),
        ([{"contextTopN": 4}, {"contextTopN": 9}], 9, 9),
        ([{"contextTopN": 4}, {}], 4, 4),
        ([{"tools.contextTopN": 8}, {"contextTopN": 2}], 2, 2),
        ([{"contextTopN": 4}, {"preset": "aggressive"}], 10, 10),
        ([{"contextTopN": 4}, {"preset": "aggressive", "contextTopN": 1}], 1, 1),
        ([{"unheard": 1}], 5, 5),
    ],
)
def test_layers_add_up(layers: list[Layer], texts: int, tools: int) -> None:
    settings = settings_of(*layers)
    assert (settings.texts.top_n, settings.tools.top_n) == (texts, tools)


def test_what_the_chat_needs_is_inherited_and_overridden_too() -> None:
    agent: Layer = {"maxChatTurns": 7, "temperature": 0.1, "toolPermission": "never"}
    session: Layer = {"temperature": 1.5, "topP": 0.5, "maxOutputTokens": 10}
    settings = settings_of(agent, session)
    assert (settings.max_chat_turns, settings.temperature, settings.top_p) == (7, 1.5, 0.5)
    assert settings.max_output_tokens == 10
    assert settings.tool_permission is Permission.never
    assert settings_of(agent).temperature == 0.1


def test_presets_go_from_few_to_many() -> None:
    def eagerness(settings: ContextSettings) -> tuple[float, ...]:
        return (settings.top_k, settings.top_n, -settings.include_score, -settings.floor_factor)

    ordered = [PRESETS[Preset(name)] for name in ("conservative", "normal", "aggressive")]
    assert [eagerness(each) for each in ordered] == sorted(eagerness(each) for each in ordered)


@pytest.mark.parametrize(
    ("name", "written", "expected"),
    [
        ("contextTopN", 0, 0),
        ("contextTopN", -1, None),
        ("contextTopN", 2.5, None),
        ("contextTopN", True, None),
        ("contextTopN", "5", None),
        ("contextIncludeScore", 1, 1.0),
        ("contextIncludeScore", 1.01, None),
        ("contextIncludeScore", float("nan"), None),
        ("contextExpansionEnabled", False, False),
        ("contextExpansionEnabled", 0, None),
        ("toolPermission", "ask", "ask"),
        ("toolPermission", "sometimes", None),
        ("tools.preset", "normal", "normal"),
        ("preset", None, None),
        ("maxChatTurns", 0, None),
    ],
)
def test_what_is_allowed(name: str, written: object, expected: object) -> None:
    assert SETTINGS[name].read(written) == expected
    assert SETTINGS[name].allowed
