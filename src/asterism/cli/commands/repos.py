"""`asterism repos`: which repositories are known; make one known, or forget one."""

import argparse
import os
import sys

from asterism.cli.json import Json, write_json
from asterism.cli.setup import directory_named, engine
from asterism.cli.terminal import confirmed
from asterism.engine.engine import Engine
from asterism.engine.status import Listed, ListedState, list_repositories
from asterism.store.registry import Registered
from asterism.types.errors import UsageError
from asterism.types.files import display_path, wire_path

_COLUMNS = ("PROJECT", "REPOSITORY", "FILES", "CHUNKS", "STATE", "ROOT")


def run(options: argparse.Namespace) -> int:
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
        _print(found)
    return 0


def _print(found: list[Listed]) -> None:
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
