"""Code search for a chat: the best hits of a question, and those nearest to it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NamedTuple

from asterism.chat.ports import Searched
from asterism.chat.vector_search import chosen_ranked, payload
from asterism.config.options import vector_options
from asterism.engine.chat.nearest import nearest
from asterism.engine.chat.threads import Threads
from asterism.engine.engine import Engine
from asterism.engine.search import SearchReply, SearchRequest
from asterism.store.registry import Registered
from asterism.types.files import display_path
from asterism.types.search import Mode
from asterism.types.selection import Kept, Selection

BEST = 10
"""Hits that are looked at for an answer; two of a file are kept at most."""

POSSIBLE = 0.2
"""The score that the best hit has to have: of those with less, nine in ten are not it."""
WORTH_SHOWING = 0.1
"""The score of a hit that stands beside a better one."""

Guard = Callable[[Registered], AbstractContextManager[object]]
"""Whoever asks about a project waits for whoever is asking about it."""


class Ground(NamedTuple):
    """Where is looked, and how one waits for one's turn."""

    engine: Engine
    registered: Registered
    guard: Guard
    threads: Threads

    def roots(self) -> dict[str, str]:
        """The folder of each repository of the project, by its name."""
        entries = self.engine.registry.repositories(self.registered.project.id)
        return {entry.repository.name: entry.repository.root for entry in entries}


class BestHits:
    """The best hits by everything that is known: meaning, words, names and paths."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def find(self, query: str) -> Searched:
        """Hits in the order of their scores, as a chat gives them to its model."""
        return await self._ground.threads.search(self._find, query)

    def _find(self, query: str) -> Searched:
        request = SearchRequest(text=query, mode=Mode.hybrid, limit=BEST)
        with self._ground.guard(self._ground.registered):
            found = self._ground.engine.search(self._ground.registered, request)
        return searched(self._ground, found, only_likely=True)


def searched(ground: Ground, found: SearchReply, only_likely: bool = False) -> Searched:
    """What a ranking found, within the limits of the settings `chat.*`.

    The distance decides nothing here: the ranking has weighed it already.
    """
    settings = ground.engine.settings_of(ground.registered)
    options = vector_options(settings)
    hits = [kept.hit for kept in found.selection.kept]
    is_faint = only_likely and max((hit.score for hit in hits), default=1.0) < POSSIBLE
    if is_faint:
        hits = hits[: options.fallback_chunks]
    elif only_likely:
        hits = [hit for hit in hits if hit.score >= WORTH_SHOWING]
    selection = chosen_ranked(hits, options)
    if is_faint:
        kept = tuple(entry._replace(below_threshold=True) for entry in selection.kept)
        selection = replace(selection, kept=kept)
    state = [found.state.message] if found.state.message else []
    alike = [f"Did you mean {', '.join(found.did_you_mean)}?"] if found.did_you_mean else []
    return _searched(selection, ground.roots(), "", (*found.notes, *state, *alike))


def nearest_hits(ground: Ground, query: str, limit: int) -> Searched:
    """The chunks nearest to a question, by their vectors alone."""
    with ground.guard(ground.registered):
        found = nearest(ground.engine, ground.registered, query, limit)
    return _searched(found.selection, dict(found.roots), found.model_id, ())


def _searched(
    selection: Selection, roots: dict[str, str], model: str, notes: Sequence[str]
) -> Searched:
    rows = payload(selection, roots, model, lines=True)
    hits = tuple(kept.hit for kept in selection.kept)
    return Searched(hits, _text(selection.kept, notes), rows, tuple(notes))


def _text(kept: Sequence[Kept], notes: Sequence[str]) -> str:
    """The hits as a model reads them: where each is, then its code."""
    parts = [_part(entry) for entry in kept] or ["Nothing was found."]
    return "\n\n".join((*parts, *notes))


def _part(entry: Kept) -> str:
    chunk = entry.hit.chunk
    near = "" if entry.hit.distance is None else f", distance {entry.hit.distance:.2f}"
    faint = ", not near enough to be sure" if entry.below_threshold else ""
    name = chunk.qualified_name or chunk.name
    place = f"{display_path(chunk.relative_path)}:{chunk.start_line}-{chunk.end_line}"
    return f"{place}  {chunk.node_kind} {name}{near}{faint}\n{entry.text}"
