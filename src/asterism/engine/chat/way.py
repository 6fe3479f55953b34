"""A question on its way: what whoever asked can hold on to, from any thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from asterism.engine.chat.requests import Answered
from asterism.types.chat import TurnEvent

if TYPE_CHECKING:
    # It brings the database, which whoever only names a question does not need.
    from asterism.records.turns import Begun

Hear: TypeAlias = Callable[[TurnEvent], None]
"""Called with each event of a turn, in the thread of its event loop: it must not wait."""


class Asked:
    """Any thread may wait for it, or stop it."""

    def __init__(self) -> None:
        self.begun: Future[Begun] = Future()
        """The turn, once it is known; an error if there is none."""
        self.answer: Future[Answered] = Future()
        self.wish = asyncio.Event()
        """Set when it is to end; only its own event loop looks at it."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False

    def stop(self) -> None:
        """End it; what was said until then is the answer."""
        self._stopped = True
        if self._loop is not None:
            # A loop that has ended has nothing left to stop.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.wish.set)

    def result(self, timeout: float | None = None) -> Answered:
        """The answer, or the error that there is none."""
        return self.answer.result(timeout)

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to be answered in this event loop."""
        self._loop = loop
        if self._stopped:
            self.wish.set()

    async def stopped_within(self, seconds: float) -> bool:
        """Wait so long; whether it was stopped meanwhile."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.wish.wait()
        return self.wish.is_set()
