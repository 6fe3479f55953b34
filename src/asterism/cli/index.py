"""`asterism index`: make or refresh the index of a repository, and say what happened."""

import argparse
import shlex
import sys

from asterism.cli.engine_for import directory_named, engine
from asterism.cli.progress import watched_by_user
from asterism.cli.wire import Json, write_json
from asterism.domain.errors import UsageError
from asterism.domain.files import display_path
from asterism.domain.index import Repository
from asterism.engine.engine import Engine
from asterism.indexing.report import SyncReport

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
    registered = here.register(root, options.name, options.project)
    if options.dry_run:
        report = here.preview(registered, options.force)
    else:
        with watched_by_user() as listener:
            report = here.index(registered, listener, options.force)
    if options.json:
        write_json({"repository": registered.repository.name, **report_json(report)})
    else:
        print_report(registered.repository, report)
    return EXIT_INTERRUPTED if report.cancelled else 0


def _cancel(here: Engine, options: argparse.Namespace) -> int:
    if options.force or options.dry_run:
        raise UsageError("--cancel stands alone; give it without --force and --dry-run.")
    registered = here.locate(directory_named(options.path))
    if here.cancel(registered):
        sys.stdout.write("Asked the process that is indexing to stop; what it has done is kept.\n")
        return 0
    sys.stdout.write("Nothing is being indexed here.\n")
    return 1


def print_report(repository: Repository, report: SyncReport) -> None:
    """The sentence, and below it what was left out."""
    from asterism.cli.console import console, show

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
        "unread": [display_path(path) for path in report.unread],
        "seconds": round(report.seconds, 3),
    }
