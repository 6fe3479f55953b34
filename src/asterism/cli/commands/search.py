"""`asterism search`: the code for a question, with scores and reasons."""

import argparse
import os
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from asterism.cli.json import write_json
from asterism.cli.options import request_from
from asterism.cli.render.hits import print_reply
from asterism.cli.setup import directory_named, engine
from asterism.engine.engine import Engine
from asterism.engine.search import SearchReply, SearchRequest
from asterism.operations.json import to_json
from asterism.operations.requests import SearchCode
from asterism.operations.search import engine_request
from asterism.operations.search_reply import RowOptions, search_found
from asterism.search.filters import parse_filter_words
from asterism.search.path_filters import common_files, common_prefixes, literal
from asterism.store.registry import Registered
from asterism.types.errors import PathMissing, UsageError
from asterism.types.files import display_path
from asterism.types.search import Filter

# What a question on standard input may have: a hundred times what is read of it.
INPUT_BYTES = 1_000_000


def run(options: argparse.Namespace) -> int:
    """Print the hits; exit 1 if there is none."""
    if options.format == "context":
        return _context(options)
    with closing(engine()) as here:
        registered, request = _asked(options, here)
        return answer(here.search(registered, request), registered, options)


def _context(options: argparse.Namespace) -> int:
    # A list needs nothing of what knows how code is connected.
    from asterism.cli.commands.contexts import answer_context, check_context

    check_context(options)
    with closing(engine()) as here:
        registered, request = _asked(options, here)
        reply = here.context(registered, request, options.max_tokens, options.min_score)
        return answer_context(reply, registered, options.json)


def _asked(options: argparse.Namespace, here: Engine) -> tuple[Registered, SearchRequest]:
    """Where is searched, and for what."""
    text = _typed() if options.query == "-" else options.query
    place = directory_named(options.path)
    if not place.exists():
        raise PathMissing(f"{display_path(options.path)} does not exist; check the path.")
    registered = here.locate(place)
    where = parse_filter_words(options.filters or [], registered.repository.root)
    if options.path is not None:
        where = below(where, registered, place)
    asked = request_from(SearchCode, options, query=text)
    return registered, engine_request(asked, where)


def answer(reply: SearchReply, registered: Registered, options: argparse.Namespace) -> int:
    """Print a reply, and say by the exit code whether anything was found."""
    if options.json:
        rows = RowOptions(options.explain, is_local=True)
        write_json(to_json(search_found(reply, registered, rows)))
    else:
        print_reply(reply, options.explain, listed=options.exhaustive)
    return 0 if reply.selection.kept else 1


def below(where: Filter, registered: Registered, place: Path) -> Filter:
    """The filter for what is at a path that the user named; the root itself means everything."""
    relative = os.path.relpath(os.path.realpath(place), registered.repository.root)
    if relative == os.curdir:
        return where
    inside = display_path(relative.replace(os.sep, "/"))
    if place.is_dir():
        prefixes = common_prefixes(where.path_prefixes or None, [f"{inside}/"])
        return replace(where, path_prefixes=prefixes)
    return replace(where, paths=common_files(where.paths or None, [literal(inside)]))


def _typed() -> str:
    """The question on standard input; bytes that are no text are shown as such."""
    if sys.stdin is None:
        raise UsageError("There is no standard input to read the question from; give it instead.")
    data = sys.stdin.buffer.read(INPUT_BYTES + 1)
    if len(data) > INPUT_BYTES:
        raise UsageError(f"The question is over {INPUT_BYTES:,} bytes; give the part that matters.")
    return data.decode("utf-8", "replace")
