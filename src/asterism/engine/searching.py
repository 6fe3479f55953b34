"""A search through the façade: bring the index up to date, ask it, choose what is given out."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from asterism.backends.embed.options import EmbedOptions
from asterism.backends.embed.protocol import Embedder
from asterism.backends.embed.providers import make_embedder
from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.chunk_table import ChunkSnapshot, Vector
from asterism.backends.store.lance_table import LanceTable
from asterism.backends.store.registry import Registered
from asterism.config.loading import embed_options
from asterism.config.settings import Settings
from asterism.domain.errors import (
    IndexMismatch,
    IndexMissing,
    ProviderError,
    StoreError,
    UsageError,
)
from asterism.domain.filters import NO_FILTER, Filter
from asterism.domain.search import Hit, Mode, Question, Search, Total
from asterism.domain.selection import Selection, Stage
from asterism.engine.builds import Freshness, refresh
from asterism.engine.wiring import Places, model_identity
from asterism.retrieval.cursors import origin_of, page_of
from asterism.retrieval.definitions import find_definitions
from asterism.retrieval.exact import chunks_found, find_exact
from asterism.retrieval.options import RankOptions
from asterism.retrieval.questions import understand
from asterism.retrieval.ranking import rank
from asterism.retrieval.recall import Sources, recall, recall_by_meaning
from asterism.retrieval.selection import select
from asterism.retrieval.selection_options import CHUNKS, limited, staged
from asterism.retrieval.selection_sizes import Measure
from asterism.retrieval.symbols_lookup import SymbolAnswer, chunks_of, look_up


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


class _Found(NamedTuple):
    """Rows in order, and how to read those that are wanted."""

    rows: Sequence[object]
    read: Callable[[Sequence[object]], list[Hit]]
    total: Total
    did_you_mean: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Warm:
    """What a process that answers many questions keeps open between them."""

    def __init__(self) -> None:
        self._tables: dict[Path, LanceTable] = {}
        self._embedders: dict[EmbedOptions, Embedder] = {}

    def snapshot(self, directory: Path, version: int) -> ChunkSnapshot:
        """A version of a project's chunks; the newest one stays in memory as far as it was read."""
        if directory not in self._tables:
            self._tables[directory] = LanceTable.open(directory)
        try:
            return self._tables[directory].snapshot(version)
        except StoreError:
            # It may have been built anew in the meantime.
            self._tables[directory] = LanceTable.open(directory)
            return self._tables[directory].snapshot(version)

    def embedder(self, options: EmbedOptions) -> Embedder:
        """The model for questions, loaded once."""
        if options not in self._embedders:
            self._embedders[options] = make_embedder(options)
        return self._embedders[options]


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
        found = _find(asked, Sources(snapshot, catalogue, where), settings, warm)
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


def _find(asked: Search, sources: Sources, settings: Settings, warm: Warm) -> _Found:
    question, snapshot, catalogue = asked.question, sources.chunks, sources.catalogue
    if question.symbol is not None:
        return _symbols(look_up(catalogue, snapshot, question.symbol, asked.where), snapshot)
    if question.pattern is not None or asked.mode is Mode.exact:
        answer = find_exact(snapshot, question, asked.where)

        def read(rows: Sequence[object]) -> list[Hit]:
            chosen = [row for row in answer.found if row in set(rows)]
            return [Hit(chunk, 1.0) for chunk, _ in chunks_found(snapshot, chosen)]

        return _Found(answer.found, read, Total(answer.total_matches, exact=True))
    if asked.mode is Mode.definition:
        return _symbols(find_definitions(catalogue, snapshot, question, asked.where), snapshot)
    return _ranked(asked, sources, settings, warm)


def _symbols(answer: SymbolAnswer, snapshot: ChunkSnapshot) -> _Found:
    chunks = {
        (chunk.repo, chunk.id): chunk
        for chunk in chunks_of(snapshot, answer.found)
        if chunk is not None
    }
    hits = [Hit(chunk, 1.0) for chunk in chunks.values()]
    notes = ("Found with other capital letters than asked for.",) if answer.other_case else ()
    total = Total(answer.total_matches, exact=True)
    return _Found(hits, _as_they_are, total, answer.did_you_mean, notes)


def _ranked(asked: Search, sources: Sources, settings: Settings, warm: Warm) -> _Found:
    options = RankOptions()
    by_meaning = asked.mode in (Mode.semantic, Mode.similar)
    notes: tuple[str, ...] = ()
    try:
        vectors = _vectors(asked.question, sources.catalogue, settings, warm)
    except (ProviderError, IndexMismatch) as error:
        if by_meaning:
            raise
        vectors, notes = [], (f"Answered by words alone: {error}",)
    if by_meaning:
        pools = recall_by_meaning(vectors, sources, asked.limit, options.recall)
    else:
        pools = recall(asked.question, vectors, sources, asked.limit, options.recall)

    hits = rank(asked.question, pools, sources.chunks.chunks, options)
    return _Found(hits, _as_they_are, Total(len(hits), exact=False), notes=notes)


def _vectors(
    question: Question, catalogue: Catalogue, settings: Settings, warm: Warm
) -> list[Vector]:
    """A vector for each sentence, by the model that made the index's."""
    manifest, model = catalogue.manifest(), model_identity(settings)
    if manifest.model != model:
        raise IndexMismatch(
            f"The index holds vectors of {manifest.model}, and the settings ask for {model}; run "
            "`asterism index` to embed it anew, or set the model back."
        )
    embedder = warm.embedder(embed_options(settings))
    return list(embedder.embed_queries(question.sentences or (question.text,)))


def _as_they_are(rows: Sequence[object]) -> list[Hit]:
    return [row for row in rows if isinstance(row, Hit)]
