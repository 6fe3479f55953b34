"""`asterism repos` and `asterism status`: known repositories, and the state of an index."""

import argparse
import os
import sys
import time

from asterism.cli.commands.symbols import counted
from asterism.cli.options import add_action, add_json, add_request
from asterism.cli.parser import EXIT_USAGE, CommandParser
from asterism.cli.setup import directory_named, engine
from asterism.cli.terminal import confirmed, write_json
from asterism.engine.engine import Engine
from asterism.engine.status import Listed, ListedState, Status, list_repositories
from asterism.operations.json import job_json, moment, statistics_json, upgrade_json
from asterism.operations.requests import AddRepository, IndexPlace
from asterism.operations.schema import Json
from asterism.store.registry import Registered
from asterism.types.errors import UsageError
from asterism.types.files import display_path, wire_path
from asterism.types.index import Staleness


def declare(parser: CommandParser) -> None:
    """Add the arguments of the command that is meant."""
    if parser.command == "status":
        add_request(parser, IndexPlace)
        add_json(parser)
        return
    add_action(parser, "list", "add", "remove")
    parser.add_argument(
        "target", metavar="TARGET", nargs="?", help="the path to add; the name or path to remove"
    )
    add_request(parser, AddRepository, "name", "project", when="with add: ")
    parser.add_argument("--yes", action="store_true", help="with remove: do not ask")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """List, add or remove repositories, or show the state of an index."""
    return _status(options) if options.command == "status" else _repos(options)


_COLUMNS = ("PROJECT", "REPOSITORY", "FILES", "CHUNKS", "STATE", "ROOT")


def _repos(options: argparse.Namespace) -> int:
    """List, add or remove."""
    _check(options)
    here = engine()
    if options.action == "add":
        return _add(here, options)
    if options.action == "remove":
        return _remove(here, options)
    return _list(here, options)


def _check(options: argparse.Namespace) -> None:
    """Refuse what argparse cannot know to be wrong."""
    if options.action == "list" and options.target is not None:
        raise UsageError("`asterism repos list` takes no argument; it lists every repository.")
    if options.action != "list" and options.target is None:
        wanted = "PATH" if options.action == "add" else "NAME or path"
        raise UsageError(f"`asterism repos {options.action}` needs a {wanted}.")
    if options.action != "add" and (options.name or options.project):
        raise UsageError("--name and --project belong to `asterism repos add`.")
    if options.action != "remove" and options.yes:
        raise UsageError("--yes belongs to `asterism repos remove`.")


def _list(here: Engine, options: argparse.Namespace) -> int:
    found = list_repositories(here.registry)
    if options.json:
        write_json({"repositories": [_listed_json(entry) for entry in found]})
    else:
        _print_listed(found)
    return 0


def _print_listed(found: list[Listed]) -> None:
    from asterism.cli.terminal import console, show

    out = console()
    if not found:
        show(out, ("No repositories yet.", "yellow"), (" `asterism index` makes one known.", ""))
        return
    rows = [_row(entry) for entry in found]
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *rows, strict=True)]
    show(out, (_cells(_COLUMNS, widths), "dim"))
    for entry, row in zip(found, rows, strict=True):
        fine = entry.state is ListedState.present
        show(out, (_cells(row, widths), "" if fine else "yellow"))
    # Repositories of one project share an index, of which the same is said.
    for note in dict.fromkeys(entry.note for entry in found if entry.note):
        show(out, (note, "yellow"))


def _row(entry: Listed) -> tuple[str, ...]:
    place = entry.registered
    return (
        place.project.name,
        place.repository.name,
        f"{entry.files:,}",
        f"{entry.chunks:,}",
        entry.state.value,
        display_path(place.repository.root),
    )


def _cells(row: tuple[str, ...], widths: list[int]) -> str:
    numbers = (2, 3)
    cells = [
        text.rjust(width) if column in numbers else text.ljust(width)
        for column, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()


def _add(here: Engine, options: argparse.Namespace) -> int:
    registered = here.register(directory_named(options.target), options.name, options.project)
    root = display_path(registered.repository.root)
    if options.json:
        write_json(_registered_json(registered))
    else:
        sys.stdout.write(
            f"{root} is known as {registered.repository.name}. Nothing is indexed yet: run "
            f"`asterism index {root}`.\n"
            if not _is_indexed(here, registered)
            else f"{root} is known already as {registered.repository.name}, and indexed.\n"
        )
    return 0


def _is_indexed(here: Engine, registered: Registered) -> bool:
    states = {entry.registered: entry.state for entry in list_repositories(here.registry)}
    return states.get(registered) is not ListedState.unindexed


def _remove(here: Engine, options: argparse.Namespace) -> int:
    registered = _named(here, options.target)
    name, root = registered.repository.name, display_path(registered.repository.root)
    question = f"Remove {name} ({root}) from the index? The repository itself is not touched."
    if not confirmed(question, options.yes):
        sys.stdout.write("Nothing was removed.\n")
        return 1
    here.remove(registered)
    if options.json:
        write_json({**_registered_json(registered), "removed": True})
    else:
        sys.stdout.write(f"{name} is no longer indexed. {root} itself was not touched.\n")
    return 0


def _named(here: Engine, target: str) -> Registered:
    """The repository of a name, an id or a root; a directory inside one does not mean it."""
    by_name = here.registry.find_by_name(target)
    if by_name is not None:
        return by_name
    if "\0" not in target:
        place = os.path.realpath(target)
        at_root = [e for e in here.registry.repositories() if e.repository.root == place]
        if len(at_root) > 1:
            ids = ", ".join(entry.repository.id for entry in at_root)
            raise UsageError(
                f"{display_path(target)} is in several projects; give the id of one: {ids}."
            )
        if at_root:
            return at_root[0]
        around = here.registry.find(directory_named(target))
        if around is not None and directory_named(target).exists():
            raise UsageError(
                f"{display_path(target)} is only a part of {around.repository.name}; give that "
                "name to remove all of it."
            )
    raise UsageError(
        f"There is no repository {display_path(target)}; `asterism repos` lists those there are."
    )


def _registered_json(registered: Registered) -> Json:
    return {
        "project": registered.project.name,
        "project_id": registered.project.id,
        "repository": registered.repository.name,
        "repository_id": registered.repository.id,
        "root": wire_path(registered.repository.root),
    }


def _listed_json(entry: Listed) -> Json:
    return {
        **_registered_json(entry.registered),
        "state": entry.state.value,
        "files": entry.files,
        "chunks": entry.chunks,
        "index": str(entry.registered.project.directory),
        "note": entry.note or None,
    }


def _status(options: argparse.Namespace) -> int:
    """Print the state of an index; exit 1 if it is not up to date, 2 if it cannot be read."""
    here = engine()
    found = here.status(here.locate(directory_named(options.path)))
    if options.json:
        write_json(status_json(found))
    else:
        _print_status(found)
    if found.verdict.staleness is Staleness.unreadable:
        return EXIT_USAGE
    return 0 if found.verdict.staleness is Staleness.equal else 1


def _print_status(found: Status) -> None:
    from asterism.cli.terminal import console, show

    out = console()
    fresh = found.verdict.staleness is Staleness.equal
    show(
        out,
        (f"{found.registered.repository.name}: ", "bold"),
        (found.verdict.message, "green" if fresh else "yellow"),
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
        "staleness": found.verdict.staleness.value,
        "message": found.verdict.message,
        "files_behind": found.verdict.behind,
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
