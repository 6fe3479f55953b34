"""How a plan for coding agents is shown: as a diff for people, as JSON for programs."""

import difflib
from collections.abc import Iterator, Sequence

from asterism.cli.json import Json, write_json
from asterism.cli.terminal import console, show
from asterism.install.clients import CLIENTS, Client, Launch, Places
from asterism.install.plan import Change, Plan, state_in
from asterism.install.targets import Scope, wanted
from asterism.install.write import Reader, Written, is_found
from asterism.types.errors import InputError
from asterism.types.files import display_path, wire_path

# Next to our lines may stand what is nobody's business, so little of it is shown.
_CONTEXT_LINES = 1
# A file of one line is shown by its beginning.
_LONGEST_LINE = 160
# An entry or a block is shown whole; of a file of our own the beginning says what it is.
_LONGEST_DIFF = 20

_STYLES = {"+": "green", "-": "red", "@": "dim"}


def print_plan(plan: Plan, command: str) -> None:
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


def print_done(written: Sequence[Written]) -> None:
    """Each file that was written, and where its copy is."""
    out = console()
    for change, backup in written:
        copy = "" if backup is None else f" (before: {display_path(str(backup))})"
        verb = {"Create": "Created", "Remove": "Removed", "Change": "Changed"}[_verb(change)]
        show(out, (f"{verb} {display_path(str(change.path))}", ""), (copy, "dim"))
    show(out, ("Restart the agents that are running.", "bold"))


def print_clients(places: Places, start: Launch, as_json: bool) -> int:
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


def plan_json(command: str, scope: Scope, plan: Plan, written: Sequence[Written]) -> Json:
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


def _client_json(client: Client, places: Places, start: Launch) -> Json:
    return {
        "name": client.name,
        "title": client.title,
        "found": is_found(client, places),
        "user": _state(client, Scope.user, places, start),
        "project": _state(client, Scope.project, places, start),
    }


def _state(client: Client, scope: Scope, places: Places, start: Launch) -> str:
    setup = wanted(client, scope, places, start)
    if setup is None:
        return "not possible"
    try:
        return state_in(setup, Reader(places.project if scope is Scope.project else None)).value
    except InputError:
        return "cannot be read"


def _verb(change: Change) -> str:
    if change.before is None:
        return "Create"
    return "Remove" if change.after is None else "Change"


def _title(change: Change) -> str:
    path = display_path(str(change.path))
    if change.real != change.path and change.real.name != change.path.name:
        path += f" → {display_path(str(change.real))}"
    return f"{path}: {change.what} ({', '.join(change.clients)})"


def _diff(change: Change) -> Iterator[str]:
    before, after = _lines(change.before), _lines(change.after)
    diff = difflib.unified_diff(before, after, n=_CONTEXT_LINES, lineterm="")
    for number, line in enumerate(diff):
        if number > 1:
            yield line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None else content.decode("utf-8", "replace").splitlines()
