"""Vectors alone: the chunks of a repository in the order of their likeness to a question."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism.analysis.chunks.units import RECIPE_VERSION
from asterism.evaluation.datasets import Dataset, DatasetRepository, FoundPlace, Query
from asterism.evaluation.runs import file_ranks, first_ranks, ndcg, without_given
from asterism.indexing.index import text_hash
from asterism.models.embed.cache import EmbeddingCache
from asterism.models.embed.provider import Embedder
from asterism.models.rerank.provider import LocalReranker
from training.evaluation.figures import Scored
from training.evaluation.scoring import AT_MOST, Collection

# Chunks that are looked at; ten files are always among so many.
LOOKED_AT = 500
# Candidates that a reranker puts in order.
RERANKED = 40
TEXTS_AT_ONCE = 1_024

Vectors = NDArray[np.float32]
Order = Callable[[Query, Collection], Sequence[int]]
"""From a question and chunks to the numbers of the best ones, best first."""


class Measured(NamedTuple):
    """The answers to every query of a dataset, scored in two ways."""

    files: list[Scored]
    """The best chunk of each file."""
    chunks: list[Scored]
    """Every chunk."""


def measured(dataset: Dataset, collections: Mapping[str, Collection], order: Order) -> Measured:
    """Put the chunks in order for each question that can be answered."""
    files: list[Scored] = []
    chunks: list[Scored] = []
    for query in dataset.queries:
        here = collections.get(query.repo)
        if here is None or not query.targets:
            continue
        checkout = dataset.checkouts[query.repo]
        found = [FoundPlace(*here.places[number]) for number in order(query, here)]
        found = without_given(found, query, checkout.root)
        chunks.append(_scored(dataset, query, checkout, found))
        files.append(_scored(dataset, query, checkout, list(_first_of_files(found))))
    return Measured(files, chunks)


def by_vectors(vectors: Mapping[str, Vectors], questions: Mapping[str, Vectors]) -> Order:
    """By likeness; vectors of the chunks of each repository, and of each question by its id."""

    def order(query: Query, _collection: Collection) -> list[int]:
        alike = vectors[query.repo] @ questions[query.id]
        best: list[int] = np.argsort(-alike, kind="stable")[:LOOKED_AT].tolist()
        return best

    return order


def judged(first: Order, reranker: LocalReranker) -> Order:
    """The first candidates of another order in that of a reranker, then the others."""

    def order(query: Query, collection: Collection) -> list[int]:
        best = list(first(query, collection))
        some = best[:RERANKED]
        scores = reranker.score_within(query.query, [collection.texts[n] for n in some], None)
        values = [-np.inf if score is None else score for score in scores]
        put = [some[place] for place in np.argsort(-np.array(values), kind="stable")]
        return [*put, *best[RERANKED:]]

    return order


def embedded(embedder: Embedder, texts: Sequence[str], cache: EmbeddingCache) -> Vectors:
    """Vectors of texts, kept where the product's index finds them again."""
    identity = embedder.identity
    vectors = np.zeros((len(texts), identity.dimensions), dtype=np.float32)
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        part = texts[start : start + TEXTS_AT_ONCE]
        hashes = [text_hash(text) for text in part]
        known = cache.get(identity, RECIPE_VERSION, hashes)
        new = {
            digest: text for digest, text in zip(hashes, part, strict=True) if digest not in known
        }
        if new:
            made = dict(zip(new, embedder.embed_documents(list(new.values())), strict=True))
            cache.put(identity, RECIPE_VERSION, made)
            known |= made
        for place, digest in enumerate(hashes, start):
            vectors[place] = known[digest]
    return vectors


def _first_of_files(found: Sequence[FoundPlace]) -> Iterator[FoundPlace]:
    seen: set[str] = set()
    for place in found:
        if place.path not in seen:
            seen.add(place.path)
            yield place


def _scored(
    dataset: Dataset, query: Query, checkout: DatasetRepository, found: list[FoundPlace]
) -> Scored:
    first = found[:AT_MOST]
    ranks = first_ranks(first, query.targets, checkout.root, dataset.match)
    of_files = file_ranks(first, query.targets, checkout.root, dataset.match)
    return Scored(
        query.id,
        query.repo,
        checkout.language or query.language,
        query.category,
        ndcg(ranks, AT_MOST),
        ndcg(of_files, AT_MOST),
    )
