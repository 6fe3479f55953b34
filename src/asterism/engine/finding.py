"""The ways to find: by symbol, by exact text, by definition, or ranked by everything."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.chunk_table import ChunkSnapshot, Vector
from asterism.config.loading import embed_options
from asterism.config.settings import Settings
from asterism.domain.errors import IndexMismatch, ProviderError
from asterism.domain.search import Hit, Mode, Question, Search, Total
from asterism.engine.warm import Warm
from asterism.engine.wiring import model_identity
from asterism.retrieval.definitions import find_definitions
from asterism.retrieval.exact import chunks_found, find_exact
from asterism.retrieval.options import RankOptions
from asterism.retrieval.ranking import rank
from asterism.retrieval.recall import Sources, recall, recall_by_meaning
from asterism.retrieval.symbols_lookup import SymbolAnswer, chunks_of, look_up


class Found(NamedTuple):
    """Rows in order, and how to read those that are wanted."""

    rows: Sequence[object]
    read: Callable[[Sequence[object]], list[Hit]]
    total: Total
    did_you_mean: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def find(asked: Search, sources: Sources, settings: Settings, warm: Warm) -> Found:
    """Find in the way that the question or its mode asks for."""
    question, snapshot, catalogue = asked.question, sources.chunks, sources.catalogue
    if question.symbol is not None:
        return _symbols(look_up(catalogue, snapshot, question.symbol, asked.where), snapshot)
    if question.pattern is not None or asked.mode is Mode.exact:
        answer = find_exact(snapshot, question, asked.where)

        def read(rows: Sequence[object]) -> list[Hit]:
            chosen = [row for row in answer.found if row in set(rows)]
            return [Hit(chunk, 1.0) for chunk, _ in chunks_found(snapshot, chosen)]

        return Found(answer.found, read, Total(answer.total_matches, exact=True))
    if asked.mode is Mode.definition:
        return _symbols(find_definitions(catalogue, snapshot, question, asked.where), snapshot)
    return _ranked(asked, sources, settings, warm)


def _symbols(answer: SymbolAnswer, snapshot: ChunkSnapshot) -> Found:
    chunks = {
        (chunk.repo, chunk.id): chunk
        for chunk in chunks_of(snapshot, answer.found)
        if chunk is not None
    }
    hits = [Hit(chunk, 1.0) for chunk in chunks.values()]
    notes = ("Found with other capital letters than asked for.",) if answer.other_case else ()
    total = Total(answer.total_matches, exact=True)
    return Found(hits, _as_they_are, total, answer.did_you_mean, notes)


def _ranked(asked: Search, sources: Sources, settings: Settings, warm: Warm) -> Found:
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
    return Found(hits, _as_they_are, Total(len(hits), exact=False), notes=notes)


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
