"""Which class stands behind each provider of language models."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from asterism.models.llm.masking import MaskedModel
from asterism.models.llm.options import LanguageModel, LlmOptions, ModelRequest
from asterism.models.llm.stream import Pieces
from asterism.types.chat import ModelReply
from asterism.types.errors import BadReply, ProviderDown, ProviderMissing

Sample: TypeAlias = Callable[[ModelRequest], Awaitable[ModelReply]]
"""Asks the client; whoever serves the client supplies it, and maps the protocol's errors."""


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
