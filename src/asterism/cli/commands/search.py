"""`asterism search`, `similar` and `show`: code by meaning, words, names or likeness."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source.checkouts import on_disk
from asterism.cli.options import add_json, add_path, add_request, flag_of, request_from
from asterism.cli.parser import CommandParser, Declare
from asterism.cli.setup import directory_named, engine, place_named, question_typed
from asterism.cli.terminal import printable, write_json
from asterism.engine.context_reply import ContextReply
from asterism.engine.engine import Engine
from asterism.engine.search import SearchReply, SearchRequest
from asterism.operations.requests import NAME_FORMS, SearchCode, SimilarCode, engine_request
from asterism.operations.schema import request_fields
from asterism.search.filters import common_files, common_prefixes, literal, parse_filter_words
from asterism.store.registry import Registered
from asterism.types.errors import UsageError
from asterism.types.files import display_path
from asterism.types.search import NO_FILTER, Filter


def declare(parser: CommandParser) -> None:
    """Add the arguments of the command that is meant."""
    _ARGUMENTS[parser.command](parser)


def run(options: argparse.Namespace) -> int:
    """Print what is found; exit 1 if nothing is."""
    return _RUNS[options.command](options)


def _search_arguments(parser: CommandParser) -> None:
    add_request(parser, SearchCode)
    add_path(
        parser, "look only here: a directory or file in the index (default: the current repository)"
    )
    parser.add_argument(
        "--format",
        choices=("list", "context"),
        default="list",
        help="list: ranked hits; context: hits, how they connect and their code (up to "
        "8,000 --tokens, results that are worth them; default: %(default)s)",
    )
    add_json(parser)


def _similar_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "place", metavar="FILE:LINE", help="the function, class … around that line; or a whole FILE"
    )
    add_path(
        parser, "look only here: a directory or file of the same repository (default: all of it)"
    )
    add_request(parser, SimilarCode)
    add_json(parser)


def _show_arguments(parser: CommandParser) -> None:
    parser.add_argument("symbol", metavar="SYMBOL", help=NAME_FORMS)
    add_path(
        parser, "look only here: a directory or file in the index (default: the current repository)"
    )
    parser.add_argument(
        "--limit", type=int, default=10, metavar="N", help="definitions (default: %(default)s)"
    )
    parser.add_argument(
        "--tokens", type=int, metavar="N", help="give no more text than this (default: 8,000)"
    )
    add_json(parser)


def _search(options: argparse.Namespace) -> int:
    """Print the hits; exit 1 without any."""
    if options.format == "context":
        return _search_context(options)
    with closing(engine()) as here:
        registered, request = _asked(options, here)
        return answer(here.search(registered, request), registered, options)


def _search_context(options: argparse.Namespace) -> int:
    check_context(options)
    with closing(engine()) as here:
        registered, request = _asked(options, here)
        reply = here.context(registered, request, options.max_tokens, options.min_score)
        return answer_context(reply, registered, options.json)


def _asked(options: argparse.Namespace, here: Engine) -> tuple[Registered, SearchRequest]:
    """Where is searched, and for what."""
    text = question_typed(options.query)
    place = place_named(options.path)
    registered = here.locate(place)
    where = parse_filter_words(options.filters or [], registered.repository.root)
    if options.path is not None:
        where = below(where, registered, place)
    asked = request_from(SearchCode, options, query=text)
    return registered, engine_request(asked, SearchRequest, where=where)


def answer(reply: SearchReply, registered: Registered, options: argparse.Namespace) -> int:
    """Print a reply, and say by the exit code whether anything was found."""
    if options.json:
        from asterism.operations.json import to_json
        from asterism.operations.search_reply import RowOptions, search_found

        rows = RowOptions(options.explain, is_local=True)
        write_json(to_json(search_found(reply, registered, rows)))
    else:
        from asterism.cli.render.hits import print_reply

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


# As editors, compilers and our own output write it: `a.py:12`, `a.py:12:5`, `a.py:12-20`.
_PLACE = re.compile(r"(?P<file>.+?):(?P<first>-?\d+)(?:[-–](?P<last>\d+)|:\d+)?:?", re.DOTALL)


class Typed(NamedTuple):
    """What the user wrote, taken apart."""

    file: str
    first: int | None = None
    last: int | None = None


def _similar(options: argparse.Namespace) -> int:
    """Print the hits; exit 1 without any."""
    typed = place_typed(options.place)
    here = engine()
    path = _existing(here, typed.file)
    registered = here.locate(path)
    where = parse_filter_words(options.filters or [], registered.repository.root)
    if options.path is not None:
        within = place_named(options.path)
        if here.locate(within) != registered:
            raise UsageError(
                f"{display_path(options.path)} is not in {registered.repository.name}, as the file "
                "is; code is compared within one repository."
            )
        where = below(where, registered, within)
    asked = request_from(SimilarCode, options, file_path=typed.file)
    request = engine_request(asked, SearchRequest, where=where)
    reply = here.similar(registered, request, path, (typed.first, typed.last))
    return answer(reply, registered, options)


def place_typed(text: str) -> Typed:
    """A file and its lines; a file whose name looks like that is itself."""
    if not text.strip():
        raise UsageError("The place is empty; give FILE:LINE, or a file.")
    found = _PLACE.fullmatch(text)
    if found is None or ("\0" not in text and os.path.lexists(text)):
        return Typed(text)
    # No file has so many lines; a longer number is cut.
    first, last = (int(found[name][:12]) if found[name] else None for name in ("first", "last"))
    return Typed(found["file"], first, last)


def _existing(here: Engine, typed: str) -> Path:
    """The file from here, or from the root of the repository around, as results name it."""
    if "\0" in typed:
        raise UsageError("A path has no NUL in it; give FILE:LINE.")
    path = directory_named(typed)
    if not os.path.lexists(path):
        around = here.registry.find(Path.cwd())
        if around is not None:
            there = on_disk(str(Path(around.repository.root, typed)))
            if os.path.lexists(there):
                return Path(there)
    return path


def _show(options: argparse.Namespace) -> int:
    """Print the definitions of a name; exit 1 without any."""
    name = options.symbol.strip()
    if not name:
        raise UsageError("The name is empty; give a symbol, such as `Parser.parse`.")
    place = place_named(options.path)
    with closing(engine()) as here:
        registered = here.locate(place)
        where = NO_FILTER if options.path is None else below(NO_FILTER, registered, place)
        request = SearchRequest(text=f"symbol = {name}", where=where, limit=options.limit)
        reply = here.context(registered, request, options.tokens)
        return answer_context(reply, registered, options.json)


def check_context(options: argparse.Namespace) -> None:
    """Refuse options that only a list of hits has."""
    for field in request_fields(SearchCode):
        if field.option.is_of_lists and vars(options)[field.name]:
            raise UsageError(
                f"{flag_of(field)} belongs to a list of hits; leave it out, or leave out "
                "--format context."
            )


def answer_context(reply: ContextReply, registered: Registered, as_json: bool) -> int:
    """Print a reply, and say by the exit code whether anything was found."""
    if as_json:
        from asterism.operations.limits import result_json
        from asterism.operations.search import context_reply

        write_json(result_json(context_reply(reply, registered, is_local=True)))
    else:
        _print_context(reply)
    return 0 if reply.shown else 1


def _print_context(reply: ContextReply) -> None:
    texts = [printable(part.text).rstrip("\n") for part in reply.assembly.parts]
    if reply.search.did_you_mean:
        texts.append(f"Did you mean {', '.join(map(printable, reply.search.did_you_mean))}?")
    sys.stdout.write("\n\n".join(texts) + "\n")
    # What was said so far comes first wherever both streams go to one place.
    sys.stdout.flush()
    state = reply.search.state.message
    for note in (*reply.notes, *([state] if state else [])):
        sys.stderr.write(f"asterism: {note}\n")


_ARGUMENTS: Mapping[str, Declare] = {
    "search": _search_arguments,
    "similar": _similar_arguments,
    "show": _show_arguments,
}
_RUNS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "search": _search,
    "similar": _similar,
    "show": _show,
}
