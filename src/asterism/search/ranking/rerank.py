"""Reranks the best candidates with the scores of a model that reads them."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from asterism.disclosure.places import MaskedPlace, places_of_part
from asterism.disclosure.tokens import find_tokens
from asterism.models.rerank.options import Reranker
from asterism.search.ranking.options import ScorerOptions
from asterism.search.ranking.order import Standing
from asterism.search.recall import FileKey
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot, Vector
from asterism.types.index import Chunk
from asterism.types.search import Hit, Question, Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankingOptions:
    """How many hits are reranked, on how much text, and how much the reranker counts."""

    top: int = 40
    """Hits that are reranked; each costs tokens, and the right one is rarely further down."""
    weight: float = 0.65
    """Of the reranker; the rest is the vector's, which keeps the reranker from being too narrow."""
    document_characters: int = 4_000
    """Of a hit's text; 99 of 100 chunks of four repositories in four languages are shorter."""


def reranked(
    question: Question, hits: Sequence[Hit], reranker: Reranker, options: RerankingOptions
) -> list[Hit]:
    """The hits with the best of them scored and ordered anew; the others follow as they were.

    The score of a reranked hit blends the reranker's and the vector's. The others keep theirs, but
    none has more than the last reranked hit, so that scores fall along the list.
    """
    best, others = hits[: options.top], hits[options.top :]
    if not best:
        return [*hits]
    scores = reranker.rerank(question.text, [document(hit.chunk, options) for hit in best])
    similarities = _similarities(best)
    order = sorted(range(len(best)), key=lambda place: -scores[place])
    ranks = {place: rank for rank, place in enumerate(order, 1)}
    rescored = [
        hit._replace(
            score=_blend(score, similarity, options.weight),
            why=(*hit.why, Signal("rerank", score, ranks[place])),
        )
        for place, (hit, score, similarity) in enumerate(
            zip(best, scores, similarities, strict=True)
        )
    ]
    # The sort is stable: equal scores stay in the order that the ranking gave them.
    rescored.sort(key=lambda hit: -hit.score)
    least = rescored[-1].score
    return [*rescored, *(hit._replace(score=min(hit.score, least)) for hit in others)]


def document(chunk: Chunk, options: RerankingOptions) -> str:
    """What the reranker reads of a chunk: the beginning of the text that its vector was made from.

    It begins with path, qualified name, purpose and signature, which say most and so survive a
    cut, and has the code with each child that is a chunk of its own collapsed. Both parts of the
    blend then score the same text.
    """
    return chunk.embedding_text[: options.document_characters]


def masked_places(chunks: Sequence[Chunk], options: RerankingOptions) -> Iterator[MaskedPlace]:
    """Where tokens are in the files of which the reranker reads a masked text."""
    for chunk in chunks:
        if find_tokens(document(chunk, options)):
            yield from places_of_part(chunk.relative_path, chunk.start_line, chunk.full_source)


def with_distances(
    hits: Sequence[Hit], vectors: Sequence[Vector], snapshot: ChunkSnapshot
) -> list[Hit]:
    """The hits, each with the distance of its vector to the nearest of the question's.

    Hits that only words or names found have not been compared yet; their vectors are read now.
    """
    missing = [_reranking_key(hit) for hit in hits if hit.distance is None]
    if not missing or not vectors:
        return [*hits]
    distances = _distances(vectors, snapshot.vectors(missing))
    return [
        hit._replace(distance=distances.get(_reranking_key(hit))) if hit.distance is None else hit
        for hit in hits
    ]


def _distances(
    vectors: Sequence[Vector], stored: Mapping[ChunkKey, Vector]
) -> dict[ChunkKey, float]:
    return {
        key: 2.0 - 2.0 * max(float(vector @ own) for vector in vectors)
        for key, own in stored.items()
    }


def _reranking_key(hit: Hit) -> ChunkKey:
    return ChunkKey(hit.chunk.repo, hit.chunk.id)


def _similarities(hits: Sequence[Hit]) -> list[float | None]:
    """Cosines, from 0; a hit without one is at most as near as the farthest that has one."""
    known = [_similarity(hit.distance) for hit in hits if hit.distance is not None]
    least = min(known, default=None)
    return [least if hit.distance is None else _similarity(hit.distance) for hit in hits]


def _similarity(distance: float) -> float:
    return min(max(1.0 - distance / 2.0, 0.0), 1.0)


def _blend(score: float, similarity: float | None, weight: float) -> float:
    """The reranker alone, where no vector was compared at all."""
    return score if similarity is None else weight * score + (1.0 - weight) * similarity


class ChunkScorer(Protocol):
    """Scores how well chunks answer a query; higher is better, on any scale."""

    @property
    def options(self) -> ScorerOptions:
        """How much its scores count."""
        ...

    def scores(self, question: Question, chunks: Sequence[Chunk]) -> Mapping[ChunkKey, float]:
        """A score for each chunk; chunks that did not fit into the time limit are missing."""
        ...


class RerankEvidence(NamedTuple):
    """What a reranker adds to the log-odds of files, and of chunks within their files."""

    files: Mapping[FileKey, float] = {}
    chunks: Mapping[ChunkKey, float] = {}
    signals: Mapping[ChunkKey, Signal] = {}

    def place(self, place: Standing) -> Standing:
        """A candidate with what the reranker adds to its chunk."""
        more = self.chunks.get(_key(place.chunk), 0.0)
        return place._replace(odds=place.odds + more) if more else place


def rerank_evidence(
    question: Question, ordered: Sequence[Standing], scorer: ChunkScorer
) -> RerankEvidence:
    """Score the best candidates with the reranker.

    Its scores are scaled to 0 to 1 between the lowest and the highest, and their mean is taken off:
    a candidate without a score keeps the odds of the ranking, as if it had the mean score. The
    reranker is not called where the first file is far enough ahead already.
    """
    options = scorer.options
    best = ordered[: options.top]
    if is_sure(best, options.sure):
        return RerankEvidence()
    scores = scorer.scores(question, [place.chunk for place in best])
    if len(scores) < 2 or min(scores.values()) == max(scores.values()):
        return RerankEvidence()
    low, high = min(scores.values()), max(scores.values())
    values = {key: (score - low) / (high - low) for key, score in scores.items()}
    mean = sum(values.values()) / len(values)
    by_file: defaultdict[FileKey, list[float]] = defaultdict(list)
    for place in best:
        if _key(place.chunk) in values:
            by_file[place.file].append(values[_key(place.chunk)])
    most = max(map(sum, by_file.values())) or 1.0
    usual = options.best * mean + options.whole * mean / most
    ranks = sorted(scores, key=lambda key: -scores[key])
    return RerankEvidence(
        {file: _worth(sorted(own), most, options) - usual for file, own in by_file.items()},
        {key: options.chunk * (value - mean) for key, value in values.items()},
        {key: Signal(options.name, scores[key], rank) for rank, key in enumerate(ranks, 1)},
    )


def is_sure(ordered: Sequence[Standing], ahead: float) -> bool:
    """Whether the first file is so far ahead of the next, or the only one."""
    others = (place.odds for place in ordered if place.file != ordered[0].file)
    return bool(ordered) and ordered[0].odds - next(others, -math.inf) > ahead


def _worth(values: list[float], most: float, options: ScorerOptions) -> float:
    """What the reranked chunks of a file, worst first, add to the file."""
    second = values[-2] if len(values) > 1 else 0.0
    return options.best * values[-1] + options.second * second + options.whole * sum(values) / most


def _key(chunk: Chunk) -> ChunkKey:
    return ChunkKey(chunk.repo, chunk.id)
