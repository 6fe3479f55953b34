"""The chunks nearest to a question, as the model of a chat is given them."""

from collections.abc import Mapping
from typing import NamedTuple

from asterism.chat.vector_search import chosen
from asterism.config.options import vector_options
from asterism.engine.engine import Engine
from asterism.store.registry import Registered
from asterism.types.search import Mode
from asterism.types.selection import Selection


class Nearest(NamedTuple):
    """What a chat is given, and what its shape needs to know."""

    selection: Selection
    roots: Mapping[str, str]
    """The folder of each repository of the project, by its name."""
    model_id: str
    """Whose vectors were compared."""


def nearest(engine: Engine, registered: Registered, query: str, limit: int) -> Nearest:
    """Search by meaning alone, and choose within the limits of the settings `chat.*`."""
    from asterism.engine.search import SearchRequest

    request = SearchRequest(text=query, mode=Mode.semantic, limit=limit)
    found = engine.search(registered, request)
    hits = [kept.hit for kept in found.selection.kept]
    options = vector_options(engine.settings_of(registered), found.cutoff)
    model = "" if found.vectors_of is None else str(found.vectors_of)
    entries = engine.registry.repositories(registered.project.id)
    roots = {entry.repository.name: entry.repository.root for entry in entries}
    return Nearest(chosen(hits, options), roots, model)
