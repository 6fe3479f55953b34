"""The settings of agents and sessions: their names, what they allow, and how layers add up."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, TypeAlias


class Permission(StrEnum):
    """Always, never, or after a person has said yes."""

    always = "always"
    never = "never"
    ask = "ask"


SettingValue: TypeAlias = bool | int | float | str
Layer: TypeAlias = Mapping[str, SettingValue]
"""What an agent's file or a session sets, by name: `contextTopN`, `tools.contextTopN`."""


class Domain(StrEnum):
    """The two sorts of items, which are chosen apart with values of their own."""

    texts = "texts"
    """Rules and references."""
    tools = "tools"


class Preset(StrEnum):
    """Values of all choosing settings under one name."""

    conservative = "conservative"
    normal = "normal"
    aggressive = "aggressive"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings:
    """How items of one domain are chosen."""

    top_k: int = 20
    """Pieces of text that are looked at, best first."""
    top_n: int = 5
    """Items that are filled up to."""
    include_score: float = 0.7
    """The score from which an item always comes, whatever the count."""
    floor_factor: float = 1.0
    """How many times the model's floor a score has to be; 0 takes whatever scores at all."""
    expansion_enabled: bool = True
    expansion_depth: int = 1
    expansion_threshold: float = 0.75
    expansion_top_n: int = 3
    graph_enabled: bool = False
    """Whether kept relationships between items are looked up as well."""
    tool_results_enabled: bool = False
    """Whether what tools return brings further items."""


