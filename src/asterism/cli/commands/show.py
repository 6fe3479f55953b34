"""`asterism show`: a symbol, how it is connected, and its code with what it uses of its file."""

import argparse
from contextlib import closing

from asterism.cli.commands.contexts import answer_context
from asterism.cli.commands.search import below
from asterism.cli.setup import directory_named, engine
from asterism.engine.search import SearchRequest
from asterism.types.errors import PathMissing, UsageError
from asterism.types.files import display_path
from asterism.types.search import NO_FILTER


def run(options: argparse.Namespace) -> int:
    """Print the definitions of a name; exit 1 if there is none."""
    name = options.symbol.strip()
    if not name:
        raise UsageError("The name is empty; give a symbol, such as `Parser.parse`.")
    place = directory_named(options.path)
    if not place.exists():
        raise PathMissing(f"{display_path(options.path)} does not exist; check the path.")
    with closing(engine()) as here:
        registered = here.locate(place)
        where = NO_FILTER if options.path is None else below(NO_FILTER, registered, place)
        request = SearchRequest(text=f"symbol = {name}", where=where, limit=options.limit)
        reply = here.context(registered, request, options.tokens)
        return answer_context(reply, registered, options.json)
