"""Dispatches a query to one search mode: symbol, exact, definition, similar or ranked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asterism.config.load import embed_options, rerank_options, upgrade_options
from asterism.config.settings import Settings
from asterism.disclosure.places import MaskedTokens
from asterism.engine.rerank import LocalScorer, rank_options
from asterism.engine.stores import DataDirectories, cache
from asterism.engine.warm import Warm
from asterism.models.embed.options import EmbedOptions, identity_of
from asterism.search.ranking.options import RankOptions, Weights
from asterism.search.ranking.recipe import rank
from asterism.search.ranking.rerank import ChunkScorer, masked_places, reranked, with_distances
from asterism.search.ranking.symbol_order import SymbolRecall, rank_symbols, ranks_symbols
from asterism.search.ranking.symbol_weights import SymbolFeatures
from asterism.search.recall import Pools, Sources, recall, recall_by_meaning
from asterism.search.symbol_recall import SymbolPools, recall_symbols
from asterism.store.chunk_table import ChunkSnapshot, Vector
from asterism.telemetry.notices import counting_masked
from asterism.types.errors import IndexMismatch, ProviderError, SettingError, UsageError
from asterism.types.index import ModelIdentity
from asterism.types.search import Hit, Mode, Question, Search, Signal, Total

if TYPE_CHECKING:
    from asterism.search.lookup import SymbolAnswer


class SearchResult(NamedTuple):
    """Rows in order, and a function that reads the hits of some of them."""

    rows: Sequence[object]
    read: Callable[[Sequence[object]], list[Hit]]
    total: Total
    did_you_mean: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    best: Callable[[], list[Hit]] | None = None
    """Reads the most useful hits first; None where the rows are in that order."""
    vectors_of: ModelIdentity | None = None
    """The model whose vectors were compared, if any."""
    cutoff: float | None = None
    """The vector distance beyond which chunks are hardly related to the query."""


class SearchResources(NamedTuple):
    """What a search needs beside the index."""

    settings: Settings
    places: DataDirectories
    warm: Warm
    directory: Path
    """Of the project."""


def find(asked: Search, sources: Sources, means: SearchResources) -> SearchResult:
    """Find in the mode that the query implies or the request names."""
    deprecated = _deprecated(asked)
    found = _found(asked, sources, means)
    return found._replace(notes=(*found.notes, *deprecated))


def _deprecated(asked: Search) -> tuple[str, ...]:
    """Notes on the deprecated weight of words; an error where it is out of range."""
    if asked.bm25_weight is None:
        return ()
    if not 0 <= asked.bm25_weight <= 1:
        raise UsageError(f"bm25_weight is {asked.bm25_weight}; give a number from 0 to 1.")
    if asked.mode is not Mode.hybrid:
        return (f"bm25_weight is deprecated, and not used in {asked.mode.value} search.",)
    return ("bm25_weight is deprecated; the mode chooses between words and meaning.",)


def _found(asked: Search, sources: Sources, means: SearchResources) -> SearchResult:
    question, snapshot, catalogue = asked.question, sources.chunks, sources.catalogue
    if question.symbol is not None:
        from asterism.search.lookup import look_up

        return _symbols(look_up(catalogue, snapshot, question.symbol, asked.where), snapshot)
    # A quoted phrase without words, `"=>"`, can only be meant literally.
    literal = bool(question.phrases) and not question.terms
    if question.pattern is not None or literal or asked.mode is Mode.exact:
        from asterism.search.exact.order import Matches, most_useful
        from asterism.search.exact.search import chunks_found, find_exact

        answer = find_exact(snapshot, question, asked.where)

        def read(rows: Sequence[object]) -> list[Hit]:
            wanted = set(rows)
            chosen = [row for row in answer.found if row in wanted]
            return [
                Hit(chunk, 1.0, lines=row.lines) for chunk, row in chunks_found(snapshot, chosen)
            ]

        def best() -> list[Hit]:
            return most_useful(Matches(question, answer, catalogue, snapshot), RankOptions())

        return SearchResult(answer.found, read, Total(answer.total_matches, exact=True), best=best)
    if asked.mode is Mode.definition:
        from asterism.search.lookup import find_definitions

        return _symbols(find_definitions(catalogue, snapshot, question, asked.where), snapshot)
    return _ranked(asked, sources, means)


def _symbols(answer: SymbolAnswer, snapshot: ChunkSnapshot) -> SearchResult:
    from asterism.search.lookup import chunks_of

    chunks = {
        (chunk.repo, chunk.id): chunk
        for chunk in chunks_of(snapshot, answer.found)
        if chunk is not None
    }
    hits = [Hit(chunk, 1.0, why=(Signal("definition", 1.0),)) for chunk in chunks.values()]
    notes = ["SearchResult with other capital letters than asked for."] if answer.other_case else []
    if answer.filtered_out:
        notes.append(f"{answer.filtered_out:,} more of that name do not pass the filters.")
    total = Total(answer.total_matches, exact=True)
    return SearchResult(hits, only_hits, total, answer.did_you_mean, tuple(notes))


def _ranked(asked: Search, sources: Sources, means: SearchResources) -> SearchResult:
    by_meaning = asked.mode in (Mode.semantic, Mode.similar)
    notes: tuple[str, ...] = ()
    try:
        compared = _compared(asked.question, sources, means)
    except (ProviderError, IndexMismatch) as error:
        if by_meaning:
            raise
        notes = (f"Answered by words alone: {error}",)
        compared = _Compared(sources, (), RankOptions(), None)
    sources, vectors, options = compared.sources, compared.vectors, compared.options
    notes = (*notes, *compared.notes)
    if asked.mode is Mode.similar:
        from asterism.search.similar import nearest_to

        near = nearest_to(vectors, sources, asked.limit, options)
        total = Total(len(near), exact=False)
        return compared.of(SearchResult(near, only_hits, total, notes=notes))
    if asked.bm25_weight is not None and vectors and not by_meaning:
        options = with_bm25_weight(options, asked.bm25_weight)
    if by_meaning:
        pools = recall_by_meaning(vectors, sources, asked.limit, options.recall)
    else:
        pools = recall(asked.question, vectors, sources, asked.limit, options.recall)

    symbols = None
    if asked.mode is Mode.hybrid and ranks_symbols(asked.question):
        details = compared.details or vectors
        symbols = recall_symbols(asked.question, details, sources, options.symbols)
    ranked = _Ranked(asked.question, pools, options, vectors, compared.model, symbols, asked.spread)
    hits, more = _with_model_scores(ranked, asked, sources, means)
    total, notes = Total(len(hits), exact=False), (*notes, *more)
    return compared.of(SearchResult(hits, only_hits, total, notes=notes))


class _Ranked(NamedTuple):
    """The candidates of a query, with all that ranking needs."""

    question: Question
    pools: Pools
    options: RankOptions
    vectors: Sequence[Vector]
    """Of the query."""
    model: ModelIdentity | None
    """The model that made the vectors."""
    symbols: SymbolPools | None = None
    """For a query in words, whose symbols are ranked one by one."""
    spread: bool = True

    def hits(self, chunks: ChunkSnapshot, scorer: ChunkScorer | None = None) -> list[Hit]:
        """The candidates in order."""
        if self.symbols is None:
            return rank(self.question, self.pools, chunks.chunks, self.options, scorer)
        found = SymbolRecall(self.pools, self.symbols, chunks.chunks)
        return rank_symbols(self.question, found, self.options, scorer, spread=self.spread)


def _with_model_scores(
    ranked: _Ranked, asked: Search, sources: Sources, means: SearchResources
) -> tuple[list[Hit], Sequence[str]]:
    """The hits, reranked by the model that the settings name, and notes."""
    chunks, chosen = sources.chunks, means.settings.rerank.provider
    if asked.question.used is not None and asked.mode is Mode.hybrid:
        from asterism.search.lookup import led_by_uses

        return led_by_uses(ranked.hits(chunks), asked.question, sources), ()
    if not asked.rerank or chosen == "none" or (chosen == "auto" and not _pays(ranked.model)):
        return ranked.hits(chunks), ()
    try:
        if chosen == "voyage":
            return _by_vendor(ranked, chunks, means)
        scorer = _local_scorer(means)
    except ProviderError as error:
        # With `auto` the reranker was not asked for, so its failure is reported once.
        said = f"Answered without the reranker: {error}"
        return ranked.hits(chunks), means.warm.once(said) if chosen == "auto" else (said,)
    fits = _fits(means.settings)
    hits = (ranked if fits else ranked._replace(symbols=None)).hits(chunks, scorer)
    if scorer.failed and not fits:
        hits = ranked.hits(chunks)
    if chosen == "auto" and scorer.failed:
        return hits, [sentence for note in scorer.notes for sentence in means.warm.once(note)]
    return hits, scorer.notes


def _fits(settings: Settings) -> bool:
    """Whether the reranker is one that the weights of symbols were fitted with, or a vendor's.

    Other local models bring weights of their own, for files and their chunks.
    """
    chosen = settings.rerank
    return chosen.provider != "local" and not (chosen.provider == "encoder" and chosen.model)


def _pays(model: ModelIdentity | None) -> bool:
    """Whether the encoder improves rankings with vectors of this model, as measured."""
    return model == identity_of(EmbedOptions())


def _local_scorer(means: SearchResources) -> LocalScorer:
    """The scorer of the local model that the settings name."""
    settings, chosen = means.settings, means.settings.rerank
    model = means.warm.rerank_model(rerank_options(settings), lambda: cache(settings, means.places))
    # The encoder's work is counted in hits, so that load changes no answer.
    seconds = chosen.seconds if chosen.provider == "local" else math.inf
    return model.scorer(chosen.top, seconds)


def _by_vendor(
    ranked: _Ranked, chunks: ChunkSnapshot, means: SearchResources
) -> tuple[list[Hit], Sequence[str]]:
    """The hits in the order of a vendor's reranker, and what was masked in their texts."""
    from asterism.config.options import reranking_options

    options = reranking_options(means.settings)
    hits = ranked.hits(chunks)
    reranker = means.warm.reranker(rerank_options(means.settings))
    if reranker is None:
        return hits, ()
    best, others = hits[: options.top], hits[options.top :]
    with_all = [*with_distances(best, ranked.vectors, chunks), *others]
    masked = MaskedTokens()
    with counting_masked() as counts:
        found = reranked(ranked.question, with_all, reranker, options)
    if counts:
        masked.add(counts, masked_places([hit.chunk for hit in best], options))
    return found, masked.note("the reranker", means.settings.masking.report)


