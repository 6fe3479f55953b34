"""The ways to find: by symbol, by exact text, by definition, or ranked by everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asterism.config.load import embed_options, upgrade_options
from asterism.config.options import rerank_options, reranking_options
from asterism.config.settings import Settings
from asterism.disclosure.places import MaskedTokens
from asterism.engine.rerank import rank_options
from asterism.engine.warm import Warm
from asterism.engine.wiring import Places, cache
from asterism.models.embed.options import EmbedOptions, identity_of
from asterism.search.exact.order import Matches, most_useful
from asterism.search.exact.search import chunks_found, find_exact
from asterism.search.lookup import SymbolAnswer, chunks_of, find_definitions, led_by_uses, look_up
from asterism.search.ranking.options import RankOptions, Weights
from asterism.search.ranking.recipe import rank
from asterism.search.ranking.rerank import Judge, masked_places, reranked, with_distances
from asterism.search.recall import Pools, Sources, recall, recall_by_meaning
from asterism.search.similar import nearest_to
from asterism.store.chunk_table import ChunkSnapshot, Vector
from asterism.telemetry.notices import counting_masked
from asterism.types.errors import IndexMismatch, ProviderError, SettingError, UsageError
from asterism.types.index import ModelIdentity
from asterism.types.search import Hit, Mode, Question, Search, Signal, Total

if TYPE_CHECKING:
    # Whoever asks without a model of our own should not pay for its libraries.
    from asterism.engine.rerank import OwnJudge


class Found(NamedTuple):
    """Rows in order, and how to read those that are wanted."""

    rows: Sequence[object]
    read: Callable[[Sequence[object]], list[Hit]]
    total: Total
    did_you_mean: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    best: Callable[[], list[Hit]] | None = None
    """Those that a reader wants first, where the rows are in another order."""
    vectors_of: ModelIdentity | None = None
    """Whose vectors were compared, where any were."""
    cutoff: float | None = None
    """The distance beyond which chunks have little to do with the question, by that model."""


class Means(NamedTuple):
    """What answers come from beside the index."""

    settings: Settings
    places: Places
    warm: Warm
    directory: Path
    """Of the project."""


def find(asked: Search, sources: Sources, means: Means) -> Found:
    """Find in the way that the question or its mode asks for."""
    deprecated = _deprecated(asked)
    found = _found(asked, sources, means)
    return found._replace(notes=(*found.notes, *deprecated))


def _deprecated(asked: Search) -> tuple[str, ...]:
    """What is to be said of a weight from the time before there were modes."""
    if asked.bm25_weight is None:
        return ()
    if not 0 <= asked.bm25_weight <= 1:
        raise UsageError(f"bm25_weight is {asked.bm25_weight}; give a number from 0 to 1.")
    if asked.mode is not Mode.hybrid:
        return (f"bm25_weight is deprecated, and not used in {asked.mode.value} search.",)
    return ("bm25_weight is deprecated; the mode chooses between words and meaning.",)


def _found(asked: Search, sources: Sources, means: Means) -> Found:
    question, snapshot, catalogue = asked.question, sources.chunks, sources.catalogue
    if question.symbol is not None:
        return _symbols(look_up(catalogue, snapshot, question.symbol, asked.where), snapshot)
    # What stands in quotes and has no words, `"=>"`, can only be meant literally.
    literal = bool(question.phrases) and not question.terms
    if question.pattern is not None or literal or asked.mode is Mode.exact:
        answer = find_exact(snapshot, question, asked.where)

        def read(rows: Sequence[object]) -> list[Hit]:
            wanted = set(rows)
            chosen = [row for row in answer.found if row in wanted]
            return [
                Hit(chunk, 1.0, lines=row.lines) for chunk, row in chunks_found(snapshot, chosen)
            ]

        def best() -> list[Hit]:
            return most_useful(Matches(question, answer, catalogue, snapshot), RankOptions())

        return Found(answer.found, read, Total(answer.total_matches, exact=True), best=best)
    if asked.mode is Mode.definition:
        return _symbols(find_definitions(catalogue, snapshot, question, asked.where), snapshot)
    return _ranked(asked, sources, means)


def _symbols(answer: SymbolAnswer, snapshot: ChunkSnapshot) -> Found:
    chunks = {
        (chunk.repo, chunk.id): chunk
        for chunk in chunks_of(snapshot, answer.found)
        if chunk is not None
    }
    hits = [Hit(chunk, 1.0, why=(Signal("definition", 1.0),)) for chunk in chunks.values()]
    notes = ["Found with other capital letters than asked for."] if answer.other_case else []
    if answer.filtered_out:
        notes.append(f"{answer.filtered_out:,} more of that name do not pass the filters.")
    total = Total(answer.total_matches, exact=True)
    return Found(hits, as_they_are, total, answer.did_you_mean, tuple(notes))


def _ranked(asked: Search, sources: Sources, means: Means) -> Found:
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
        near = nearest_to(vectors, sources, asked.limit, options)
        total = Total(len(near), exact=False)
        return compared.of(Found(near, as_they_are, total, notes=notes))
    if asked.bm25_weight is not None and vectors and not by_meaning:
        options = with_bm25_weight(options, asked.bm25_weight)
    if by_meaning:
        pools = recall_by_meaning(vectors, sources, asked.limit, options.recall)
    else:
        pools = recall(asked.question, vectors, sources, asked.limit, options.recall)

    ranked = _Ranked(asked.question, pools, options, vectors, compared.model)
    hits, more = _judged(ranked, asked, sources, means)
    total, notes = Total(len(hits), exact=False), (*notes, *more)
    return compared.of(Found(hits, as_they_are, total, notes=notes))


class _Ranked(NamedTuple):
    """What there is to be ranked."""

    question: Question
    pools: Pools
    options: RankOptions
    vectors: Sequence[Vector]
    """Of the question."""
    model: ModelIdentity | None
    """Whose vectors these are."""

    def hits(self, chunks: ChunkSnapshot, judge: Judge | None = None) -> list[Hit]:
        """The candidates in order."""
        return rank(self.question, self.pools, chunks.chunks, self.options, judge)


def _judged(
    ranked: _Ranked, asked: Search, sources: Sources, means: Means
) -> tuple[list[Hit], Sequence[str]]:
    """The hits in the order of the model that the settings name, and what is to be said of it."""
    chunks, chosen = sources.chunks, means.settings.rerank.provider
    if asked.question.used is not None and asked.mode is Mode.hybrid:
        return led_by_uses(ranked.hits(chunks), asked.question, sources), ()
    if not asked.rerank or chosen == "none" or (chosen == "auto" and not _pays(ranked.model)):
        return ranked.hits(chunks), ()
    try:
        if chosen == "voyage":
            return _by_vendor(ranked, chunks, means)
        judge = _own_judge(means)
    except ProviderError as error:
        # Whoever did not ask for a judge is told once that there is none.
        said = f"Answered without the reranker: {error}"
        return ranked.hits(chunks), means.warm.once(said) if chosen == "auto" else (said,)
    hits = ranked.hits(chunks, judge)
    if chosen == "auto" and judge.failed:
        return hits, [sentence for note in judge.notes for sentence in means.warm.once(note)]
    return hits, judge.notes


def _pays(model: ModelIdentity | None) -> bool:
    """Whether the encoder was measured to be worth its time beside vectors of this model."""
    return model == identity_of(EmbedOptions())


def _own_judge(means: Means) -> OwnJudge:
    """The model of our own that the settings name."""
    settings, chosen = means.settings, means.settings.rerank
    model = means.warm.judge(rerank_options(settings), lambda: cache(settings, means.places))
    return model.judge(chosen.top, chosen.seconds)


def _by_vendor(
    ranked: _Ranked, chunks: ChunkSnapshot, means: Means
) -> tuple[list[Hit], Sequence[str]]:
    """The hits in the order of a vendor's reranker, and what was masked in their texts."""
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


