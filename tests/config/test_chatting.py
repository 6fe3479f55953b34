"""What a chat is told of the settings, and which key goes to which address."""

from dataclasses import replace

import pytest

from asterism.chat.ports import TurnOptions
from asterism.chat.vector_search import VectorOptions
from asterism.config.environment import model_key, secret_values
from asterism.config.model_sections import ChatSettings, ModelSettings
from asterism.config.options import llm_options, turn_options, vector_options
from asterism.config.settings import Settings
from asterism.models.llm.options import LlmOptions, Provider

OURS, OPENAI, ANTHROPIC = "key-of-ours", "key-of-openai", "key-of-anthropic"


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Only the vendors' own variables are set."""
    monkeypatch.delenv("ASTERISM_MODEL_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI)
    monkeypatch.setenv("ANTHROPIC_API_KEY", ANTHROPIC)
    return monkeypatch


@pytest.mark.parametrize(
    ("provider", "url", "vendors", "with_ours"),
    [
        ("openai", "", OPENAI, OURS),
        ("openai", "https://api.openai.com/v1", OPENAI, OURS),
        # A vendor's key is not sent to another server, nor without encryption.
        ("openai", "http://api.openai.com/v1", "", OURS),
        ("openai", "http://localhost:1234/v1", "", OURS),
        ("anthropic", "", ANTHROPIC, OURS),
        ("anthropic", "https://proxy.example", "", OURS),
        ("extractive", "", "", ""),
        ("sampling", "", "", ""),
    ],
)
def test_which_key_goes_where(
    keys: pytest.MonkeyPatch, provider: Provider, url: str, vendors: str, with_ours: str
) -> None:
    assert model_key(provider, url) == vendors
    keys.setenv("ASTERISM_MODEL_API_KEY", OURS)
    assert model_key(provider, url) == with_ours


def test_every_key_is_known_as_a_secret(keys: pytest.MonkeyPatch) -> None:
    keys.setenv("ASTERISM_MODEL_API_KEY", OURS)
    assert {OURS, OPENAI, ANTHROPIC} <= set(secret_values())


def test_the_defaults_need_nothing(keys: pytest.MonkeyPatch) -> None:
    settings = Settings()
    assert llm_options(settings) == LlmOptions()
    assert vector_options(settings) == VectorOptions()
    assert turn_options(settings) == TurnOptions()


def test_every_number_arrives(keys: pytest.MonkeyPatch) -> None:
    settings = replace(
        Settings(),
        model=ModelSettings(
            provider="openai",
            name="m",
            url="http://localhost:1/v1",
            window=9_000,
            max_output_tokens=100,
            timeout_seconds=1.0,
            total_seconds=2.0,
            attempts=4,
        ),
        chat=ChatSettings(0.5, True, 1, 300, 200, 7, 3),
    )
    assert llm_options(settings) == LlmOptions(
        "openai", "m", "http://localhost:1/v1", "", 1.0, 2.0, 4, 9_000
    )
    assert vector_options(settings) == VectorOptions(
        distance_cutoff=0.5,
        cutoff_disabled=True,
        fallback_chunks=1,
        max_chars=300,
        chunk_max_chars=200,
    )
    assert turn_options(settings) == TurnOptions(
        max_turns=7, max_output_tokens=100, retries=3, tool_chars=300
    )


@pytest.mark.parametrize(
    ("chosen", "usual", "expected"), [(1.4, None, 1.4), (1.4, 1.28, 1.28), (1.3, 1.28, 1.3)]
)
def test_the_cutoff_is_that_of_the_model_unless_it_is_set(
    chosen: float, usual: float | None, expected: float
) -> None:
    settings = replace(Settings(), chat=ChatSettings(distance_cutoff=chosen))
    assert vector_options(settings, usual).distance_cutoff == expected


def test_a_call_may_name_another_model(keys: pytest.MonkeyPatch) -> None:
    """Then the address of the settings, which is another server's, is not asked."""
    settings = replace(
        Settings(), model=ModelSettings(provider="openai", name="m", url="http://localhost:1/v1")
    )
    named = llm_options(settings, "anthropic", "claude")
    assert (named.provider, named.model, named.url) == ("anthropic", "claude", "")
    assert named.api_key == ANTHROPIC
    other = llm_options(settings, model="n")
    assert (other.provider, other.model, other.url) == ("openai", "n", "http://localhost:1/v1")
