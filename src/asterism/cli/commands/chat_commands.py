"""What can be done in a chat beside asking: commands that begin with a slash."""

import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from asterism.cli.render.answers import Conversing, complain
from asterism.cli.terminal import console, printable, show
from asterism.engine.chat.agents import options_for
from asterism.engine.chat.requests import Answered
from asterism.engine.chat.service import Asking
from asterism.engine.engine import Engine
from asterism.store.registry import Registered
from asterism.types.chat import RESUMABLE, Turn, TurnStatus
from asterism.types.context import ItemKind
from asterism.types.errors import UsageError

LISTED = 10
"""Conversations that `/conversations` shows."""
WAITING = "/resume asks you again, at a terminal"
"""What to do where a tool call waits for approval."""


class Quit(Exception):
    """The user leaves."""


class ChatState:
    """Where a chat stands: who is asked, and in which conversation."""

    def __init__(
        self, engine: Engine, asking: Asking, registered: Registered, conversing: Conversing
    ) -> None:
        self.engine = engine
        self.asking = asking
        self.registered = registered
        self.conversing = conversing
        self.agent = ""
        self.model = ""
        self.conversation = ""
        """The id; nothing until the first question of a new one."""
        self.retries: int | None = None
        self.last: Turn | None = None
        """The turn that was answered last."""

    def take_up(self, typed: str) -> None:
        """Go on with a conversation."""
        here = self.registered.repository.name
        found = self.engine.records().conversations().find(typed, here)
        self.conversation, self.agent = found.id, found.agent
        turns = self.engine.records().turns().of(found.id)
        self.last = turns[-1].turn if turns else None


def command(state: ChatState, line: str) -> None:
    """Carry out a line that begins with a slash."""
    name, _, rest = line[1:].partition(" ")
    found = COMMANDS.get(name.lower())
    if found is None:
        raise UsageError(f"There is no command /{name[:40]}; /help shows those there are.")
    found.run(state, rest.strip())
    sys.stdout.flush()


def _help(_state: ChatState, _rest: str) -> None:
    for name, entry in COMMANDS.items():
        usage = f"/{name} {entry.argument}".rstrip()
        show(console(), (f"  {usage:<22}", "cyan"), (entry.purpose, ""))


def _agent(state: ChatState, rest: str) -> None:
    if not rest:
        _say(f"Agent: {state.agent or 'none'}.")
        names = [agent.name for agent in state.asking.agents(state.registered)]
        _say(f"There are {', '.join(names)}." if names else "No agents are set up.")
        return
    name = "" if rest == "none" else rest
    if name:
        state.asking.check_agent(name, state.registered)
    state.agent, state.conversation = name, ""
    _say(f"A new conversation, with {name or 'no agent'}.")


def _model(state: ChatState, rest: str) -> None:
    settings = state.engine.settings_of(state.registered)
    if rest:
        options_for(settings, rest)
        state.model = rest
    chosen = options_for(settings, state.model)
    _say(f"Answers come from {chosen.model or chosen.provider} ({chosen.provider}).")


def _context(state: ChatState, _rest: str) -> None:
    turn = state.last
    if turn is None:
        _say("Nothing was asked yet.")
        return
    context = turn.context
    _say(f"The last answer came from {turn.model_id or turn.provider}.")
    for kind in ItemKind:
        items = [entry for entry in context.items if entry.key.kind is kind] if context else []
        for entry in items:
            score = "" if entry.score is None else f", {entry.score:.2f}"
            _say(f"  {entry.key}  ({entry.mode.value}{score})")
    for result in turn.grounding:
        _say(f"  {result.name}: {len(result.text):,} characters")
    for one in turn.rounds:
        for call in one.calls:
            _say(f"  called {call.name}")
    for place in turn.citations:
        near = "" if place.distance is None else f", distance {place.distance:.2f}"
        _say(f"  {place.place}{near}")
    for note in turn.notes:
        _say(f"  {note}")