WORD_FEATURES = (
    "text", "body", "name", "title", "title_body", "head_title", "head_prose", "said", "said_head",
    "file_text", "file_title", "beside_text",
)  # fmt: skip
"""Features of a symbol that compare words."""
VECTOR_FEATURES = ("vector_title", "vector_body", "vector_mean", "vector_code", "beside_vector")
"""Features of a symbol that compare vectors."""


def with_bm25_weight(options: RankOptions, weight: float) -> RankOptions:
    """The options with `weight` for words and `1 - weight` for vectors; 0.5 changes nothing."""
    words, meaning, chunk = 2 * weight, 2 * (1 - weight), options.chunk

    def weighed(now: Weights) -> Weights:
        return replace(
            now,
            text=words * now.text,
            text_sum=words * now.text_sum,
            said=words * now.said,
            said_at_once=words * now.said_at_once,
            said_at_length=words * now.said_at_length,
            signature=words * now.signature,
            vector=meaning * now.vector,
            vector_second=meaning * now.vector_second,
            vector_sum=meaning * now.vector_sum,
            nearby=meaning * now.nearby,
        )

    def of_symbols(now: SymbolFeatures) -> SymbolFeatures:
        values = asdict(now)
        values |= {name: words * values[name] for name in WORD_FEATURES}
        return SymbolFeatures(**values | {name: meaning * values[name] for name in VECTOR_FEATURES})

    symbols = options.symbols
    return replace(
        options,
        symbols=replace(symbols, short=of_symbols(symbols.short), long=of_symbols(symbols.long)),
        weights=weighed(options.weights),
        change_weights=weighed(options.change_weights),
        chunk=replace(chunk, text=words * chunk.text, vector=meaning * chunk.vector),
    )


