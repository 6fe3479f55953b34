"""Code search for a chat: the best hits of a question, and those nearest to it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from asterism.chat.extractive import NAME as EXTRACTIVE
from asterism.chat.ports import Searched
from asterism.chat.vector_search import chosen, chosen_ranked, payload
from asterism.config.options import vector_options
from asterism.engine.chat.background import ChatThreads
from asterism.engine.engine import Engine
from asterism.engine.search import SearchReply, SearchRequest
from asterism.store.registry import Registered
from asterism.types.chat import Citation, Turn
from asterism.types.files import display_path
from asterism.types.search import Kept, Mode, Selection

_READ_BYTES = 1 << 20


class Checked(NamedTuple):
    """A citation, and whether its lines are there now."""

    citation: Citation
    exists: bool


def unnamed(turn: Turn) -> tuple[Citation, ...]:
    """The places that a reader has not seen yet: an answer without a model names its own."""
    if turn.provider != EXTRACTIVE:
        return turn.citations
    return tuple(entry for entry in turn.citations if entry.place not in turn.answer)


def checked(citations: Iterable[Citation], roots: Mapping[str, str]) -> list[Checked]:
    """Each citation with a word on whether its file still has those lines.

    `roots` has the folder of each repository by its name.
    """
    lines: dict[Path, int] = {}
    found = []
    for entry in citations:
        root = roots.get(entry.repo)
        count = 0
        if root is not None:
            path = Path(root, entry.path)
            if path not in lines:
                lines[path] = _line_count(path, Path(root))
            count = lines[path]
        found.append(Checked(entry, 1 <= entry.first_line <= entry.last_line <= count))
    return found


def _line_count(path: Path, root: Path) -> int:
    """Lines of a file inside the repository; none if it cannot be read."""
    try:
        if not path.resolve().is_relative_to(root.resolve()):
            return 0
        count, last = 0, b"\n"
        with path.open("rb") as file:
            while piece := file.read(_READ_BYTES):
                count += piece.count(b"\n")
                last = piece[-1:]
    except OSError:
        return 0
    return count if last == b"\n" else count + 1


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


BEST = 10
"""Hits that are looked at for an answer; two of a file are kept at most."""

POSSIBLE = 0.2
"""The score that the best hit has to have: of those with less, nine in ten are not it."""
WORTH_SHOWING = 0.1
"""The least score of a hit after the best one."""

Guard = Callable[[Registered], AbstractContextManager[object]]
"""Lets one query at a time use a project."""


class CodeSource(NamedTuple):
    """Where is looked, and how one waits for one's turn."""

    engine: Engine
    registered: Registered
    guard: Guard
    threads: ChatThreads

    def roots(self) -> dict[str, str]:
        """The folder of each repository of the project, by its name."""
        entries = self.engine.registry.repositories(self.registered.project.id)
        return {entry.repository.name: entry.repository.root for entry in entries}


class BestHits:
    """The best hits by everything that is known: meaning, words, names and paths."""

    def __init__(self, ground: CodeSource) -> None:
        self._ground = ground

    async def find(self, query: str) -> Searched:
        """Hits in the order of their scores, as a chat gives them to its model."""
        return await self._ground.threads.search(self._find, query)

    def _find(self, query: str) -> Searched:
        request = SearchRequest(text=query, mode=Mode.hybrid, limit=BEST)
        with self._ground.guard(self._ground.registered):
            found = self._ground.engine.search(self._ground.registered, request)
        return searched(self._ground, found, only_likely=True)


def searched(ground: CodeSource, found: SearchReply, only_likely: bool = False) -> Searched:
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


def nearest_hits(ground: CodeSource, query: str, limit: int) -> Searched:
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
