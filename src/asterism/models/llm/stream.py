"""A reply that is streamed with patience: sent again while nothing has come, never after."""

import asyncio
import json
import re
import sys
from asyncio import to_thread
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, NamedTuple, TypeAlias

from asterism.models.http.answers import PassingFailure, wait_before
from asterism.models.http.service import ServiceName
from asterism.models.llm.failures import cut, down, web_page
from asterism.telemetry.operations import record_retry
from asterism.types.chat import NO_USAGE, Ending, ModelReply, ToolCall, Usage


class CallPieces:
    """Collects calls; servers differ in how they number and name the pieces."""

    def __init__(self) -> None:
        """No call yet."""
        self._order: list[_Draft] = []
        self._by_index: dict[int, _Draft] = {}

    def add(self, index: object, call_id: object, name: object, arguments: object) -> None:
        """A piece: whatever is known of a call, by its number if the server gives one."""
        draft = self._draft(index, _string(call_id))
        draft.id = draft.id or _string(call_id)
        # The name comes whole; some servers repeat it with every piece.
        draft.name = draft.name or _string(name)
        draft.arguments += _written(arguments)

    def calls(self) -> tuple[ToolCall, ...]:
        """All of them, each with an id of its own."""
        seen: set[str] = set()
        calls = []
        for number, draft in enumerate(self._order, 1):
            name = draft.id if draft.id and draft.id not in seen else f"call_{number}_{draft.name}"
            seen.add(name)
            calls.append(ToolCall(name, draft.name, draft.arguments))
        return tuple(calls)

    def _draft(self, index: object, call_id: str) -> "_Draft":
        number = index if isinstance(index, int) else len(self._order) - (not call_id)
        draft = self._by_index.get(number)
        # Some servers give every call the number 0; another id is another call.
        if draft is None or (call_id and draft.id and call_id != draft.id):
            draft = _Draft()
            self._by_index[number] = draft
            self._order.append(draft)
        return draft


class _Draft:
    """A call so far."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = ""


def sound_arguments(written: str) -> dict[str, Any]:
    """The arguments of an earlier call as an object; servers refuse a history with broken ones."""
    try:
        arguments = json.loads(written or "{}")
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def sound_name(written: str) -> str:
    """The name of an earlier call as servers accept it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", written)[:64] or "unnamed"


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _written(arguments: Any) -> str:
    """Arguments as text; some servers send them as an object already."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments) if isinstance(arguments, dict) else ""


class StreamedReply:
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


LONGEST_WAIT = 20.0
"""Seconds between two attempts; a server that asks for more is given up. Somebody waits."""

Pieces: TypeAlias = AsyncGenerator[str | ModelReply, None]


class Persistence(NamedTuple):
    """How long and how often an answer is tried for."""

    attempts: int
    total_seconds: float
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep


async def persistently(
    open_stream: Callable[[], Pieces], service: ServiceName, how: Persistence
) -> Pieces:
    """The pieces of the first attempt that begins; `PassingFailure`s are ours to handle."""
    deadline = asyncio.get_running_loop().time() + how.total_seconds
    attempt = 0
    while True:
        attempt += 1
        begun = False
        try:
            # An attempt that is left early lets go of its connection at once.
            async with aclosing(_before(deadline, open_stream())) as stream:
                async for piece in stream:
                    begun = True
                    yield piece
                return
        except PassingFailure as failure:
            if begun:
                raise cut(service, str(failure)) from None
            asked = failure.wait
            if attempt >= how.attempts or (asked or 0) > LONGEST_WAIT:
                raise down(service, failure, attempt) from None
            pause = wait_before(attempt, LONGEST_WAIT) if asked is None else asked
            record_retry("model", service.name, str(failure))
        await how.sleep(pause)


async def _before(deadline: float, stream: Pieces) -> Pieces:
    """The pieces that come before the time is over."""
    async with aclosing(stream):
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    piece = await anext(stream)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise PassingFailure("its answer took too long") from None
            yield piece
