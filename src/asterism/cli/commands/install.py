"""`asterism install` and `asterism uninstall`: the plan as a diff, a question, what was done."""

import argparse
import difflib
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from asterism.analysis.source.checkouts import enclosing_checkout
from asterism.cli.options import add_json, add_path
from asterism.cli.parser import CommandParser
from asterism.cli.setup import directory_named
from asterism.cli.terminal import confirmed, console, show, write_json
from asterism.config.environment import user_directories
from asterism.install.clients import CLIENTS, NAMES, Client, ClientLaunch, ClientPlaces, launch
from asterism.install.plan import FileChange, InstallPlan, plan_install, plan_uninstall, state_in
from asterism.install.targets import ClientSetup, InstallScope, setup_of, wanted
from asterism.install.write import Reader, WrittenFile, is_found, write
from asterism.operations.schema import Json
from asterism.types.errors import InputError, PathMissing, UsageError
from asterism.types.files import display_path, wire_path


def declare(parser: CommandParser) -> None:
    """Add the arguments of the command that is meant."""
    is_install = parser.command == "install"
    parser.set_defaults(program=None, list=False)
    add_path(parser, "with --scope project: the project (default: the current repository)")
    default = "those found on this machine" if is_install else "all"
    parser.add_argument(
        "--client",
        action="append",
        choices=NAMES,
        metavar="NAME",
        help=f"only this agent, may be repeated: {', '.join(NAMES)} (default: {default})",
    )
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        default="user",
        help="for all you do, or for one project (default: %(default)s)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would change, do nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_json(parser)
    if is_install:
        parser.add_argument(
            "--program",
            metavar="PATH",
            help="what agents are to start (default: this program, by its absolute path)",
        )
        parser.add_argument(
            "--list", action="store_true", help="show which agents there are, and which are set up"
        )


# Something was left undone, and that was said.
EXIT_UNDONE = 1


def run(options: argparse.Namespace) -> int:
    """Show the plan, ask, and carry it out."""
    scope = InstallScope(options.scope)
    if options.path is not None and scope is InstallScope.user and not options.list:
        raise UsageError("PATH names a project; give --scope project with it.")
    if options.json and not (options.yes or options.dry_run or options.list):
        raise UsageError(
            "With --json there is no question; give --yes, or --dry-run to see the plan."
        )
    places = _places(options.path)
    start = _launch(options.program)
    if options.list:
        return print_clients(places, start, options.json)
    plan = _plan(options, scope, places, start)
    if not options.json:
        print_plan(plan, options.command)
    for problem in plan.problems:
        sys.stderr.write(f"asterism: {problem}\n")
    written: list[WrittenFile] = []
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


def _plan(
    options: argparse.Namespace, scope: InstallScope, places: ClientPlaces, start: ClientLaunch
) -> InstallPlan:
    named = [client for client in CLIENTS if client.name in (options.client or ())]
    for client in named:
        if setup_of(client, scope) is None:
            raise UsageError(f"{client.title} has no configuration for a project; drop --scope.")
    read = Reader(places.project if scope is InstallScope.project else None)
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


def _wanted(
    clients: Sequence[Client], scope: InstallScope, places: ClientPlaces, start: ClientLaunch
) -> list[ClientSetup]:
    found = (wanted(client, scope, places, start) for client in clients)
    return [setup for setup in found if setup is not None]


def _question(plan: InstallPlan) -> str:
    count = len(plan.changes)
    return f"Write {'this file' if count == 1 else f'these {count} files'}?"


