"""`asterism clean`: remove unused indexes and leftovers, and report the bytes freed."""

import argparse
import sys

from asterism.cli.options import add_json
from asterism.cli.parser import CommandParser
from asterism.cli.setup import engine
from asterism.cli.terminal import agreed, can_ask, write_json
from asterism.engine.cleanup import Cleaning, GoneRepository
from asterism.engine.engine import Engine
from asterism.operations.schema import Json
from asterism.types.errors import AsterismError
from asterism.types.files import display_path


def declare(parser: CommandParser) -> None:
    """Add the arguments."""
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    parser.add_argument("--cache", action="store_true", help="empty the cache of vectors as well")
    parser.add_argument(
        "--yes", action="store_true", help="remove indexes of vanished repositories without asking"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Clean up, or only say what that would remove."""
    here = engine()
    plan = here.clean(dry_run=True, cache=options.cache)
    if options.dry_run:
        _report(options, plan, [], plan.freed + _gone_bytes(plan, options.yes))
        return 0
    removed, troubles = _remove_gone(here, plan, options)
    done = here.clean(cache=options.cache)
    for trouble in troubles:
        sys.stderr.write(f"asterism: {trouble}\n")
    _report(options, done, removed, max(0, plan.bytes_before - done.bytes_after))
    return 0


def _remove_gone(
    here: Engine, plan: Cleaning, options: argparse.Namespace
) -> tuple[list[GoneRepository], list[str]]:
    """Remove the indexes of repositories that are gone, as far as the user agrees."""
    removed: list[GoneRepository] = []
    troubles: list[str] = []
    may_ask = can_ask() and not options.json
    for gone in plan.gone:
        if not options.yes and (gone.away or not may_ask or not agreed(_question(gone))):
            continue
        try:
            here.remove(gone.registered)
        except AsterismError as error:
            troubles.append(f"{gone.registered.repository.name} was not removed: {error}")
        else:
            removed.append(gone)
    return removed, troubles


def _question(gone: GoneRepository) -> str:
    place = gone.registered.repository
    return f"{display_path(place.root)} is gone. Remove the index of {place.name}?"


def _gone_bytes(plan: Cleaning, yes: bool) -> int:
    """What removing every repository that is gone would free; projects are counted once."""
    if not yes:
        return 0
    return sum({gone.registered.project.id: gone.bytes for gone in plan.gone}.values())


def _report(
    options: argparse.Namespace, done: Cleaning, removed: list[GoneRepository], freed: int
) -> None:
    if options.json:
        write_json(_cleaning_json(options, done, removed, freed))
        return
    from asterism.cli.terminal import console, show

    out = console()
    would = "would be " if done.dry_run else ""
    for gone in removed:
        place = gone.registered.repository
        show(out, (f"Removed the index of {place.name}: ", ""), (_why(gone), "dim"))
    for path, reason, size in done.removals:
        verb = "Would remove" if done.dry_run else "Removed"
        show(out, (f"{verb} {display_path(str(path))}", ""), (f"  {reason}, {_mb(size)}", "dim"))
    for gone in done.gone:
        name = gone.registered.repository.name
        if options.yes and done.dry_run:
            show(out, (f"Would remove the index of {name}: ", ""), (_why(gone), "dim"))
        else:
            why = f"{_why(gone)}; --yes removes it"
            show(out, (f"Kept the index of {name}: ", "yellow"), (why, "dim"))
    for sentence in done.left_alone:
        show(out, (display_path(sentence), "yellow"))
    if done.maintained:
        names = ", ".join(done.maintained)
        show(out, (f"Indexes that {would or 'were '}maintained: {names}.", ""))
    after = done.bytes_after if not done.dry_run else done.bytes_before - freed
    show(
        out,
        (f"{_mb(freed)} {would}freed", "bold"),
        (f"; {_mb(after + freed)} before, {_mb(after)} after.", ""),
    )


def _why(gone: GoneRepository) -> str:
    root = display_path(gone.registered.repository.root)
    if gone.away:
        return f"{root} is gone, and the directory above it too; is a disk not mounted?"
    return f"{root} is gone"


def _mb(size: int) -> str:
    return f"{size:,} bytes" if size < 100_000 else f"{size / 1e6:,.1f} MB"


def _cleaning_json(
    options: argparse.Namespace, done: Cleaning, removed: list[GoneRepository], freed: int
) -> Json:
    would = list(done.gone) if options.yes and done.dry_run else []
    return {
        "dry_run": done.dry_run,
        "removed": [
            {"path": display_path(str(path)), "reason": reason, "bytes": size}
            for path, reason, size in done.removals
        ],
        "repositories_removed": [_gone_json(gone) for gone in removed + would],
        "repositories_kept": [_gone_json(gone) for gone in done.gone if gone not in would],
        "maintained": list(done.maintained),
        "left_alone": list(done.left_alone),
        "bytes_before": done.bytes_before if done.dry_run else done.bytes_after + freed,
        "bytes_after": done.bytes_before - freed if done.dry_run else done.bytes_after,
        "bytes_freed": freed,
    }


def _gone_json(gone: GoneRepository) -> Json:
    return {
        "project": gone.registered.project.name,
        "repository": gone.registered.repository.name,
        "root": display_path(gone.registered.repository.root),
        "parent_missing": gone.away,
    }
