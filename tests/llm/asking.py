"""Asking a model in a test, and the vendors that tests are run with."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from asterism.models.llm.options import LlmOptions, Provider
from asterism.models.llm.protocol import LanguageModel, ModelRequest
from asterism.types.chat import Message, ModelReply, Role, ToolSpec
from tests.llm.fake_anthropic import FakeAnthropic
from tests.llm.fake_openai import FakeOpenAI

SEARCH = ToolSpec("search", "Finds code.", {"type": "object", "properties": {"q": {}}})


class Vendor(NamedTuple):
    """A provider and a server that speaks its protocol."""

    provider: Provider
    fake: type[FakeOpenAI] | type[FakeAnthropic]


OPENAI = Vendor("openai", FakeOpenAI)
ANTHROPIC = Vendor("anthropic", FakeAnthropic)
VENDORS = (OPENAI, ANTHROPIC)


class Pauses:
    """Notes how long it was asked to wait, and does not."""

    def __init__(self) -> None:
        """None yet."""
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        """Do not wait."""
        self.seconds.append(seconds)


def model_of(
    vendor: Vendor, url: str, pauses: Pauses | None = None, **options: Any
) -> LanguageModel:
    """The vendor's model at that address."""
    from asterism.models.llm.anthropic import AnthropicModel
    from asterism.models.llm.openai import OpenAiModel

    chosen = {"model": "fake-1", "url": url, "provider": vendor.provider, **options}
    if vendor.provider == "anthropic":
        return AnthropicModel(LlmOptions(**chosen), pauses or Pauses())
    return OpenAiModel(LlmOptions(**chosen), pauses or Pauses())


def request(text: str = "Where?", tools: Sequence[ToolSpec] = (), **more: Any) -> ModelRequest:
    """A question with a system message."""
    messages = more.pop("messages", (Message(Role.system, "Be brief."), Message(Role.user, text)))
    return ModelRequest(messages=messages, tools=tuple(tools), **more)


def ask(model: LanguageModel, asked: ModelRequest | None = None) -> tuple[list[str], ModelReply]:
    """The pieces and the whole."""

    async def run() -> tuple[list[str], ModelReply]:
        pieces: list[str] = []
        reply = None
        try:
            async for piece in model.reply(asked or request()):
                if isinstance(piece, ModelReply):
                    reply = piece
                else:
                    pieces.append(piece)
        finally:
            await model.close()
        assert reply is not None
        return pieces, reply

    return asyncio.run(run())
