"""Streams a model reply, retries until the first token, and maps failures to our errors."""

import asyncio
import json
import re
import sys
from asyncio import to_thread
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, NamedTuple, TypeAlias

from asterism.models.http.service import (
    BATCH_TOO_LARGE,
    PASSING,
    TEXT_TOO_LONG,
    Errand,
    PassingFailure,
    ServiceName,
    asked_wait,
    wait_before,
)
from asterism.telemetry.operations import record_retry
from asterism.types.chat import NO_USAGE, Ending, ModelReply, ToolCall, Usage
from asterism.types.errors import ProviderDown, ProviderRefused, ReplyCut, TextTooLong

ERRAND = Errand("answer", "model", "model.name and model.url")
"""What a language model is asked for, as messages and settings call it."""

MAY_BE_TOO_LONG = {400, 413, 422, 500}

# Anthropic and others, beside what embedding servers say.
_TOO_LONG = ("prompt is too long", "context_length", "too many input tokens", "exceed_context_size")


def status_failure(
    status: int, headers: Mapping[str, str], body: object, service: ServiceName
) -> Exception:
    """What a status other than 200 means; no body is passed on, for it may quote the request."""
    text = _text(body)
    if status in MAY_BE_TOO_LONG and _says_too_long(text):
        return too_long(service)
    if status in PASSING:
        reason = "it refuses more requests for now" if status == 429 else "it failed"
        lower = {name.lower(): value for name, value in headers.items()}
        return PassingFailure(f"{reason} (status {status})", asked_wait(lower))
    return refusal(status, service)


def too_long(service: ServiceName) -> TextTooLong:
    """The messages are over the model's window."""
    return TextTooLong(
        f"The conversation is longer than {service} can read; ask anew in a new conversation, or "
        "set model.window to what the model can read, so that less is sent."
    )


def refusal(status: int, service: ServiceName) -> ProviderRefused:
    """What to look at when a request is not accepted."""
    if status in (401, 403):
        key = "does not accept the key; check" if service.has_key else "wants a key; set"
        advice = f"{key} {service.key_variables}"
    elif status == 404:
        advice = "does not know the address or the model; check model.url and model.name"
    elif 300 <= status < 400:
        advice = "sends us to another address; check model.url"
    else:
        advice = f"does not accept the request; check {service.errand.suspects}"
    return ProviderRefused(f"{service} {advice} (status {status}).")


def web_page(service: ServiceName) -> ProviderRefused:
    """Something else than a model answers at the address."""
    return ProviderRefused(
        f"{service} answered with something else than a model's answer; check model.url; that of "
        "OpenAI's protocol mostly ends in /v1."
    )


def down(service: ServiceName, failure: PassingFailure, attempts: int) -> ProviderDown:
    """The last of several attempts failed."""
    asked = "" if failure.wait is None else f", and asked to wait for {failure.wait:.0f} seconds"
    tried = "once" if attempts == 1 else f"{attempts} times"
    return ProviderDown(
        f"{service} gave no answer: {failure}{asked} (tried {tried}). Check that it runs and that "
        "model.url is right, try again later, or answer without a model: set model.provider to "
        "extractive."
    )


def cut(service: ServiceName, reason: str) -> ReplyCut:
    """The answer had begun, and there is no more of it."""
    return ReplyCut(f"{service} broke off in the middle of its answer: {reason}. Ask again.")


def _says_too_long(text: str) -> bool:
    lower = text.lower()
    known = any(words in lower for words in _TOO_LONG)
    return known or bool(TEXT_TOO_LONG.search(text) or BATCH_TOO_LARGE.search(text))


def _text(body: object) -> str:
    if isinstance(body, str):
        return body[:10_000]
    return json.dumps(body, default=str)[:10_000]


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
    """Text, calls and counts as they arrive."""

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
        """Add a piece of text; anything else is ignored."""
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
"""Seconds between two attempts; a server that asks for more is given up, as a user waits."""

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
