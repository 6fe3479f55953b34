"""`asterism watch`: keep the index of a repository up to date while it is worked on."""

import argparse
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType

from asterism.cli.progress import watched_by_user
from asterism.cli.setup import directory_named, engine
from asterism.engine.engine import Engine
from asterism.engine.upgrade import Upgrader
from asterism.indexing.report import SyncReport
from asterism.indexing.watcher import Outcome, WatchState
from asterism.store.registry import Registered
from asterism.types.files import display_path


def run(options: argparse.Namespace) -> int:
    """Index, then follow every change until the user ends it; ending it is no failure."""
    here = engine()
    root = directory_named(options.path)
    registered = here.register(here.root_for(root) if options.path is None else root)
    behind = Upgrader(here, _warn)
    try:
        with _ended_by_signals():
            report = _first(here, registered)
            behind.attend(registered)
            if not options.quiet:
                shown = display_path(registered.repository.root)
                _say(f"{report.sentence} Watching {shown}; Ctrl-C ends it.")
            for state in here.watch(registered, Event(), lambda: _other(here, registered)):
                _tell(state, options.quiet)
    except KeyboardInterrupt:
        pass
    finally:
        behind.close()
    if not options.quiet:
        _say("Ended; the index stays as it is. `asterism index` brings it up to date.")
    return 0


def _first(here: Engine, registered: Registered) -> SyncReport:
    """The first sync, with a bar for whoever waits; what is wrong at the start ends the command."""
    with watched_by_user() as listener:
        return here.index(registered, listener)


def _other(here: Engine, registered: Registered) -> None:
    """Said once: the index is kept fresh already."""
    seen = here.status(registered).watcher
    who = f"process {seen.pid}" if seen is not None else "another process"
    _say(f"It is watched already, by {who}; this one goes on when that ends.")


def _tell(state: WatchState, quiet: bool) -> None:
    """One line for a sync that did something or failed; a failure is said in any case."""
    if state.outcome == Outcome.failed:
        _warn(state.sentence)
    elif state.outcome == Outcome.done and not quiet:
        _say(state.sentence)


def _warn(sentence: str) -> None:
    sys.stderr.write(f"asterism: {_now()} {sentence} It will be tried again.\n")
    sys.stderr.flush()


def _say(sentence: str) -> None:
    # Written out at once: whoever reads a log of this wants to see what happens now.
    sys.stdout.write(f"{_now()} {sentence}\n")
    sys.stdout.flush()


def _now() -> str:
    return time.strftime("%H:%M:%S")


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Service managers end a process with SIGTERM; that is as good as Ctrl-C."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