def _places(typed: str | None) -> ClientPlaces:
    user = user_directories()
    return ClientPlaces(
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


def _launch(typed: str | None) -> ClientLaunch:
    """This program by its absolute path; a link to it stays one, for it outlives updates."""
    if typed is not None:
        return launch(typed, "mcp")
    program = Path(sys.argv[0])
    beside = Path(sys.executable).with_name(f"asterism{program.suffix}")
    for path in (program, beside):
        if path.stem == "asterism" and path.is_file():
            return launch(str(path.absolute()), "mcp")
    return launch(sys.executable, "-m", "asterism.cli", "mcp")


# The lines next to ours may be private, so little of them is shown.
_CONTEXT_LINES = 1
# A file of one line is shown by its beginning.
_LONGEST_LINE = 160
# An entry or a block is shown whole; of a file of our own the beginning says what it is.
_LONGEST_DIFF = 20

_STYLES = {"+": "green", "-": "red", "@": "dim"}


def print_plan(plan: InstallPlan, command: str) -> None:
    """The files that change, each with its diff."""
    out = console()
    for path, client in plan.done:
        if command == "install":
            show(out, (f"{display_path(str(path))}: set up already ({client}).", "dim"))
    for sentence in plan.left:
        show(out, (sentence, "yellow"))
    for change in plan.changes:
        show(out, (f"{_verb(change)} ", "bold"), (_title(change), ""))
        lines = list(_diff(change))
        for line in lines[:_LONGEST_DIFF]:
            show(out, (f"  {line}", _STYLES.get(line[:1], "")))
        if len(lines) > _LONGEST_DIFF:
            show(out, (f"  … {len(lines) - _LONGEST_DIFF} more lines", "dim"))
    if not plan.changes and not plan.problems:
        show(out, ("Nothing to do.", ""))


def print_done(written: Sequence[WrittenFile]) -> None:
    """Each file that was written, and where its copy is."""
    out = console()
    for change, backup in written:
        copy = "" if backup is None else f" (before: {display_path(str(backup))})"
        verb = {"Create": "Created", "Remove": "Removed", "Change": "Changed"}[_verb(change)]
        show(out, (f"{verb} {display_path(str(change.path))}", ""), (copy, "dim"))
    show(out, ("Restart the agents that are running.", "bold"))


def print_clients(places: ClientPlaces, start: ClientLaunch, as_json: bool) -> int:
    """Which clients there are, which are on this machine, and which are set up."""
    rows = [_client_json(client, places, start) for client in CLIENTS]
    if as_json:
        write_json({"project": wire_path(str(places.project)), "clients": rows})
        return 0
    table = [("NAME", "AGENT", "FOUND", "USER", "PROJECT")]
    table += [
        (row["name"], row["title"], "yes" if row["found"] else "no", row["user"], row["project"])
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    out = console()
    for number, cells in enumerate(table):
        text = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        show(out, (text.rstrip(), "" if number else "dim"))
    return 0


def plan_json(
    command: str, scope: InstallScope, plan: InstallPlan, written: Sequence[WrittenFile]
) -> Json:
    """What `--json` prints of a plan, and of what was done with it."""
    backups = {entry.change.real: entry.backup for entry in written}
    return {
        "command": command,
        "scope": scope.value,
        "written": bool(written),
        "changes": [
            {
                "path": wire_path(str(change.path)),
                "action": _verb(change).lower(),
                "what": change.what,
                "clients": list(change.clients),
                "diff": "\n".join(_diff(change)),
                "backup": _path(backups.get(change.real)),
            }
            for change in plan.changes
        ],
        "already": [wire_path(str(path)) for path, _ in plan.done],
        "left": list(plan.left),
        "problems": list(plan.problems),
    }


def _path(path: object) -> str | None:
    return None if path is None else wire_path(str(path))


def _client_json(client: Client, places: ClientPlaces, start: ClientLaunch) -> Json:
    return {
        "name": client.name,
        "title": client.title,
        "found": is_found(client, places),
        "user": _state(client, InstallScope.user, places, start),
        "project": _state(client, InstallScope.project, places, start),
    }


def _state(client: Client, scope: InstallScope, places: ClientPlaces, start: ClientLaunch) -> str:
    setup = wanted(client, scope, places, start)
    if setup is None:
        return "not possible"
    try:
        return state_in(
            setup, Reader(places.project if scope is InstallScope.project else None)
        ).value
    except InputError:
        return "cannot be read"


def _verb(change: FileChange) -> str:
    if change.before is None:
        return "Create"
    return "Remove" if change.after is None else "Change"


def _title(change: FileChange) -> str:
    path = display_path(str(change.path))
    if change.real != change.path and change.real.name != change.path.name:
        path += f" → {display_path(str(change.real))}"
    return f"{path}: {change.what} ({', '.join(change.clients)})"


def _diff(change: FileChange) -> Iterator[str]:
    before, after = _lines(change.before), _lines(change.after)
    diff = difflib.unified_diff(before, after, n=_CONTEXT_LINES, lineterm="")
    for number, line in enumerate(diff):
        if number > 1:
            yield line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None else content.decode("utf-8", "replace").splitlines()
