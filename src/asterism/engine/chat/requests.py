"""A question as callers ask it, and what they get."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from asterism.engine.chat.sources import Checked
from asterism.types.chat import Conversation, Turn, TurnEvent

if TYPE_CHECKING:
    from asterism.records.turns import Begun


WAIT_SECONDS = 300.0
"""How long a question waits for the one before it; a model takes minutes at worst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """A question, and who is to answer it."""

    question: str
    conversation: str = ""
    """Go on with this one; nothing begins a new one."""
    agent: str = ""
    """Nothing means the conversation's, or none."""
    model: str = ""
    """A name, `PROVIDER/NAME` or `extractive`; nothing means what the settings say."""
    provider: str = ""
    request_id: str = ""
    """Repeated, the request is not answered twice."""
    retries: int | None = None
    """How often the model may judge the hits and search again; None means the settings'."""
    wait_seconds: float = WAIT_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class GoOnRequest:
    """A turn that waits for approval, or was interrupted, is to go on."""

    turn: str
    approvals: Mapping[str, bool]
    """Somebody's word on calls, by their ids."""
    model: str = ""
    provider: str = ""
    wait_seconds: float = WAIT_SECONDS


class Answered(NamedTuple):
    """A turn that ended, or waits."""

    conversation: Conversation
    turn: Turn
    number: int
    citations: tuple[Checked, ...]
    """The places it rests on, each looked for just now."""
    is_repeat: bool = False
    """It was answered before, under the same request id."""


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
