"""`asterism ask` and `asterism chat`: answers, and the places they rest on."""

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from asterism.cli.commands.chat_commands import (
    COMMANDS,
    ChatState,
    Quit,
    command,
    go_on,
    show_answer,
)
from asterism.cli.options import add_json, add_path, add_request, request_from
from asterism.cli.parser import CommandParser
from asterism.cli.render.answers import Conversing, Display, complain
from asterism.cli.setup import engine, place_named, question_typed
from asterism.cli.terminal import console, printable, show, write_json
from asterism.config.environment import data_directory
from asterism.engine.chat.requests import AskRequest, answer_json
from asterism.engine.chat.service import Asking
from asterism.operations.chat_requests import Ask
from asterism.operations.requests import engine_request
from asterism.types.chat import TurnStatus
from asterism.types.errors import AsterismError


def declare(parser: CommandParser) -> None:
    """Add the arguments of the command that is meant."""
    if parser.command == "chat":
        _who_answers(parser)
        return
    add_request(parser, Ask, "question")
    _who_answers(parser)
    parser.add_argument(
        "--no-stream", action="store_true", help="print the answer when it is whole"
    )
    add_request(parser, Ask, "requestId")
    parser.add_argument(
        "--yes", action="store_true", help="agree to every call of a tool that needs it"
    )
    add_json(parser)


def _who_answers(parser: CommandParser) -> None:
    add_path(parser, "anything in the repository (default: here)")
    add_request(parser, Ask, "agentName", "model", "conversationId", "retries")


def run(options: argparse.Namespace) -> int:
    """Answer one question, or one after the other."""
    return _chat(options) if options.command == "chat" else _ask(options)


_CODES = {TurnStatus.done: 0, TurnStatus.stopped: 130, TurnStatus.failed: 2}


def _ask(options: argparse.Namespace) -> int:
    """Print the answer; the exit code says whether there is one."""
    question = question_typed(options.question)
    place = place_named(options.path)
    with closing(engine()) as here, closing(Asking(here)) as asking:
        registered = here.locate(place)
        conversation = options.conversationId
        if conversation:
            here_name = registered.repository.name
            conversation = here.records().conversations().find(conversation, here_name).id
        asked = request_from(Ask, options, question=question, conversationId=conversation)
        streams = sys.stdout.isatty() and not options.no_stream and not options.json
        display = Display(streams, tells=not options.json, yes=options.yes)
        conversing = Conversing(asking, registered, display)
        answered = conversing.ask(engine_request(asked, AskRequest))
        if options.json:
            write_json(answer_json(answered))
        else:
            answer = printable(answered.turn.answer.rstrip())
            if answer and (not streams or answered.is_repeat):
                sys.stdout.write(f"{answer}\n")
            conversing.show_sources(answered)
            sys.stdout.flush()
            complain(answered)
            if answered.turn.status is TurnStatus.done and sys.stderr.isatty():
                id_ = answered.conversation.id[:8]
                sys.stderr.write(f"\nGo on with: asterism ask --conversation {id_} …\n")
    return _CODES.get(answered.turn.status, 1)


HISTORY_FILE = "chat_history"


def _chat(options: argparse.Namespace) -> int:
    """Answer until the user leaves."""
    place = place_named(options.path)
    with closing(engine()) as here, closing(Asking(here)) as asking:
        registered = here.locate(place)
        streams = sys.stdout.isatty()
        conversing = Conversing(asking, registered, Display(streams))
        state = ChatState(here, asking, registered, conversing)
        state.agent, state.model = options.agentName or "", options.model or ""
        if options.conversationId:
            state.take_up(options.conversationId)
        state.retries = options.retries
        is_terminal = streams and sys.stdin is not None and sys.stdin.isatty()
        if is_terminal:
            show(console(), (f"{registered.repository.name}. ", "bold"), (_WELCOME, "dim"))
        return _converse(state, _prompt() if is_terminal else _line)


_WELCOME = "Ask something; /help lists commands. Ctrl-C stops an answer, Ctrl-D ends."


def _converse(state: ChatState, read: Callable[[], str | None]) -> int:
    try:
        # A conversation that is taken up may have been left in the middle of an answer.
        _carry_out(partial(go_on, state))
        while (line := read()) is not None:
            text = line.strip()
            if text:
                _carry_out(partial(command if text.startswith("/") else _answer, state, text))
    except Quit:
        pass
    return 0


def _carry_out(work: Callable[[], None]) -> None:
    """One question that cannot be answered does not end the chat."""
    try:
        work()
    except AsterismError as error:
        sys.stdout.flush()
        sys.stderr.write(f"asterism: {error}\n")


def _answer(state: ChatState, question: str) -> None:
    answered = state.conversing.ask(
        AskRequest(
            question=question,
            conversation=state.conversation,
            agent=state.agent,
            model=state.model,
            retries=state.retries,
        )
    )
    show_answer(state, answered)


def _line() -> str | None:
    """The next line of standard input; None at its end."""
    if sys.stdin is None:
        return None
    line = sys.stdin.readline()
    return line if line else None


def _prompt() -> Callable[[], str | None]:
    """Lines from a terminal, with what was asked before."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory, History, InMemoryHistory

    path = data_directory() / HISTORY_FILE
    history: History = FileHistory(str(path)) if _make_private(path) else InMemoryHistory()
    words = WordCompleter([f"/{name}" for name in COMMANDS], sentence=True)
    session: PromptSession[str] = PromptSession(history=history, completer=words)

    def read() -> str | None:
        while True:
            try:
                return session.prompt("> ")
            except KeyboardInterrupt:
                # As shells do: the line is dropped.
                continue
            except EOFError:
                return None

    return read


def _make_private(path: Path) -> bool:
    """Make the file of what was typed readable for its owner only; False if it cannot be made."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError:
        return False
    return True
