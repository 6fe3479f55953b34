"""A reply that is streamed with patience: sent again while nothing has come, never after."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import NamedTuple, TypeAlias

from asterism.models.http.retries import PassingFailure, wait_before
from asterism.models.http.service import ServiceName
from asterism.models.llm.failures import cut, down
from asterism.telemetry.operations import record_retry
from asterism.types.chat import ModelReply

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