def with_bm25_weight(options: RankOptions, weight: float) -> RankOptions:
    """The options with the evidence of words and of vectors weighed so against each other."""
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

    return replace(
        options,
        weights=weighed(options.weights),
        wished=weighed(options.wished),
        chunk=replace(chunk, text=words * chunk.text, vector=meaning * chunk.vector),
    )


class _Compared(NamedTuple):
    """Chunks and a question with vectors of one model, and what those count."""

    sources: Sources
    vectors: Sequence[Vector]
    """Of the question, one for each sentence."""
    options: RankOptions
    model: ModelIdentity | None
    notes: tuple[str, ...] = ()

    def of(self, found: Found) -> Found:
        """What was found, with whose vectors were compared."""
        if self.model is None:
            return found
        return found._replace(vectors_of=self.model, cutoff=self.options.distance_cutoff)


def _compared(question: Question, sources: Sources, means: Means) -> _Compared:
    """By second vectors where they are complete, else by those that every chunk has."""
    settings, warm = means.settings, means.warm
    texts = question.sentences or (question.text,)
    version = sources.catalogue.chunks_version()
    second, notes = with_second(sources, means)
    if second is not None:
        try:
            vectors = warm.vectors(second.options, texts, version)
            return _Compared(second.sources, vectors, second.ranking, second.model)
        except ProviderError as error:
            notes = warm.once(without_second(error))
    options = embed_options(settings)
    manifest, model = sources.catalogue.manifest(), identity_of(options)
    if manifest.model != model:
        raise IndexMismatch(
            f"The index holds vectors of {manifest.model}, and the settings ask for {model}; run "
            "`asterism index` to embed it anew, or set the model back."
        )
    vectors = warm.vectors(options, texts, version)
    return _Compared(sources, vectors, rank_options(options), model, notes)


class Second(NamedTuple):
    """Chunks that are compared by second vectors."""

    sources: Sources
    options: EmbedOptions
    model: ModelIdentity
    ranking: RankOptions


def with_second(sources: Sources, means: Means) -> tuple[Second | None, tuple[str, ...]]:
    """The second vectors, where they are complete for what is asked; and what is wrong with them.

    They are never mixed with others in one ranking: one missing, and none is used.
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
        return Second(found, options, asked.made_for.model, rank_options(options)), ()
    except (ProviderError, SettingError) as error:
        return None, warm.once(without_second(error))


def without_second(error: Exception) -> str:
    """What is said where second vectors could not be used."""
    return f"Answered by the built-in model alone, without embedding.upgrade: {error}"


def as_they_are(rows: Sequence[object]) -> list[Hit]:
    """Rows that are hits already."""
    return [row for row in rows if isinstance(row, Hit)]