class _Compared(NamedTuple):
    """Chunks and a query with vectors of one model, and its ranking options."""

    sources: Sources
    vectors: Sequence[Vector]
    """Of the query, one for each sentence."""
    options: RankOptions
    model: ModelIdentity | None
    notes: tuple[str, ...] = ()
    details: Sequence[Vector] = ()
    """Of the parts of a long query."""

    def of(self, found: SearchResult) -> SearchResult:
        """The result, with the model whose vectors were compared."""
        if self.model is None:
            return found
        return found._replace(vectors_of=self.model, cutoff=self.options.distance_cutoff)


def _compared(question: Question, sources: Sources, means: SearchResources) -> _Compared:
    """Compares by encoder vectors where they are complete, else by the index vectors."""
    settings, warm = means.settings, means.warm
    texts = question.sentences or (question.text,)
    version = sources.catalogue.chunks_version()
    second, notes = encoder_sources(sources, means)
    if second is not None:
        try:
            vectors = warm.vectors(second.options, texts, version)
            details = (
                warm.vectors(second.options, question.details, version) if question.details else ()
            )
            return _Compared(second.sources, vectors, second.ranking, second.model, details=details)
        except ProviderError as error:
            notes = warm.once(no_encoder_vectors(error))
    options = embed_options(settings)
    manifest, model = sources.catalogue.manifest(), identity_of(options)
    if manifest.model != model:
        raise IndexMismatch(
            f"The index holds vectors of {manifest.model}, and the settings ask for {model}; run "
            "`asterism index` to embed it anew, or set the model back."
        )
    vectors = warm.vectors(options, texts, version)
    details = warm.vectors(options, question.details, version) if question.details else ()
    return _Compared(sources, vectors, rank_options(options), model, notes, details)


