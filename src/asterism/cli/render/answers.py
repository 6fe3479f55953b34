"""An answer as people see it: piece by piece on a terminal, then the places it rests on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

from asterism.cli.terminal import agreed, can_ask, console, printable, show
from asterism.engine.chat.requests import Answered, AskRequest, GoOnRequest, TurnHandle
from asterism.engine.chat.service import Asking
from asterism.engine.chat.sources import unnamed
from asterism.store.registry import Registered
from asterism.types.chat import (
    Discarded,
    Noted,
    Token,
    ToolCall,
    ToolStarted,
    Turn,
    TurnDone,
    TurnEvent,
    TurnFailed,
    TurnStatus,
)

if TYPE_CHECKING:
    from rich.console import Console

LONGEST_NAME = 80
"""Characters of a name beside its place; of a longer one the end."""
LONGEST_ARGUMENTS = 100
"""Characters of a tool call's arguments that are shown."""

Begin: TypeAlias = Callable[[Callable[[TurnEvent], None]], TurnHandle]


@dataclass(frozen=True, slots=True)
class Display:
    """How much is shown, and who agrees to calls that need it."""

    streams: bool
    """Whether tokens are shown while they arrive; only a terminal can erase some."""
    tells: bool = True
    """Whether tools and notes are told on standard error."""
    yes: bool = False
    """Whether every call is agreed to."""


class Conversing:
    """Questions to one repository, shown as they are answered."""

    def __init__(self, asking: Asking, registered: Registered, display: Display) -> None:
        self._asking = asking
        self._registered = registered
        self._display = display
        self._out: Console | None = console()

    def ask(self, request: AskRequest) -> Answered:
        """Ask, follow the answer, and ask the user about calls that need approval."""
        answered = self._follow(lambda hear: self._asking.ask(self._registered, request, hear))
        return self._settled(answered, request.model, request.provider)

    def resume(self, turn: Turn) -> Answered | None:
        """Go on with a turn that was interrupted, or that waits for approval.

        None if the user does not decide.
        """
        approvals: dict[str, bool] | None = {}
        if turn.status is TurnStatus.awaiting_approval:
            approvals = self._words_on(turn)
        if approvals is None:
            return None
        return self._settled(self._resumed(GoOnRequest(turn=turn.id, approvals=approvals)))

    def _settled(self, answered: Answered, model: str = "", provider: str = "") -> Answered:
        """The answer once no call waits for approval, or the user does not decide."""
        while answered.turn.status is TurnStatus.awaiting_approval:
            approvals = self._words_on(answered.turn)
            if not approvals:
                break
            turn = answered.turn.id
            answered = self._resumed(
                GoOnRequest(turn=turn, approvals=approvals, model=model, provider=provider)
            )
        return answered

    def _resumed(self, request: GoOnRequest) -> Answered:
        return self._follow(lambda hear: self._asking.go_on(self._registered, request, hear))

    def _words_on(self, turn: Turn) -> dict[str, bool] | None:
        """The user's decision on each call that waits; None without a terminal or on Ctrl-C."""
        if not self._display.yes and not can_ask():
            return None
        try:
            return {call.id: self._is_allowed(call) for call in turn.pending}
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            return None

    def _follow(self, begin: Begin) -> Answered:
        """Show the events of a turn; Ctrl-C stops it, and what was said until then is kept."""
        events: SimpleQueue[TurnEvent | None] = SimpleQueue()
        asked = begin(events.put)
        asked.answer.add_done_callback(lambda _future: events.put(None))
        shown = _Shown(self._display)
        while True:
            try:
                shown.all(events)
                return asked.result()
            except KeyboardInterrupt:
                asked.stop()

    def _is_allowed(self, call: ToolCall) -> bool:
        return self._display.yes or agreed(f"Call {_named(call)}?")

    def show_sources(self, answered: Answered) -> None:
        """The places that an answer rests on, each checked just now.

        Those that the answer names itself are only shown where they are gone.
        """
        shown = [
            found
            for found in answered.citations
            if not found.exists or found.citation in unnamed(answered.turn)
        ]
        if shown:
            show(self._out, ("", ""))
        for found in shown:
            name = found.citation.name
            name = name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}"
            gone = "" if found.exists else "  (no longer there)"
            place = f"  {found.citation.place}"
            show(self._out, (place, "cyan"), (f"  {name}" if name else "", "dim"), (gone, "yellow"))


def complain(answered: Answered, next_step: str = "ask again with --yes, or at a terminal") -> None:
    """Print the problems of an answer, and what to do about them."""
    turn = answered.turn
    if turn.error is not None:
        sys.stderr.write(f"asterism: {printable(turn.error.message)}\n")
    elif turn.status is TurnStatus.awaiting_approval:
        names = ", ".join(call.name for call in turn.pending)
        sys.stderr.write(
            f"asterism: {printable(names)} may only be called if you agree; {next_step}.\n"
        )


class _Shown:
    """What a terminal shows of a turn while it runs."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._is_open = False
        """Whether the last line is not ended yet."""

    def all(self, events: SimpleQueue[TurnEvent | None]) -> None:
        """Show event after event, until there are no more."""
        while (event := events.get()) is not None:
            self._one(event)

    def _one(self, event: TurnEvent) -> None:
        match event:
            case Token(text) if self._display.streams and text:
                sys.stdout.write(printable(text))
                sys.stdout.flush()
                self._is_open = not text.endswith("\n")
            case Discarded():
                self._end_line()
            case ToolStarted(call) if self._display.tells:
                self._tell(f"… {_named(call)}")
            case Noted(text) if self._display.tells:
                self._tell(f"asterism: {text}")
            case TurnDone() | TurnFailed():
                self._end_line()
            case _:
                pass

    def _tell(self, line: str) -> None:
        self._end_line()
        sys.stderr.write(f"{printable(line)}\n")
        sys.stderr.flush()

    def _end_line(self) -> None:
        if self._is_open:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._is_open = False


def _named(call: ToolCall) -> str:
    arguments = " ".join(call.arguments.split())
    cut = "…" if len(arguments) > LONGEST_ARGUMENTS else ""
    return f"{call.name}({arguments[:LONGEST_ARGUMENTS]}{cut})"
