"""Turns that run by themselves: their events are read, and they can be stopped."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

from asterism.chat.ports import INTERNAL, TurnOptions
from asterism.chat.turn import Conduct, Parts
from asterism.telemetry.events import log_failure
from asterism.telemetry.operations import MeasuredOperation
from asterism.types.chat import RESUMABLE, Turn, TurnDone, TurnEvent, TurnFailed, TurnStatus
from asterism.types.errors import UsageError


class RunningTurn:
    """A turn on its way; one reader, who may come late or never."""

    def __init__(
        self, turn: Turn, parts: Parts, options: TurnOptions, approvals: Mapping[str, bool]
    ) -> None:
        """Begin at once; an event loop has to run."""
        self._events: asyncio.Queue[TurnEvent] = asyncio.Queue()
        self._conduct = Conduct(turn, parts, options, self._emit)
        self._approvals = approvals
        self._begun = self._stopping = self._over = False
        self._task = asyncio.create_task(self._live(), name=f"turn {turn.id}")
        self._task.add_done_callback(self._ended)

    @property
    def turn(self) -> Turn:
        """What is known so far."""
        return self._conduct.turn

    def stop(self) -> None:
        """End it now; what was said until then is its answer. Nothing happens if it is over."""
        # A task that was never begun could not keep its turn; saving it is not broken off either.
        if self._begun and not self._stopping:
            self._task.cancel()
        self._stopping = True

    async def wait(self) -> Turn:
        """The turn when it is over."""
        await asyncio.wait([self._task])
        return self.turn

    async def __aiter__(self) -> AsyncIterator[TurnEvent]:
        """Every event until the last, which is `TurnDone` or `TurnFailed`."""
        while True:
            event = await self._events.get()
            yield event
            if isinstance(event, TurnDone | TurnFailed):
                return

    async def _live(self) -> None:
        self._begun = True
        conduct = self._conduct
        with MeasuredOperation("turn") as done:
            try:
                if self._stopping:
                    await conduct.end(TurnStatus.stopped)
                else:
                    await conduct.run(self._approvals)
            except asyncio.CancelledError:
                status = TurnStatus.stopped if self._stopping else TurnStatus.interrupted
                await conduct.end(status)
                if not self._stopping:
                    raise
            except Exception as error:  # noqa: BLE001 - the outer edge: a reader waits for the end
                log_failure("turn", error)
                conduct.turn = replace(conduct.turn, error=INTERNAL)
                await conduct.end(TurnStatus.failed)
            finally:
                _note(done, self.turn)

    def _emit(self, event: TurnEvent) -> None:
        self._over = self._over or isinstance(event, TurnDone | TurnFailed)
        self._events.put_nowait(event)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """No reader waits for an end that does not come: the task did not begin, or broke."""
        if self._over:
            return
        if task.cancelled():
            self._emit(TurnDone(replace(self.turn, status=TurnStatus.interrupted)))
            return
        if (error := task.exception()) is not None:
            log_failure("turn", error)
        failed = replace(self.turn, status=TurnStatus.failed, error=INTERNAL)
        self._emit(TurnFailed(failed, INTERNAL))


def start(turn: Turn, parts: Parts, options: TurnOptions) -> RunningTurn:
    """Begin a new turn."""
    return RunningTurn(turn, parts, options, {})


def resume(
    turn: Turn, parts: Parts, options: TurnOptions, approvals: Mapping[str, bool]
) -> RunningTurn:
    """Go on with a turn that waits or was interrupted, with the same context.

    `approvals` says by id which calls the user approved or refused; other waiting calls go on
    waiting. What an interrupted turn had begun and not finished is done again, except for tools
    that can change something, which ask.
    """
    if turn.status not in RESUMABLE:
        raise UsageError(
            f"The turn is {turn.status.value}; only one that waits or was interrupted can go on. "
            "Ask the question again."
        )
    return RunningTurn(turn, parts, options, approvals)


def _note(done: MeasuredOperation, turn: Turn) -> None:
    """Numbers for the log; no word of what was asked or said."""
    done.outcome = "error" if turn.status is TurnStatus.failed else turn.status.value
    done.mode = turn.provider
    done.note(
        model=turn.model_id,
        rounds=len(turn.rounds),
        calls=sum(len(one.calls) for one in turn.rounds),
        input_tokens=turn.usage.input_tokens,
        output_tokens=turn.usage.output_tokens,
        citations=len(turn.citations),
        error=turn.error.code if turn.error else None,
    )
