"""What the HTTP API does beside the tools, over the engine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from asterism.operations.addable import Addable
from asterism.operations.calls import Call
from asterism.operations.limits import Part, Reply, measured
from asterism.operations.schema import Json
from asterism.servers.tools_states import repository_json
from asterism.store.registry import Registered
from asterism.types.errors import (
    UsageError,
)

_NO_TEXT = (Part(""),)
"""Clients of the API read the data; texts are for models."""


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


def vector_search(call: Call) -> Reply:
    """The nearest chunks in the shape that chats know."""
    from asterism.chat.vector_search import payload
    from asterism.engine.chat.sources import nearest
    from asterism.search.selection.select import file_matches

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
