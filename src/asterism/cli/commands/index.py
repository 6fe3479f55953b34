"""`asterism index` and `asterism watch`: make or refresh an index, once or at every change."""

import argparse
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType

from asterism.cli.options import add_json, add_path, add_request
from asterism.cli.parser import CommandParser
from asterism.cli.progress import watched_by_user
from asterism.cli.setup import directory_named, engine
from asterism.cli.terminal import write_json
from asterism.engine.engine import Engine
from asterism.engine.status import wanted_upgrade
from asterism.engine.upgrade import Upgrader
from asterism.indexing.report import Listener, Progress, SyncReport, SyncStage, UpgradeReport
from asterism.indexing.watcher import Outcome, WatchState
from asterism.operations.requests import AddRepository, IndexCodebase
from asterism.operations.schema import Json
from asterism.store.registry import Registered
from asterism.types.errors import UsageError
from asterism.types.files import display_path, wire_path
from asterism.types.index import Repository


def declare(parser: CommandParser) -> None:
    """Add the arguments of the command that is meant."""
    add_path(parser, "the directory (default: the current repository)")
    if parser.command == "watch":
        parser.add_argument("--quiet", action="store_true", help="say only what goes wrong")
        return
    add_request(parser, IndexCodebase, "force")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    parser.add_argument("--cancel", action="store_true", help="stop the process that is indexing")
    parser.add_argument(
        "--upgrade",
        action="store_true",
        help="then compute the encoder vectors that the setting embedding.upgrade selects, which "
        "takes minutes; Ctrl-C keeps those that are done",
    )
    add_request(parser, AddRepository, "name", "project")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Index once, or until the user ends it."""
    return _watch(options) if options.command == "watch" else _index(options)


# 128 + SIGINT, as shells report an interrupted command.
EXIT_INTERRUPTED = 130

# More are counted, not listed.
SHOWN_UNREAD = 5


def _index(options: argparse.Namespace) -> int:
    """Index a directory; without one the repository around the current directory."""
    here = engine()
    root = directory_named(options.path)
    if options.path is None:
        root = here.root_for(root)
    if options.cancel:
        return _cancel(here, options)
    if options.upgrade and options.dry_run:
        raise UsageError("--upgrade makes vectors and --dry-run makes nothing; give one of them.")
    registered = here.register(root, options.name, options.project)
    if options.upgrade:
        wanted_upgrade(here.settings_of(registered))
    if options.dry_run:
        report = here.preview(registered, options.force)
    else:
        with watched_by_user() as listener:
            report = here.index(registered, listener, options.force)
    if not options.json:
        print_report(registered.repository, report)
    upgraded = None
    if options.upgrade and not report.cancelled:
        upgraded = _upgrade(here, registered, told=not options.json)
    if options.json:
        made = {} if upgraded is None else {"upgrade": upgrade_json(upgraded)}
        write_json({"repository": registered.repository.name, **report_json(report), **made})
    stopped = report.cancelled or (upgraded is not None and upgraded.cancelled)
    return EXIT_INTERRUPTED if stopped else 0


def _upgrade(here: Engine, registered: Registered, told: bool) -> UpgradeReport:
    """Compute encoder vectors; Ctrl-C ends it after the texts in flight."""
    began = Event()

    def hear(progress: Progress) -> None:
        if progress.stage is SyncStage.upgrading:
            began.set()
        listener.hear(progress)

    with watched_by_user() as listener, _interruptible(began) as interrupted:
        report = here.upgrade(registered, Listener(hear, interrupted.is_set))
    if told:
        from asterism.cli.terminal import console, show

        out = console()
        seconds = f" {report.seconds:.1f} s"
        name = f"{registered.repository.name}: "
        show(out, (name, "bold"), (report.sentence, ""), (seconds, "dim"))
        for warning in report.warnings:
            show(out, ("Warning: ", "yellow"), (warning, ""))
    return report


@contextmanager
def _interruptible(began: Event) -> Iterator[Event]:
    """Ctrl-C asks for an end once, so that what is half done gets done; twice it is an end.

    Before anything began, such as while waiting for another process, once is enough.
    """
    asked = Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        if asked.is_set() or not began.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def upgrade_json(report: UpgradeReport) -> Json:
    """What `--json` prints of encoder vectors."""
    return {
        "sentence": report.sentence,
        "model": report.model,
        "texts": report.texts,
        "embedded": report.embedded,
        "cached": report.cached,
        "dropped": report.dropped,
        "cancelled": report.cancelled,
        "warnings": list(report.warnings),
        "seconds": round(report.seconds, 3),
    }


def _cancel(here: Engine, options: argparse.Namespace) -> int:
    if options.force or options.dry_run or options.upgrade:
        raise UsageError("--cancel stands alone; give it without other options.")
    registered = here.locate(directory_named(options.path))
    if here.cancel(registered):
        sys.stdout.write("Asked the process that is indexing to stop; what it has done is kept.\n")
        return 0
    sys.stdout.write("Nothing is being indexed here.\n")
    return 1


def print_report(repository: Repository, report: SyncReport) -> None:
    """The sentence, and below it what was left out."""
    from asterism.cli.terminal import console, show

    out = console()
    seconds = f" {report.seconds:.1f} s" if not report.dry_run else ""
    show(out, (f"{repository.name}: ", "bold"), (report.sentence, ""), (seconds, "dim"))
    if report.skipped:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in report.skipped.items())
        command = f"asterism files {shlex.quote(display_path(repository.root))} --skipped"
        show(out, (f"Left out: {reasons}. `{command}` lists them.", "dim"))
    for warning in report.warnings:
        show(out, ("Warning: ", "yellow"), (warning, ""))
    for path in report.unread[:SHOWN_UNREAD]:
        show(out, ("Could not be read: ", "yellow"), (display_path(path), ""))
    if len(report.unread) > SHOWN_UNREAD:
        show(out, (f"… and {len(report.unread) - SHOWN_UNREAD:,} more", "yellow"))


def report_json(report: SyncReport) -> Json:
    """What `--json` prints of a sync."""
    return {
        "sentence": report.sentence,
        "before": report.before.value,
        "dry_run": report.dry_run,
        "cancelled": report.cancelled,
        "files": {
            "total": report.files,
            "added": report.added,
            "changed": report.changed,
            "removed": report.removed,
            "touched": report.touched,
            "unchanged": report.unchanged,
            "parsed": report.parsed,
            "reread": report.reread,
        },
        "chunks": {"total": report.chunks_total, "written": report.chunks_written},
        "vectors": {
            "embedded": report.embedded,
            "cached": report.cached,
            "reused": report.reused,
        },
        "skipped": dict(report.skipped),
        "warnings": list(report.warnings),
        "unread": [wire_path(path) for path in report.unread],
        "seconds": round(report.seconds, 3),
    }


def _watch(options: argparse.Namespace) -> int:
    """Index, then follow every change until the user ends it; ending it is no failure."""
    here = engine()
    root = directory_named(options.path)
    registered = here.register(here.root_for(root) if options.path is None else root)
    behind = Upgrader(here, _warn)
    try:
        with _ended_by_signals():
            report = _first_sync(here, registered)
            behind.attend(registered)
            if not options.quiet:
                shown = display_path(registered.repository.root)
                _say(f"{report.sentence} Watching {shown}; Ctrl-C ends it.")
            for state in here.watch(registered, Event(), lambda: _tell_other(here, registered)):
                _tell(state, options.quiet)
    except KeyboardInterrupt:
        pass
    finally:
        behind.close()
    if not options.quiet:
        _say("Ended; the index stays as it is. `asterism index` brings it up to date.")
    return 0


def _first_sync(here: Engine, registered: Registered) -> SyncReport:
    """The first sync, with a progress bar; an error here ends the command."""
    with watched_by_user() as listener:
        return here.index(registered, listener)


def _tell_other(here: Engine, registered: Registered) -> None:
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
    # Flushed at once, so that a log of this output is up to date.
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
