"""Which language model answers, and what is known of it without asking it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Provider: TypeAlias = Literal["extractive", "openai", "anthropic", "sampling"]

KEY_VARIABLES: Mapping[Provider, str] = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}
"""The vendors' own variables, meant for the vendors' own addresses; `config` reads them."""

KEY_VARIABLE = "ASTERISM_MODEL_API_KEY"
"""The variable with a key for whatever address the settings name."""

DEFAULT_URLS: Mapping[Provider, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}

_WINDOWS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"^gpt-4\.1"), 1_000_000),
    (re.compile(r"^gpt-5"), 400_000),
    (re.compile(r"^(gpt-4o|gpt-4-turbo)"), 128_000),
    (re.compile(r"^o[134](-|$)"), 200_000),
    (re.compile(r"claude"), 200_000),
)
"""The windows of models that are known by name; others are told by the settings, or by an error."""


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """The model to use and how to reach it; empty or 0 leaves a value to the provider."""

    provider: Provider = "extractive"
    model: str = ""
    url: str = ""
    api_key: str = field(default="", repr=False)
    timeout_seconds: float = 120.0
    """Without a byte from the server: a large model on a slow machine reads a minute."""
    total_seconds: float = 900.0
    """For one reply, from the request to its end."""
    attempts: int = 3
    """How often a request is sent whose answer has not begun."""
    window: int = 0
    """Tokens of request and answer together, where the settings say it."""


def at_vendor(options: LlmOptions) -> bool:
    """Is the model asked at its vendor's own address?"""
    return options.url.rstrip("/") in ("", DEFAULT_URLS.get(options.provider))


def key_variables(options: LlmOptions) -> str:
    """Where the key for the options' address can come from, as messages say it."""
    vendor = at_vendor(options) and KEY_VARIABLES.get(options.provider)
    return f"{vendor} or {KEY_VARIABLE}" if vendor else KEY_VARIABLE


def window_of(options: LlmOptions) -> int:
    """The model's window: as set, else as known by its name, else 0."""
    if options.window:
        return options.window
    name = options.model.lower().rpartition("/")[2]
    return next((size for known, size in _WINDOWS if known.search(name)), 0)
