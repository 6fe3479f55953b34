"""`asterism chat`: question after question, with commands that begin with a slash."""

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
from asterism.cli.render.answers import Conversing, Display
from asterism.cli.setup import directory_named, engine
from asterism.cli.terminal import console, show
from asterism.config.environment import data_directory
from asterism.engine.chat.requests import AskRequest
from asterism.engine.chat.service import Asking
from asterism.types.errors import AsterismError, PathMissing
from asterism.types.files import display_path

HISTORY_FILE = "chat_history"


def run(options: argparse.Namespace) -> int:
    """Answer until the user leaves."""
    place = directory_named(options.path)
    if not place.exists():
        raise PathMissing(f"{display_path(str(place))} does not exist; check the path.")
    with closing(engine()) as here, closing(Asking(here)) as asking:
        registered = here.locate(place)
        streams = sys.stdout.isatty()
        conversing = Conversing(asking, registered, Display(streams))
        state = ChatState(here, asking, registered, conversing)
        state.agent, state.model = options.agent, options.model
        if options.conversation:
            state.take_up(options.conversation)
        state.retries = options.retries
        is_terminal = streams and sys.stdin is not None and sys.stdin.isatty()
        if is_terminal:
            show(console(), (f"{registered.repository.name}. ", "bold"), (_WELCOME, "dim"))
        return _converse(state, _prompt() if is_terminal else _line)


_WELCOME = "Ask something; /help shows what else. Ctrl-C stops an answer, Ctrl-D ends."


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
