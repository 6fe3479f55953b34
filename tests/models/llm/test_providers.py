"""Which model the options name, what is known of it, and the client's own model."""

import asyncio

import pytest

from asterism.models.llm import anthropic
from asterism.models.llm.options import LlmOptions, Provider, key_variables, window_of
from asterism.models.llm.protocol import ModelRequest
from asterism.models.llm.provider import Lent, MaskedModel, make_model
from asterism.types.chat import ModelReply
from asterism.types.errors import BadReply, ProviderDown, ProviderError, ProviderMissing
from tests.llm.asking import ask, request


def answering(reply: ModelReply) -> Lent:
    """A client whose model says that."""

    async def sample(asked: ModelRequest) -> ModelReply:
        return reply

    return Lent(sample, calls_tools=True)


@pytest.mark.parametrize(
    ("provider", "expected"), [("openai", "OpenAiModel"), ("anthropic", "AnthropicModel")]
)
def test_each_provider_has_its_class(provider: Provider, expected: str) -> None:
    model = make_model(LlmOptions(provider, model="m"))
    assert isinstance(model, MaskedModel)
    assert type(model.inner).__name__ == expected
    assert (model.provider, model.model_id, model.calls_tools) == (provider, "m", True)


def test_extractive_is_no_model() -> None:
    assert make_model(LlmOptions()) is None


def test_anthropic_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anthropic, "find_spec", lambda name: None)
    with pytest.raises(ProviderMissing, match=r"asterism\[anthropic\]"):
        make_model(LlmOptions("anthropic", model="m"))


def test_a_client_that_lends_nothing() -> None:
    with pytest.raises(ProviderMissing, match="does not lend its model"):
        make_model(LlmOptions("sampling"))


def test_a_client_that_lends_its_model() -> None:
    model = make_model(LlmOptions("sampling"), answering(ModelReply("Here", model_id="theirs")))
    assert model is not None
    assert model.calls_tools
    pieces, reply = ask(model)
    assert pieces == ["Here"]
    assert reply.model_id == "theirs"


def test_a_client_that_does_not_say_which_model_it_has() -> None:
    model = make_model(LlmOptions("sampling"), answering(ModelReply("Here")))
    assert model is not None
    assert ask(model)[1].model_id == "client"


async def _silent(asked: ModelRequest) -> ModelReply:
    await asyncio.sleep(60)
    return ModelReply("late")


async def _empty(asked: ModelRequest) -> ModelReply:
    return ModelReply("")


@pytest.mark.parametrize(
    ("lent", "error"), [(Lent(_silent), ProviderDown), (Lent(_empty), BadReply)]
)
def test_a_client_without_an_answer(lent: Lent, error: type[ProviderError]) -> None:
    model = make_model(LlmOptions("sampling", total_seconds=0.05), lent)
    assert model is not None
    with pytest.raises(error):
        ask(model, request())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (LlmOptions("openai", "gpt-4.1-mini"), 1_000_000),
        (LlmOptions("openai", "openai/gpt-4o"), 128_000),
        (LlmOptions("anthropic", "claude-sonnet-4-5"), 200_000),
        (LlmOptions("openai", "qwen3:8b"), 0),
        (LlmOptions("openai", "qwen3:8b", window=32_768), 32_768),
        (LlmOptions("openai", "gpt-4o", window=8_000), 8_000),
    ],
)
def test_the_window(options: LlmOptions, expected: int) -> None:
    assert window_of(options) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (LlmOptions("openai"), "OPENAI_API_KEY or ASTERISM_MODEL_API_KEY"),
        (LlmOptions("anthropic"), "ANTHROPIC_API_KEY or ASTERISM_MODEL_API_KEY"),
        (LlmOptions("openai", url="http://localhost:1234/v1"), "ASTERISM_MODEL_API_KEY"),
    ],
)
def test_where_a_key_can_come_from(options: LlmOptions, expected: str) -> None:
    assert key_variables(options) == expected
