"""`asterism similar`: code like the code at a place."""

import argparse
import os
import re
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source.checkouts import on_disk
from asterism.cli.commands.search import answer, below
from asterism.cli.options import request_from
from asterism.cli.setup import directory_named, engine
from asterism.engine.engine import Engine
from asterism.operations.requests import SimilarCode
from asterism.operations.search import engine_request
from asterism.search.filters import parse_filter_words
from asterism.types.errors import PathMissing, UsageError
from asterism.types.files import display_path

# As editors, compilers and our own output write it: `a.py:12`, `a.py:12:5`, `a.py:12-20`.
_PLACE = re.compile(r"(?P<file>.+?):(?P<first>-?\d+)(?:[-–](?P<last>\d+)|:\d+)?:?", re.DOTALL)


class Typed(NamedTuple):
    """What the user wrote, taken apart."""

    file: str
    first: int | None = None
    last: int | None = None


def run(options: argparse.Namespace) -> int:
    """Print the hits; exit 1 if there is none."""
    typed = place_typed(options.place)
    here = engine()
    path = _existing(here, typed.file)
    registered = here.locate(path)
    where = parse_filter_words(options.filters or [], registered.repository.root)
    if options.path is not None:
        within = directory_named(options.path)
        if not within.exists():
            raise PathMissing(f"{display_path(options.path)} does not exist; check the path.")
        if here.locate(within) != registered:
            raise UsageError(
                f"{display_path(options.path)} is not in {registered.repository.name}, as the file "
                "is; code is compared within one repository."
            )
        where = below(where, registered, within)
    request = engine_request(request_from(SimilarCode, options, file_path=typed.file), where)
    reply = here.similar(registered, request, path, (typed.first, typed.last))
    return answer(reply, registered, options)


def place_typed(text: str) -> Typed:
    """A file and its lines; a file whose name looks like that is itself."""
    if not text.strip():
        raise UsageError("The place is empty; give FILE:LINE, or a file.")
    found = _PLACE.fullmatch(text)
    if found is None or ("\0" not in text and os.path.lexists(text)):
        return Typed(text)
    # Beyond this no file has lines, and no number of ours reaches.
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