PRESETS: Mapping[Preset, ContextSettings] = MappingProxyType(
    {
        Preset.conservative: ContextSettings(
            top_k=10, top_n=3, include_score=0.8, floor_factor=1.5, expansion_enabled=False
        ),
        Preset.normal: ContextSettings(),
        Preset.aggressive: ContextSettings(
            top_k=40,
            top_n=10,
            include_score=0.6,
            floor_factor=0.5,
            expansion_depth=2,
            expansion_threshold=0.65,
            expansion_top_n=5,
            graph_enabled=True,
            tool_results_enabled=True,
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """Every setting, resolved."""

    max_chat_turns: int = 20
    max_output_tokens: int = 4096
    temperature: float = 0.5
    top_p: float = 1.0
    tool_permission: Permission = Permission.ask
    texts: ContextSettings = ContextSettings()
    tools: ContextSettings = ContextSettings()

    def of(self, domain: Domain) -> ContextSettings:
        """How items of a domain are chosen."""
        return self.tools if domain is Domain.tools else self.texts


class KnownSetting(NamedTuple):
    """What a setting is and allows."""

    field: str
    default: SettingValue
    purpose: str
    least: float = -math.inf
    most: float = math.inf
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if isinstance(self.default, bool):
            return "true or false"
        kind = "a whole number" if isinstance(self.default, int) else "a number"
        return f"{kind} from {self.least:g} to {self.most:g}"

    def read(self, written: object) -> SettingValue | None:
        """The value, or None if it is not allowed."""
        if self.choices:
            return written if isinstance(written, str) and written in self.choices else None
        if isinstance(self.default, bool):
            return written if isinstance(written, bool) else None
        if isinstance(written, bool) or not isinstance(written, int | float):
            return None
        if isinstance(self.default, int) and not isinstance(written, int):
            return None
        is_within = math.isfinite(written) and self.least <= written <= self.most
        return type(self.default)(written) if is_within else None


_PRESET = "preset"
_CHAT: Mapping[str, KnownSetting] = {
    "maxChatTurns": KnownSetting(
        "max_chat_turns", 20, "Rounds of model and tools in one request at most.", 1, 1000
    ),
    "maxOutputTokens": KnownSetting(
        "max_output_tokens", 4096, "Tokens of one answer at most.", 1, 1_000_000
    ),
    "temperature": KnownSetting("temperature", 0.5, "How freely the model chooses words.", 0, 2),
    "topP": KnownSetting("top_p", 1.0, "The share of likely words it chooses from.", 0, 1),
    "toolPermission": KnownSetting(
        "tool_permission", "ask", "Whether tools may be called.", choices=tuple(Permission)
    ),
}
_CHOOSING: Mapping[str, KnownSetting] = {
    _PRESET: KnownSetting(
        "", "normal", "Values for all settings below at once.", choices=tuple(Preset)
    ),
    "contextTopK": KnownSetting("top_k", 20, "Pieces of text that are looked at.", 1, 1000),
    "contextTopN": KnownSetting("top_n", 5, "Items that are filled up to.", 0, 200),
    "contextIncludeScore": KnownSetting(
        "include_score", 0.7, "The score from which an item always comes.", 0, 1
    ),
    "contextFloorFactor": KnownSetting(
        "floor_factor",
        1.0,
        "How many times the model's floor a score has to be; 0 takes whatever scores at all.",
        0,
        10,
    ),
    "contextExpansionEnabled": KnownSetting(
        "expansion_enabled", True, "Whether chosen items bring what goes with them."
    ),
    "contextExpansionDepth": KnownSetting(
        "expansion_depth", 1, "How often what was brought brings more; 0 is off.", 0, 5
    ),
    "contextExpansionThreshold": KnownSetting(
        "expansion_threshold", 0.75, "The score that what is brought needs.", 0, 1
    ),
    "contextExpansionTopN": KnownSetting(
        "expansion_top_n", 3, "Items that one pass brings at most.", 0, 200
    ),
    "contextGraphEnabled": KnownSetting(
        "graph_enabled", False, "Whether kept relationships between items are looked up as well."
    ),
    "contextToolResultsEnabled": KnownSetting(
        "tool_results_enabled", False, "Whether what tools return brings further items."
    ),
}

SETTINGS: Mapping[str, KnownSetting] = MappingProxyType(
    {
        **_CHAT,
        **_CHOOSING,
        **{f"{domain}.{name}": known for domain in Domain for name, known in _CHOOSING.items()},
    }
)
"""Every setting by its full name; one without a domain is meant for both."""


def settings_of(*layers: Layer) -> AgentSettings:
    """The settings that layers add up to, a later one over an earlier: agent, then session.

    Within a layer a preset comes first, then what is set for both domains, then what is set for
    one; so a session's preset replaces the agent's values, and a value beside a preset stays.
    Unknown names are ignored: layers are checked when they are made.
    """
    settings = AgentSettings()
    for layer in layers:
        known = [name for name in layer if name in SETTINGS]
        for name in sorted(known, key=_rank):
            settings = _with(settings, name, layer[name])
    return settings


def _rank(name: str) -> tuple[bool, bool, str]:
    """Presets first, and what is for both domains before what is for one."""
    domain, _dot, bare = name.rpartition(".")
    return bool(domain), bare != _PRESET, name


def _with(settings: AgentSettings, name: str, value: SettingValue) -> AgentSettings:
    domain, _dot, bare = name.rpartition(".")
    if bare in _CHAT:
        changed = Permission(str(value)) if bare == "toolPermission" else value
        return replace(settings, **{_CHAT[bare].field: changed})  # type: ignore[arg-type]
    for part in (Domain(domain),) if domain else Domain:
        values = settings.of(part)
        if bare == _PRESET:
            values = PRESETS[Preset(str(value))]
        else:
            values = replace(values, **{_CHOOSING[bare].field: value})  # type: ignore[arg-type]
        settings = replace(settings, **{part.value: values})  # type: ignore[arg-type]
    return settings


def stated_permission(values: tuple[Permission | None, ...], session: Layer) -> Permission:
    """What holds for a tool, given what its entry, its server's and the agent's settings say.

    The first that says something counts. What the session itself sets replaces it, but never
    allows what the agent forbids.
    """
    stated = next((value for value in values if value is not None), Permission.ask)
    if stated is Permission.never or "toolPermission" not in session:
        return stated
    return Permission(str(session["toolPermission"]))
