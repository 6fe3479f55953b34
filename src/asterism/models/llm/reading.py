"""What a stream has said so far, whatever protocol it speaks."""

import sys
from asyncio import to_thread
from collections.abc import Callable
from typing import Any

from asterism.models.http.retries import PassingFailure
from asterism.models.http.service import ServiceName
from asterism.models.llm.calls import CallPieces
from asterism.models.llm.failures import web_page
from asterism.types.chat import NO_USAGE, Ending, ModelReply, Usage


class Reading:
    """Text, calls and counts as they come in."""

    def __init__(self, model_id: str) -> None:
        """Nothing has come yet; `model_id` stands until the server names its model."""
        self.model_id = model_id
        self.calls = CallPieces()
        self.usage = NO_USAGE
        self.ending = Ending.answer
        self.ended = False
        """Whether the server said that this is all."""
        self._text: list[str] = []

    def add(self, text: object) -> str:
        """Take a piece of text in; what is none counts for nothing."""
        piece = text if isinstance(text, str) else ""
        if piece:
            self._text.append(piece)
        return piece

    def count(self, read: object, said: object) -> None:
        """Take the server's count of tokens in, as far as it gives one."""
        self.usage = Usage(
            read if isinstance(read, int) else self.usage.input_tokens,
            said if isinstance(said, int) else self.usage.output_tokens,
        )

    def reply(self, content_type: str, service: ServiceName) -> ModelReply:
        """All of it, if it is all there is."""
        calls = self.calls.calls()
        if not (self.ended or self._text or calls) and "event-stream" not in content_type:
            raise web_page(service)
        if not self.ended:
            raise PassingFailure("the connection ended before the answer did")
        ending = Ending.calls if calls else self.ending
        return ModelReply("".join(self._text), calls, self.usage, self.model_id, ending)


async def loaded(name: str, load: Callable[[], Any]) -> Any:
    """A library, which takes a second to load the first time; others go on meanwhile."""
    return load() if name in sys.modules else await to_thread(load)
