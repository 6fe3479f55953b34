"""`asterism install` and `asterism uninstall`: the plan, a question, and what was done."""

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from asterism.analysis.source.checkouts import enclosing_checkout
from asterism.cli.commands.install_wire import plan_json, print_clients, print_done, print_plan
from asterism.cli.json import write_json
from asterism.cli.setup import directory_named
from asterism.cli.terminal import confirmed
from asterism.config.environment import user_directories
from asterism.install.clients import CLIENTS, Client, Launch, Places, launch
from asterism.install.plan import Plan, plan_install, plan_uninstall
from asterism.install.targets import Scope, Wanted, setup_of, wanted
from asterism.install.write import Reader, Written, is_found, write
from asterism.types.errors import PathMissing, UsageError
from asterism.types.files import display_path

# Something was left undone, and that was said.
EXIT_UNDONE = 1


def run(options: argparse.Namespace) -> int:
    """Show the plan, ask, and carry it out."""
    scope = Scope(options.scope)
    if options.path is not None and scope is Scope.user and not options.list:
        raise UsageError("PATH names a project; give --scope project with it.")
    if options.json and not (options.yes or options.dry_run or options.list):
        raise UsageError("With --json nobody is asked; give --yes, or --dry-run to see the plan.")
    places = _places(options.path)
    start = _launch(options.program)
    if options.list:
        return print_clients(places, start, options.json)
    plan = _plan(options, scope, places, start)
    if not options.json:
        print_plan(plan, options.command)
    for problem in plan.problems:
        sys.stderr.write(f"asterism: {problem}\n")
    written: list[Written] = []
    if plan.changes and not options.dry_run:
        if not confirmed(_question(plan), options.yes):
            sys.stderr.write("Nothing was written.\n")
            return EXIT_UNDONE
        written = write(plan.changes, date.today())
    if options.json:
        write_json(plan_json(options.command, scope, plan, written))
    elif written:
        print_done(written)
    return EXIT_UNDONE if plan.problems else 0


def _plan(options: argparse.Namespace, scope: Scope, places: Places, start: Launch) -> Plan:
    named = [client for client in CLIENTS if client.name in (options.client or ())]
    for client in named:
        if setup_of(client, scope) is None:
            raise UsageError(f"{client.title} has no configuration for a project; drop --scope.")
    read = Reader(places.project if scope is Scope.project else None)
    if options.command == "uninstall":
        chosen = named or list(CLIENTS)
        others = [client for client in CLIENTS if client not in chosen]
        setups = [_wanted(group, scope, places, start) for group in (chosen, others)]
        return plan_uninstall(setups[0], setups[1], read)
    chosen = named or [client for client in CLIENTS if is_found(client, places)]
    if not chosen:
        raise UsageError(
            "No coding agent was found on this machine; name one with --client "
            "(`asterism install --list` shows them)."
        )
    return plan_install(_wanted(chosen, scope, places, start), read)


def _wanted(clients: Sequence[Client], scope: Scope, places: Places, start: Launch) -> list[Wanted]:
    found = (wanted(client, scope, places, start) for client in clients)
    return [setup for setup in found if setup is not None]


def _question(plan: Plan) -> str:
    count = len(plan.changes)
    return f"Write {'this file' if count == 1 else f'these {count} files'}?"


def _places(typed: str | None) -> Places:
    user = user_directories()
    return Places(
        home=user.home,
        config=user.config,
        applications=user.applications,
        claude=user.claude or user.home / ".claude",
        claude_top=user.claude or user.home,
        codex=user.codex or user.home / ".codex",
        project=_project(typed),
    )


def _project(typed: str | None) -> Path:
    directory = directory_named(typed)
    if typed is not None:
        if not directory.is_dir():
            raise PathMissing(f"There is no directory {display_path(typed)}.")
        return directory
    checkout = enclosing_checkout(str(directory))
    return directory if checkout is None else Path(checkout.root)


def _launch(typed: str | None) -> Launch:
    """This program by its absolute path; a link to it stays one, for it outlives updates."""
    if typed is not None:
        return launch(typed, "mcp")
    program = Path(sys.argv[0])
    beside = Path(sys.executable).with_name(f"asterism{program.suffix}")
    for path in (program, beside):
        if path.stem == "asterism" and path.is_file():
            return launch(str(path.absolute()), "mcp")
    return launch(sys.executable, "-m", "asterism.cli", "mcp")
