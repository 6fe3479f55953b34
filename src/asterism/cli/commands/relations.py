"""`asterism callers`, `callees` and `refs`: how a symbol is connected, for people and as JSON."""

import argparse
import os
import sys
from contextlib import closing

from asterism.cli.json import write_json
from asterism.cli.render.trees import print_relations
from asterism.cli.setup import directory_named, engine
from asterism.engine.relations import Relation, RelationsReply, RelationsRequest
from asterism.operations.json import to_json
from asterism.operations.relations import relations_found
from asterism.types.errors import PathMissing
from asterism.types.files import display_path

_RELATIONS = {
    "callers": Relation.callers,
    "callees": Relation.callees,
    "refs": Relation.references,
}


def run(options: argparse.Namespace) -> int:
    """Print what was asked; exit 1 if there is no such symbol."""
    place = directory_named(options.path)
    if not place.exists():
        raise PathMissing(f"{display_path(options.path)} does not exist; check the path.")
    with closing(engine()) as here:
        registered = here.locate(place)
        request = RelationsRequest(
            name=options.name.strip(),
            relation=_RELATIONS[options.command],
            # An option that is not given hides the default.
            depth=1 if options.depth is None else options.depth,
            below=_below(options.path, registered.repository.root),
        )
        reply = here.relations(registered, request)
    if options.json:
        write_json(to_json(relations_found(reply, registered)))
    else:
        print_relations(reply, registered.repository.name)
        _print_notes(reply)
    return 0 if reply.related else 1


def _below(typed: str | None, root: str) -> str:
    """The path in the repository that the user named; nothing for all of it."""
    if typed is None:
        return ""
    place = os.path.realpath(directory_named(typed))
    relative = os.path.relpath(place, root).replace(os.sep, "/")
    if relative == os.curdir:
        return ""
    return f"{relative}/" if os.path.isdir(place) else relative  # noqa: PTH112 - a plain path


def _print_notes(reply: RelationsReply) -> None:
    # What was said so far comes first wherever both streams go to one place.
    sys.stdout.flush()
    for note in (*reply.notes, *([reply.state.message] if reply.state.message else [])):
        sys.stderr.write(f"asterism: {note}\n")
