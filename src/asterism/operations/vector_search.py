"""The operation that gives the nearest chunks in the shape that chats know: vector_search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from asterism.operations.calls import Call
from asterism.operations.limits import CallReply, measured, reply_of
from asterism.operations.operation import Operation, Route
from asterism.operations.schema import Json, ProjectId, RepositoryId, text, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSearch:
    """A search for the chunks that are nearest to a text."""

    query: Annotated[str, text("What is looked for.")]
    repository: Annotated[
        str | None, text("Id or name of a repository; else the server's own.")
    ] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    limit: Annotated[int, whole("Chunks that are looked at.", 1, 50)] = 10


@dataclass(frozen=True, kw_only=True)
class NearestFound:
    """The nearest chunks and their files; the names of the fields are older than this API's."""

    results: tuple[Json, ...]
    modelId: str | None
    files: tuple[Json, ...]


def vector_search(call: Call, asked: VectorSearch) -> CallReply:
    """The nearest chunks in the shape that chats know."""
    from asterism.chat.vector_search import payload
    from asterism.engine.chat.sources import nearest
    from asterism.search.selection.select import file_matches

    found = nearest(call.engine, call.repository(), asked.query, asked.limit)
    kept = found.selection.kept
    while True:
        selection = replace(found.selection, kept=kept, files=file_matches(kept))
        fields: Json = payload(selection, found.roots, found.model_id)
        reply = reply_of(NearestFound(**fields))
        # The settings limit the texts; what is sent has a ceiling of its own.
        if not kept or measured(reply) <= call.limit:
            return reply
        kept = kept[:-1]


OPERATIONS = (
    Operation(
        name="vector_search",
        title="Nearest chunks for a chat",
        description="""\
Give the chunks nearest to a question as a chat's model reads them: those near enough, two of a \
file at most, each and all of bounded length, in the order the store gave them. `score` is the \
distance: 0 is identical, lower is better; `highestMatch` is the lowest distance of a file. How \
near, how many and how long they may be is set in the section `chat` of the settings.""",
        request=VectorSearch,
        reply=NearestFound,
        run=vector_search,
        needs_index=True,
        route=Route("POST", "/tools/vector-search"),
    ),
)
