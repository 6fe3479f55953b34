"""What every language model does: answer a request, piece by piece."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from asterism.types.chat import Message, ModelReply, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """All that a model is asked with."""

    messages: tuple[Message, ...]
    """System messages first."""
    tools: tuple[ToolSpec, ...] = ()
    may_call: bool = True
    """Whether it may call tools now; the tools of earlier calls have to be named in any case."""
    max_output_tokens: int = 4096
    temperature: float | None = None
    """None leaves it to the model; some refuse any value."""
    top_p: float | None = None


class LanguageModel(Protocol):
    """Answers messages, piece by piece."""

    @property
    def provider(self) -> str:
        """Who answers, as the settings spell it."""
        ...

    @property
    def model_id(self) -> str:
        """Which model; a reply may know it better."""
        ...

    @property
    def window(self) -> int:
        """The tokens that a request and its answer may have together; 0 if unknown."""
        ...

    @property
    def calls_tools(self) -> bool:
        """Whether it can call tools at all."""
        ...

    def reply(self, request: ModelRequest) -> AsyncGenerator[str | ModelReply, None]:
        """Pieces of text as they arrive, and at the end all of it as one record.

        A failure before the first piece was tried again already. Failures are ProviderErrors that
        say what to do next. Closing the iterator, or cancelling the task that waits for it, closes
        the connection.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