class EncoderSources(NamedTuple):
    """Chunks that are compared by encoder vectors."""

    sources: Sources
    options: EmbedOptions
    model: ModelIdentity
    ranking: RankOptions


def encoder_sources(
    sources: Sources, means: SearchResources
) -> tuple[EncoderSources | None, tuple[str, ...]]:
    """The chunks with encoder vectors, None unless all have one; and notes on failures.

    One ranking never mixes the vectors of two models.
    """
    options = upgrade_options(means.settings)
    if options is None:
        return None, ()
    from asterism.engine.encoder_vectors import asking

    warm = means.warm
    try:
        asked = asking(
            sources.chunks,
            sources.where.repos or {one.name for one in sources.catalogue.repositories()},
            options,
            lambda: cache(means.settings, means.places),
        )
        chunks = warm.second().over(means.directory, asked)
        if chunks is None:
            return None, ()
        found = sources._replace(chunks=chunks)
        return EncoderSources(found, options, asked.made_for.model, rank_options(options)), ()
    except (ProviderError, SettingError) as error:
        return None, warm.once(no_encoder_vectors(error))


def no_encoder_vectors(error: Exception) -> str:
    """The note that encoder vectors could not be used."""
    return f"Answered by the built-in model alone, without embedding.upgrade: {error}"


def only_hits(rows: Sequence[object]) -> list[Hit]:
    """Reads rows that are hits already."""
    return [row for row in rows if isinstance(row, Hit)]