def _new(state: ChatState, _rest: str) -> None:
    state.conversation, state.last = "", None
    _say("A new conversation.")


def _conversations(state: ChatState, _rest: str) -> None:
    page = state.engine.records().conversations().page(limit=LISTED)
    if not page.conversations:
        _say("No conversations yet.")
    for entry in page.conversations:
        here = "*" if entry.id == state.conversation else " "
        turns = "1 turn" if entry.turns == 1 else f"{entry.turns} turns"
        show(
            console(),
            (f"{here} {entry.id[:8]}  ", "cyan"),
            (entry.title, ""),
            (f"  {entry.repository}, {turns}", "dim"),
        )


def _resume(state: ChatState, rest: str) -> None:
    state.take_up(rest or "last")
    found = state.engine.records().conversations().get(state.conversation)
    _say(f"Going on with {found.title!r}.")
    last = state.last
    if last is None:
        return
    _say(f"Asked last: {' '.join(last.question.split())[:200]}")
    go_on(state)


def go_on(state: ChatState) -> None:
    """Answer what the conversation was left at, if it was left in the middle."""
    last = state.last
    if last is None or last.status not in RESUMABLE:
        return
    if last.status is TurnStatus.interrupted:
        _say("That was interrupted; it is answered now.")
    answered = state.conversing.resume(last)
    if answered is None:
        raise UsageError(f"The answer still waits for your word; {WAITING}.")
    show_answer(state, answered)


def show_answer(state: ChatState, answered: Answered) -> None:
    """What was answered, with the places it rests on, and what is wrong with it."""
    state.conversation, state.last = answered.conversation.id, answered.turn
    answer = printable(answered.turn.answer.rstrip())
    if answer and not sys.stdout.isatty():
        sys.stdout.write(f"{answer}\n")
    state.conversing.show_sources(answered)
    sys.stdout.write("\n")
    sys.stdout.flush()
    complain(answered, WAITING)


def _archive(state: ChatState, rest: str) -> None:
    conversations = state.engine.records().conversations()
    id_ = conversations.find(rest).id if rest else state.conversation
    if not id_:
        raise UsageError("There is no conversation yet; /archive ID archives another one.")
    title = conversations.archive(id_).title
    if id_ == state.conversation:
        state.conversation, state.last = "", None
    _say(f"Archived {title!r}. `asterism conversations restore` brings it back.")


def _stop(state: ChatState, _rest: str) -> None:
    """Nothing runs here while the user types; another process may be answering."""
    turns = state.engine.records().turns()
    running = [
        one.turn
        for one in (turns.of(state.conversation) if state.conversation else [])
        if one.turn.status is TurnStatus.running
    ]
    stopped = [turn for turn in running if state.asking.stop(turn.id)]
    _say("Stopped." if stopped else "Nothing is being answered; Ctrl-C stops an answer.")


def _quit(_state: ChatState, _rest: str) -> None:
    raise Quit


class _Command(NamedTuple):
    run: Callable[[ChatState, str], None]
    purpose: str
    argument: str = ""


COMMANDS: Mapping[str, _Command] = {
    "help": _Command(_help, "show this"),
    "agent": _Command(_agent, "ask this agent, or none, in a new conversation", "[NAME]"),
    "model": _Command(_model, "answer with this model: NAME, PROVIDER/NAME, extractive", "[NAME]"),
    "context": _Command(_context, "show what the last answer was made from"),
    "new": _Command(_new, "begin a new conversation"),
    "conversations": _Command(_conversations, "list the latest conversations"),
    "resume": _Command(_resume, "go on with a conversation, the last one by default", "[ID]"),
    "archive": _Command(_archive, "put this conversation away, or another", "[ID]"),
    "stop": _Command(_stop, "stop an answer that another process is giving"),
    "quit": _Command(_quit, "leave"),
}


def _say(text: str) -> None:
    sys.stdout.write(f"{printable(text)}\n")
