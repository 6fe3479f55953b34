"""Makes the language model of each provider."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from asterism.disclosure.tokens import FoundToken, masked, masked_body
from asterism.models.llm.options import LlmOptions
from asterism.models.llm.protocol import LanguageModel, ModelRequest
from asterism.models.llm.stream import Pieces
from asterism.telemetry.notices import record_masked
from asterism.types.chat import Message, ModelReply, ToolCall, ToolSpec
from asterism.types.errors import BadReply, ProviderDown, ProviderMissing

Sample: TypeAlias = Callable[[ModelRequest], Awaitable[ModelReply]]
"""Asks the client; the MCP server supplies it, and maps the protocol's errors."""


class SamplingModel:
    """A client that lends its model; it answers in one piece, and it may ask its user first."""

    provider = "sampling"
    window = 0

    def __init__(self, options: LlmOptions, sample: Sample, *, calls_tools: bool = False) -> None:
        """`calls_tools` says whether the client declared that its sampling takes tools."""
        self.calls_tools = calls_tools
        self.model_id = options.model or "client"
        self.window = options.window
        self._seconds = options.total_seconds
        self._sample = sample

    async def reply(self, request: ModelRequest) -> Pieces:
        """Ask once: a person who refused should not be asked again."""
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._sample(request)
        except TimeoutError:
            raise ProviderDown(
                f"The client's model gave no answer within {self._seconds:.0f} seconds; ask again, "
                "or set another model.provider."
            ) from None
        if not (answer.text or answer.calls):
            raise BadReply("The client's model said nothing; ask again, or differently.")
        if answer.text:
            yield answer.text
        yield answer if answer.model_id else answer._replace(model_id=self.model_id)

    async def close(self) -> None:
        """Nothing is held."""


class Lent(NamedTuple):
    """The model that a client lends."""

    sample: Sample
    calls_tools: bool = False


def make_model(options: LlmOptions, lent: Lent | None = None) -> LanguageModel | None:
    """The model that the options name; None for `extractive`, which is no model.

    Whichever it is, it reads texts without the tokens in them.
    """
    model = _model(options, lent)
    return None if model is None else MaskedModel(model)


def _model(options: LlmOptions, lent: Lent | None) -> LanguageModel | None:
    match options.provider:
        case "openai":
            from asterism.models.llm.openai import OpenAiModel

            return OpenAiModel(options)
        case "anthropic":
            from asterism.models.llm.anthropic import AnthropicModel

            return AnthropicModel(options)
        case "sampling":
            if lent is None:
                raise ProviderMissing(
                    "This client does not lend its model; set model.provider to extractive, "
                    "openai or anthropic."
                )
            return SamplingModel(options, lent.sample, calls_tools=lent.calls_tools)
        case _:
            return None


class MaskedModel:
    """Around any model, one on this machine or a client's included."""

    def __init__(self, inner: LanguageModel) -> None:
        """Around another one."""
        self.inner = inner

    @property
    def provider(self) -> str:
        """That of the model."""
        return self.inner.provider

    @property
    def model_id(self) -> str:
        """That of the model."""
        return self.inner.model_id

    @property
    def window(self) -> int:
        """That of the model."""
        return self.inner.window

    @property
    def calls_tools(self) -> bool:
        """Whether the model can."""
        return self.inner.calls_tools

    async def reply(self, request: ModelRequest) -> AsyncGenerator[str | ModelReply, None]:
        """Its answer; callers count what was masked with `counting_masked`."""
        clean, tokens = masked_request(request)
        record_masked("model", tokens)
        async with aclosing(self.inner.reply(clean)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        """Let go of connections."""
        await self.inner.close()


def masked_request(request: ModelRequest) -> tuple[ModelRequest, list[FoundToken]]:
    """The request without tokens, in texts, arguments of calls, and descriptions of tools."""
    found: list[FoundToken] = []
    messages = tuple(_message(message, found) for message in request.messages)
    tools = tuple(_tool(tool, found) for tool in request.tools)
    return (replace(request, messages=messages, tools=tools) if found else request), found


def _message(message: Message, found: list[FoundToken]) -> Message:
    calls = tuple(_call(call, found) for call in message.calls)
    return message._replace(text=_text(message.text, found), calls=calls)


def _call(call: ToolCall, found: list[FoundToken]) -> ToolCall:
    return call._replace(arguments=_text(call.arguments, found))


def _tool(tool: ToolSpec, found: list[FoundToken]) -> ToolSpec:
    schema = masked_body(tool.schema, found)
    assert isinstance(schema, Mapping)
    return tool._replace(description=_text(tool.description, found), schema=schema)


def _text(text: str, found: list[FoundToken]) -> str:
    result = masked(text)
    found.extend(result.tokens)
    return result.text
