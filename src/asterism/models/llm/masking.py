"""A language model that never reads a token: what it is asked with is masked."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace

from asterism.disclosure.tokens import Token, masked, masked_body
from asterism.models.llm.options import LanguageModel, ModelRequest
from asterism.telemetry.notices import record_masked
from asterism.types.chat import Message, ModelReply, ToolCall, ToolSpec


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


def masked_request(request: ModelRequest) -> tuple[ModelRequest, list[Token]]:
    """The request without tokens, in texts, arguments of calls, and descriptions of tools."""
    found: list[Token] = []
    messages = tuple(_message(message, found) for message in request.messages)
    tools = tuple(_tool(tool, found) for tool in request.tools)
    return (replace(request, messages=messages, tools=tools) if found else request), found


def _message(message: Message, found: list[Token]) -> Message:
    calls = tuple(_call(call, found) for call in message.calls)
    return message._replace(text=_text(message.text, found), calls=calls)


def _call(call: ToolCall, found: list[Token]) -> ToolCall:
    return call._replace(arguments=_text(call.arguments, found))


def _tool(tool: ToolSpec, found: list[Token]) -> ToolSpec:
    schema = masked_body(tool.schema, found)
    assert isinstance(schema, Mapping)
    return tool._replace(description=_text(tool.description, found), schema=schema)


def _text(text: str, found: list[Token]) -> str:
    result = masked(text)
    found.extend(result.tokens)
    return result.text
