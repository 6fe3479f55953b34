"""`asterism index`: make or refresh the index of a repository, and say what happened."""

import argparse
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType

from asterism.cli.json import Json, write_json
from asterism.cli.progress import watched_by_user
from asterism.cli.setup import directory_named, engine
from asterism.engine.engine import Engine
from asterism.engine.status import wanted_upgrade
from asterism.indexing.report import Listener, Progress, SyncReport, SyncStage, UpgradeReport
from asterism.store.registry import Registered
from asterism.types.errors import UsageError
from asterism.types.files import display_path, wire_path
from asterism.types.index import Repository

# 128 + SIGINT, as shells report an interrupted command.
EXIT_INTERRUPTED = 130

# More are counted, not listed.
SHOWN_UNREAD = 5


def run(options: argparse.Namespace) -> int:
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
    """Make second vectors; Ctrl-C ends it after the texts that are being read."""
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

    So it is before anything began, as for whoever waits for another process.
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
    """What `--json` prints of second vectors."""
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
