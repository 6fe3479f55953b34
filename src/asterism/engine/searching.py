"""A search through the façade: bring the index up to date, ask it, choose what is given out."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.chunk_table import ChunkSnapshot
from asterism.backends.store.registry import Registered
from asterism.config.settings import Settings
from asterism.domain.errors import IndexMissing, UsageError
from asterism.domain.filters import NO_FILTER, Filter
from asterism.domain.search import Mode, Search, Total
from asterism.domain.selection import Selection, Stage
from asterism.engine.builds import Freshness, refresh
from asterism.engine.finding import find
from asterism.engine.warm import Warm
from asterism.engine.wiring import Places
from asterism.retrieval.cursors import origin_of, page_of
from asterism.retrieval.questions import understand
from asterism.retrieval.recall import Sources
from asterism.retrieval.selection import select
from asterism.retrieval.selection_options import CHUNKS, limited, staged
from asterism.retrieval.selection_sizes import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What someone asks for."""

    text: str
    mode: Mode = Mode.hybrid
    where: Filter = NO_FILTER
    limit: int = 10
    min_score: float = 0.0
    stage: Stage | None = None
    exhaustive: bool = False
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReply:
    """What was found, and an account of what was not given out."""

    search: Search
    selection: Selection
    total: Total
    state: Freshness
    seconds: float
    cursor: str | None = None
    did_you_mean: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What the reader should know about how the answer came about."""


def search(
    registered: Registered,
    request: SearchRequest,
    settings: Settings,
    places: Places,
    warm: Warm,
) -> SearchReply:
    """Answer one question about one repository."""
    began = time.monotonic()
    question = understand(request.text)
    state = refresh(registered, settings, places)
    where = request.where
    if not where.repos:
        where = replace(where, repos=(registered.repository.name,))
    asked = Search(
        question=question,
        mode=request.mode,
        where=where,
        limit=request.limit,
        min_score=request.min_score,
    )
    with _opened(registered.project.directory, warm) as (catalogue, snapshot):
        found = find(asked, Sources(snapshot, catalogue, where), settings, warm)
        options = limited(CHUNKS, request.limit, exhaustive=request.exhaustive)
        options = staged(replace(options, gate=request.min_score), request.stage)
        cursor = None
        if request.exhaustive:
            origin = origin_of(asked, registered.repository.id, snapshot.version)
            page = page_of(found.rows, origin, request.limit, request.cursor)
            hits, cursor = found.read(page.rows), page.cursor
        elif request.cursor is not None:
            raise UsageError("A cursor belongs to an exhaustive search; give --exhaustive with it.")
        else:
            hits = found.read(found.rows)
        selection = select(hits, options, Measure())
    notes = found.notes
    if question.left_out:
        notes = (*notes, f"The last {question.left_out:,} characters of the question are not used.")
    return SearchReply(
        search=asked,
        selection=selection,
        total=found.total,
        state=state,
        seconds=time.monotonic() - began,
        cursor=cursor,
        did_you_mean=found.did_you_mean,
        notes=notes,
    )


@contextmanager
def _opened(directory: Path, warm: Warm) -> Iterator[tuple[Catalogue, ChunkSnapshot]]:
    """The catalogue and the version of the chunks that belongs to it."""
    with Catalogue.open(directory) as catalogue, catalogue.snapshot():
        version = catalogue.chunks_version()
        if version == 0:
            raise IndexMissing(
                "The index is empty: no file was indexed; `asterism status` says why."
            )
        yield catalogue, warm.snapshot(directory, version)
