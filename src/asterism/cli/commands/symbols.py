"""`asterism symbols`, `callers`, `callees` and `refs`: where a name is, and what it connects."""

import argparse
import os
import sys
from contextlib import closing
from itertools import groupby

from asterism.cli.options import add_json, add_path, add_request, request_from
from asterism.cli.parser import CommandParser
from asterism.cli.setup import directory_named, engine, place_named
from asterism.cli.terminal import write_json
from asterism.engine.lookups import Lookup
from asterism.operations.json import to_json
from asterism.operations.requests import SymbolLookup, SymbolRelations
from asterism.operations.symbols import symbols_found, symbols_query
from asterism.types.errors import UsageError
from asterism.types.files import display_path
from asterism.types.index import FoundSymbol, Role, SymbolQuery
from asterism.types.search import NO_FILTER


def declare(parser: CommandParser) -> None:
    """Add the arguments of the command that is meant."""
    if parser.command == "symbols":
        add_request(parser, SymbolLookup)
        add_path(parser, "anything in the repository (default: here)")
    else:
        # References have no depth.
        fields = ("name", "path") if parser.command == "refs" else ()
        add_request(parser, SymbolRelations, *fields)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print what is found; exit 1 if there is no such symbol."""
    return _symbols(options) if options.command == "symbols" else _relations(options)


def _symbols(options: argparse.Namespace) -> int:
    """Print the places of a name; exit 1 without any."""
    query = _query(options)
    place = place_named(options.path)
    here = engine()
    registered = here.locate(place)
    found = here.symbols(registered, query)
    if options.json:
        record = symbols_found(found, counts=found.counts, filters_applied={})
        write_json(to_json(record))
    else:
        _print(found)
        if found.state.message:
            sys.stderr.write(f"asterism: {found.state.message}\n")
    return 0 if found.total else 1


def _query(options: argparse.Namespace) -> SymbolQuery:
    if options.limit < 0:
        raise UsageError(f"--limit {options.limit} is not allowed; give 0 or more.")
    return symbols_query(request_from(SymbolLookup, options), NO_FILTER, options.limit)


def _print(found: Lookup) -> None:
    from asterism.cli.terminal import console, show

    out = console()
    name = display_path(found.name)
    if not found.total:
        repository = found.registered.repository.name
        show(out, (f"No symbol {name} in {repository}.", "yellow"))
        if found.did_you_mean:
            show(out, (f"Did you mean {', '.join(found.did_you_mean)}?", ""))
        return
    for role, entries in groupby(found.symbols, key=lambda entry: entry.row.role):
        show(out, (counted(role, found.counts[role]), "bold"))
        for entry in entries:
            show(out, *_line(entry))
    counts = ", ".join(counted(role, count) for role, count in found.counts.items())
    show(out, (f"{name}: ", "bold"), (f"{counts}.", ""))
    hidden = found.total - len(found.symbols)
    if hidden:
        show(out, (f"… and {hidden:,} more (--limit {found.total})", "yellow"))


def _line(entry: FoundSymbol) -> tuple[tuple[str, str], ...]:
    row = entry.row
    # Of a name on its own the signature says it all; a use has none, an import names its module.
    more = row.signature or (f"from {row.module}" if row.module is not None else "")
    return (
        (f"  {display_path(row.filepath)}:{row.line}", "cyan"),
        (f"  {row.kind}", "magenta"),
        (f"  {row.qualified_name}", "bold"),
        (f"  {more}" if more else "", "dim"),
    )


def counted(role: Role, count: int) -> str:
    """So many symbols of a role, in words."""
    return f"{count:,} {role.value}" if count == 1 else f"{count:,} {role.value}s"


def _relations(options: argparse.Namespace) -> int:
    """Print what was asked; exit 1 if there is no such symbol."""
    # Here, not above: looking a name up needs nothing that follows calls.
    from asterism.cli.render.trees import print_relations
    from asterism.engine.relations import Relation, RelationsRequest
    from asterism.operations.relations import relations_found

    place = place_named(options.path)
    with closing(engine()) as here:
        registered = here.locate(place)
        asked = request_from(SymbolRelations, options)
        request = RelationsRequest(
            name=asked.name.strip(),
            relation=Relation({"refs": "references"}.get(options.command, options.command)),
            depth=asked.depth,
            below=_below(options.path, registered.repository.root),
        )
        reply = here.relations(registered, request)
    if options.json:
        write_json(to_json(relations_found(reply, registered)))
    else:
        print_relations(reply, registered.repository.name)
        # What was said so far comes first wherever both streams go to one place.
        sys.stdout.flush()
        for note in (*reply.notes, *([reply.state.message] if reply.state.message else [])):
            sys.stderr.write(f"asterism: {note}\n")
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
