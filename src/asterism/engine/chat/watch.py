"""While a turn is answered: word that it still is, and an ear for whoever wants it to stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from asterism.engine.chat.threads import Threads
from asterism.records.turns import Turns
from asterism.types.chat import Turn, TurnStatus
from asterism.types.errors import AsterismError, RecordsError, StorageFailed

BEAT_SECONDS = 10.0
"""A sixth of the time after which a silent owner is taken for dead."""
LOOK_SECONDS = 0.5
"""How long a stop that another process asked for may take to be heard."""


class Keeping:
    """Keeps one turn; the recorder of its chat."""

    def __init__(self, turns: Turns, threads: Threads) -> None:
        self._turns = turns
        self._threads = threads

    async def save(self, turn: Turn) -> None:
        """Replace what is known of the turn."""
        running = turn.status is TurnStatus.running
        try:
            await self._threads.keep(self._turns.save if running else self._turns.finish, turn)
        except RecordsError as error:
            # The answer comes in any case, with a word that it is not kept.
            raise StorageFailed(str(error)) from error

    async def note(self, id_: str, kind: str, data: dict[str, object]) -> None:
        """Note something that happened; the turn itself is kept in any case."""
        with suppress(AsterismError):
            await self._threads.keep(self._turns.record, id_, kind, data)

    @asynccontextmanager
    async def attended(self, id_: str, stop: asyncio.Event) -> AsyncIterator[None]:
        """Inside, the turn counts as being answered, and `stop` is set when it is to end."""
        watching = asyncio.create_task(self._watch(id_, stop))
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    async def _watch(self, id_: str, stop: asyncio.Event) -> None:
        since = 0.0
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            since += LOOK_SECONDS
            # A database that does not answer now is said when the turn is saved.
            with suppress(AsterismError):
                if await self._threads.keep(self._turns.is_stopped, id_):
                    stop.set()
                if since >= BEAT_SECONDS:
                    since = 0.0
                    await self._threads.keep(self._turns.beat, id_)
