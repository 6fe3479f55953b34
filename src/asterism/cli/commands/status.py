"""`asterism status`: is there an index, is it fresh, how large is it, who works on it?"""

import argparse
import time

from asterism.cli.commands.symbols import counted
from asterism.cli.json import Json, write_json
from asterism.cli.setup import directory_named, engine
from asterism.engine.status import Status
from asterism.operations.json import job_json, moment, statistics_json, upgrade_json
from asterism.types.files import display_path, wire_path
from asterism.types.index import Staleness


def run(options: argparse.Namespace) -> int:
    """Print the state of an index; exit 1 unless it is up to date."""
    here = engine()
    found = here.status(here.locate(directory_named(options.path)))
    if options.json:
        write_json(status_json(found))
    else:
        _print(found)
    return 0 if found.judgement.staleness is Staleness.equal else 1


def _print(found: Status) -> None:
    from asterism.cli.terminal import console, show

    out = console()
    fresh = found.judgement.staleness is Staleness.equal
    show(
        out,
        (f"{found.registered.repository.name}: ", "bold"),
        (found.judgement.message, "green" if fresh else "yellow"),
    )
    for label, text in _lines(found):
        show(out, (f"{label:<12}", "dim"), (text, ""))


def _lines(found: Status) -> list[tuple[str, str]]:
    place = found.registered
    lines = [("Root", display_path(place.repository.root))]
    if place.project.name != place.repository.name:
        lines.append(("Project", place.project.name))
    if found.statistics is not None:
        known = found.statistics
        languages = ", ".join(f"{name} {count:,}" for name, count in known.languages.items())
        symbols = ", ".join(counted(role, count) for role, count in known.symbols.items())
        lines += [
            ("Files", f"{known.files:,} ({languages})" if languages else f"{known.files:,}"),
            ("Chunks", f"{known.chunks:,}"),
            ("Symbols", symbols or "none"),
        ]
        if known.files_with_problems:
            lines.append(("Problems", f"syntax errors in {known.files_with_problems:,} files"))
        size = (known.database_bytes + found.chunks_bytes) / 1e6
        lines.append(
            ("On disk", f"{size:,.1f} MB for {known.source_bytes / 1e6:,.1f} MB of source")
        )
    if found.skipped:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in found.skipped.items())
        lines.append(("Left out", reasons))
    if found.manifest is not None:
        lines.append(("Model", str(found.manifest.model)))
    if found.upgrade is not None:
        room = f" ({found.upgrade.bytes / 1e6:,.1f} MB)" if found.upgrade.bytes else ""
        lines.append(("Upgrade", f"{found.upgrade.sentence}{room}"))
    lines += _activity(found)
    return lines


def _activity(found: Status) -> list[tuple[str, str]]:
    lines = []
    job = found.job
    if job is not None and found.running:
        share = f"{job.files_done:,} of {job.files_total:,} files"
        lines.append(("Indexing", f"{share}, {job.chunks_done:,} chunks (process {job.pid})"))
    elif job is not None and job.state == "running":
        lines.append(("Last run", "was interrupted"))
    elif job is not None:
        lines.append(("Last run", f"{job.sentence} ({_ago(job.updated)})"))
    if found.watcher is not None and found.watcher.running:
        seen = found.watcher.last_event
        last = f"last event {_ago(seen)}" if seen else "no event yet"
        lines.append(("Watcher", f"process {found.watcher.pid}, {last}: {found.watcher.sentence}"))
    return lines


def _ago(moment: float) -> str:
    seconds = max(0.0, time.time() - moment)
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {word}{'s' if count > 1 else ''} ago"
    return "just now"


def status_json(found: Status) -> Json:
    """What `--json` prints."""
    known, manifest, job, watcher = found.statistics, found.manifest, found.job, found.watcher
    return {
        "repository": found.registered.repository.name,
        "id": found.registered.repository.id,
        "root": wire_path(found.registered.repository.root),
        "project": found.registered.project.id,
        "directory": wire_path(str(found.registered.project.directory)),
        "staleness": found.judgement.staleness.value,
        "message": found.judgement.message,
        "files_behind": found.judgement.behind,
        "manifest": manifest
        and {
            "schema_version": manifest.schema_version,
            "provider": manifest.model.provider,
            "model": manifest.model.model,
            "dimensions": manifest.model.dimensions,
            "recipe": manifest.recipe,
            "program": manifest.program,
            "created": moment(manifest.created),
        },
        "statistics": known
        and {
            **(statistics_json(found) or {}),
            "catalogue_bytes": known.database_bytes,
            "chunks_bytes": found.chunks_bytes,
        },
        "upgrade": upgrade_json(found),
        "skipped": found.skipped,
        "job": job and {**(job_json(found) or {}), "pid": job.pid},
        "watcher": watcher
        and {
            "pid": watcher.pid,
            "running": watcher.running,
            "events": watcher.events,
            "syncs": watcher.syncs,
            "last_event": moment(watcher.last_event),
            "sentence": watcher.sentence,
        },
    }
