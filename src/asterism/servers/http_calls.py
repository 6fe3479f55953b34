"""What the HTTP API does beside the tools, over the engine."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from asterism.analysis.reading import read_outline
from asterism.analysis.source.text import decode, is_binary, read
from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.registry import Registered
from asterism.domain.errors import (
    IndexMissing,
    NotText,
    PathMissing,
    PathUnreadable,
    StoreError,
    UsageError,
)
from asterism.domain.files import display_path, wire_path
from asterism.domain.outline import Outline
from asterism.domain.search import Mode
from asterism.operations.addable import Addable
from asterism.operations.calls import Call
from asterism.operations.json import place_json
from asterism.operations.limits import Part, Reply, fitted, measured, plain_account
from asterism.operations.repositories import inside
from asterism.operations.schema import Json
from asterism.servers.access_hiding import shown_detail
from asterism.servers.http_tools import MOST_LINES
from asterism.servers.tools_states import repository_json
from asterism.servers.tools_wire import search_json

_NO_TEXT = (Part(""),)
"""Clients of the API read the data; texts are for models."""


def similar_code(call: Call) -> Reply:
    """Rows of code like the code at a place."""
    from asterism.engine.searching import SearchRequest
    from asterism.retrieval.filters import parse_filters

    given, registered = call.arguments, call.repository()
    path = inside(registered, given["path"])
    request = SearchRequest(
        mode=Mode.similar,
        where=parse_filters(given.get("filters") or {}, registered.repository.root),
        limit=given["limit"],
        min_score=given.get("min_score", 0.0),
        context_lines=given["context_lines"],
    )
    lines = (given.get("line"), given.get("last_line"))
    found = call.engine.similar(registered, request, path, lines)
    structured = search_json(found, registered, given["explain"])
    return fitted(Reply(parts=_NO_TEXT, structured=structured, rows="results"), call.limit)


def symbol_relations(call: Call) -> Reply:
    """Every definition of a name with its callers, callees or references."""
    from asterism.engine.relations import Relation, RelationsRequest
    from asterism.servers.wire_relations import relations_json

    given, registered = call.arguments, call.repository()
    request = RelationsRequest(
        name=given["name"].strip(),
        relation=Relation(given["relation"]),
        depth=given["depth"],
        below=_below(registered, given.get("path")),
    )
    found = relations_json(call.engine.relations(registered, request))
    shown = len(found["definitions"])
    structured = {
        **place_json(registered),
        **found,
        **plain_account(found["total"], shown, call.limit),
        "cursor": None,
    }
    return fitted(Reply(parts=_NO_TEXT, structured=structured, rows="definitions"), call.limit)


def _below(registered: Registered, typed: str | None) -> str:
    """The path in the repository that is named; nothing for all of it."""
    if typed is None:
        return ""
    place = inside(registered, typed)
    relative = os.path.relpath(place, os.path.realpath(registered.repository.root))
    if relative == os.curdir:
        return ""
    plain = relative.replace(os.sep, "/")
    return f"{plain}/" if place.is_dir() else plain


def add_repository(call: Call, addable: Addable) -> Reply:
    """Make a directory known, if the user allowed that."""
    typed = call.arguments["path"]
    if not Path(typed).is_absolute():
        raise UsageError("path has to be absolute: the directory on the server's machine.")
    given = call.arguments
    registered = call.engine.register(addable.place(typed), given.get("name"), given.get("project"))
    return _told(repository_json(registered))


def remove_repository(call: Call, stop: Callable[[Registered], None]) -> Reply:
    """Forget a repository, after whatever works on it was stopped."""
    registered = call.repository()
    stop(registered)
    call.engine.remove(registered)
    return _told({**repository_json(registered), "removed": True})


def file_outline(call: Call) -> Reply:
    """The symbols of a file, in its order."""
    registered = call.repository()
    path, relative = shown_file(call, registered)
    outline = read_outline(str(path), relative)
    symbols = [
        _symbol(outline, number) for number, item in enumerate(outline.items) if item.is_symbol
    ]
    structured = {
        **place_json(registered),
        "path": wire_path(relative),
        "language": outline.language,
        "problems_count": len(outline.problems),
        "symbols": symbols,
        **plain_account(len(symbols), len(symbols), call.limit),
        **_AS_ON_DISK,
    }
    return fitted(Reply(parts=_NO_TEXT, structured=structured, rows="symbols"), call.limit)


def _symbol(outline: Outline, number: int) -> Json:
    item = outline.items[number]
    return {
        "name": item.name,
        "kind": item.kind,
        "qualified_name": item.qualified_name,
        "depth": item.depth,
        "start_line": item.start_line,
        "end_line": item.end_line,
        "signature": item.signature,
        "exported": item.exported,
    }


def file_lines(call: Call) -> Reply:
    """Lines of a file as it is now."""
    registered, given = call.repository(), call.arguments
    path, relative = shown_file(call, registered)
    data = read(str(path))
    if is_binary(data):
        raise NotText(f"{display_path(relative)} is a binary file; only text can be shown.")
    lines = decode(data).decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    first = given["first"]
    last = given.get("last", first + MOST_LINES - 1)
    if last < first:
        raise UsageError(f"last is {last:,} and first is {first:,}; give the first line first.")
    wanted = lines[first - 1 : last]
    page = wanted[:MOST_LINES]
    structured = {
        **place_json(registered),
        "path": wire_path(relative),
        "first": first,
        "total_lines": len(lines),
        "lines": page,
        **plain_account(len(wanted), len(page), call.limit),
        **_AS_ON_DISK,
    }
    return fitted(Reply(parts=_NO_TEXT, structured=structured, rows="lines"), call.limit)


_AS_ON_DISK: Mapping[str, object] = {
    "cursor": None,
    "index_state": {"behind": 0, "message": ""},
    "notes": [],
}
"""Files are read as they are, whatever the index knows of them."""


def shown_file(call: Call, registered: Registered) -> tuple[Path, str]:
    """A file that may be shown, and its path in the repository: one that is or would be indexed.

    What is kept out of the index, secrets among it, is not shown either, by whichever link.
    """
    typed = call.arguments["path"]
    path = Path(os.path.realpath(inside(registered, typed)))
    root = os.path.realpath(registered.repository.root)
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    if not path.exists():
        raise PathMissing(f"{display_path(typed)} does not exist; check the path.")
    if not _is_indexed(registered, relative):
        verdict = call.engine.inspect(path).verdict
        if verdict is None or not verdict.indexed:
            reason = "it is in no list of files" if verdict is None else verdict.reason
            raise PathUnreadable(
                f"{display_path(typed)} is left out of the index ({reason}), and not shown; "
                "index_debug says more."
            )
    return path, relative


def _is_indexed(registered: Registered, relative: str) -> bool:
    try:
        with Catalogue.open(registered.project.directory) as catalogue:
            return catalogue.file(registered.repository.name, relative) is not None
    except (StoreError, UsageError):
        return False


def skipped_files(call: Call) -> Reply:
    """What the index leaves out, and why."""
    registered, wanted = call.repository(), call.arguments.get("reason")
    repo = registered.repository.name
    with Catalogue.open(registered.project.directory) as catalogue:
        if repo not in {known.name for known in catalogue.repositories()}:
            raise IndexMissing(f"{repo} is not indexed yet.")
        entries, counts = catalogue.skipped(repo), catalogue.skipped_counts(repo)
    rows = [
        {
            "path": wire_path(entry.path),
            "reason": entry.reason,
            "detail": shown_detail(entry.detail, registered.repository.root),
        }
        for entry in entries
        if wanted in (None, entry.reason)
    ]
    structured = {
        **place_json(registered),
        "counts": counts,
        "skipped": rows,
        **plain_account(len(rows), len(rows), call.limit),
        "cursor": None,
        "index_state": {"behind": 0, "message": ""},
        "notes": [],
    }
    return fitted(Reply(parts=_NO_TEXT, structured=structured, rows="skipped"), call.limit)


def vector_search(call: Call) -> Reply:
    """The nearest chunks in the shape that chats know."""
    from asterism.chat.vector_search import payload
    from asterism.engine.nearest import nearest
    from asterism.retrieval.selection_account import file_matches

    given, registered = call.arguments, call.repository()
    found = nearest(call.engine, registered, given["query"], given["limit"])
    kept = found.selection.kept
    while True:
        selection = replace(found.selection, kept=kept, files=file_matches(kept))
        reply = _told(payload(selection, found.roots, found.model_id))
        # The settings limit the texts; what is sent has a ceiling of its own.
        if not kept or measured(reply) <= call.limit:
            return reply
        kept = kept[:-1]


def _told(structured: Json) -> Reply:
    return Reply(parts=_NO_TEXT, structured=structured)
