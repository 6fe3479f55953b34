"""Questions with their candidates, to be ranked again and again by `benchmarks.ranking.refit`."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from asterism.engine.engine import Engine
from asterism.evaluation.datasets import Dataset, DatasetRepository, FoundPlace, Query
from asterism.evaluation.runs import first_ranks, ndcg, without_given
from asterism.models.embed.options import EmbedOptions
from asterism.models.embed.provider import Embedder, make_embedder, unit
from asterism.search.query.parse import understand
from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.recipe import place, study
from asterism.search.recall import FileKey, Pools, Sources, recall
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot, Matrix
from asterism.store.exact_search import EncoderSnapshot
from asterism.types.errors import UsageError
from asterism.types.index import Chunk
from asterism.types.search import Question
from benchmarks.ranking.datasets import indexed
from benchmarks.ranking.regression import List

LIMIT = 10
USUAL = RankOptions()
CHANGES = "change_weights"
# Of a question; the right one is among them for 998 of 1,000 questions.
FILES = 30
# As many lines as any file has.
ALL_LINES = 10**9


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its candidates, to be ranked again and again."""

    query: Query
    question: Question
    usual: Pools
    """Found by the vectors of the built-in model."""
    pools: Pools
    """Found by those of the model."""
    chunks: Mapping[ChunkKey, Chunk]
    checkout: DatasetRepository
    dataset: Dataset
    answerable: bool
    count: float = 1.0
    """What it counts among those that are fitted."""

    def has(self, field: str) -> bool:
        """Whether it is weighed by this field of the options."""
        return self.question.is_change_request == (field == CHANGES)

    def by_vectors(self, pools: Pools) -> float:
        """NDCG of files in the order of their nearest chunks."""
        paths = dict.fromkeys(match.path for match in pools.vector)
        return self._ndcg([FoundPlace(path, 1, ALL_LINES) for path in paths])

    def answer(self, pools: Pools, options: RankOptions) -> float:
        """NDCG of the answer as it is given."""
        placed = place(self.question, pools, self._read, options).places
        return self._ndcg([_found(one.chunk) for one in placed])

    def by_files(self, pools: Pools, options: RankOptions) -> float:
        """NDCG of files in the order of their odds."""
        placed = place(self.question, pools, self._read, options).places
        paths = dict.fromkeys(one.file.path for one in placed)
        return self._ndcg([FoundPlace(path, 1, ALL_LINES) for path in paths])

    def evidence(self, names: Sequence[str]) -> List:
        """A row for each file: the odds by everything else, then these; and which are right."""
        case, text, _ = study(self.question, self.pools, self._read, USUAL)
        files = [*dict.fromkeys(candidate.file for candidate in text.candidates)]
        files = sorted(files, key=lambda file: -case.odds(file))[:FILES]
        rows = []
        for file in files:
            own = [case.evidence[file].get(name, 0.0) for name in names]
            known = sum(case.weights[name] * value for name, value in zip(names, own, strict=True))
            rows.append([case.odds(file) - known, *own])
        return np.array(rows), np.array([float(self._right(file)) for file in files])

    def graded(
        self, pools: Pools, options: RankOptions
    ) -> Iterator[tuple[tuple[float, ...], bool]]:
        """The first ten: odds, whether it is the first, the grounds; and whether it is right."""
        placed = place(self.question, pools, self._read, options)
        for number, one in enumerate(placed.places[:LIMIT]):
            yield (one.odds, float(number == 0), *placed.grounds[:2]), self._right(one.file)

    def _right(self, file: FileKey) -> bool:
        return self.answerable and self._ndcg([FoundPlace(file.path, 1, ALL_LINES)], whole=True) > 0

    def _ndcg(self, places: Sequence[FoundPlace], *, whole: bool = False) -> float:
        root = self.checkout.root
        counted = places if whole else without_given(places, self.query, root)
        ranks = first_ranks(counted[:LIMIT], self.query.targets, root, self.dataset.match)
        return ndcg(ranks, LIMIT)

    def _read(self, keys: Sequence[ChunkKey]) -> list[Chunk]:
        return [self.chunks[key] for key in keys if key in self.chunks]


def _found(chunk: Chunk) -> FoundPlace:
    return FoundPlace(chunk.relative_path, chunk.start_line, chunk.end_line)


class Models:
    """The model whose vectors are fitted, and the built-in one beside it."""

    def __init__(self, model: str | None, vectors: Path | None) -> None:
        """`vectors` are those that were made elsewhere; without a model the built-in is fitted."""
        self.usual: Embedder = make_embedder(EmbedOptions())
        self.model: Embedder | None = None
        if model is not None:
            self.model = make_embedder(EmbedOptions(provider="encoder", model=model))
        self._vectors = vectors

    def sources(self, name: str, usual: Sources) -> list[tuple[Embedder, Sources]]:
        """What can be asked by the built-in model and, if there is one, the other."""
        found = [(self.usual, usual)]
        if self.model is not None:
            matrix = self._matrix(self.model, name, usual.chunks)
            second = EncoderSnapshot(usual.chunks, matrix)
            found.append((self.model, usual._replace(chunks=second)))
        return found

    def _matrix(self, model: Embedder, name: str, snapshot: ChunkSnapshot) -> Matrix:
        """A vector for each row of a table."""
        keys = snapshot.rows().keys
        if self._vectors is None:
            return model.embed_documents(snapshot.texts(range(len(keys))))
        with np.load(self._vectors / f"{name}.npz") as held:
            known = dict(zip(held["ids"].tolist(), held["vectors"], strict=True))
        missing = [key for key in keys if key.id not in known]
        if missing:
            raise UsageError(
                f"{name}.npz lacks {len(missing)} of {len(keys)} chunks; make the vectors again "
                "from an index of this version."
            )
        return unit(np.array([known[key.id] for key in keys], dtype=np.float32))


def cases(dataset: Dataset, repos_dir: Path, engine: Engine, models: Models) -> Iterator[Case]:
    """Every question, and some questions to a repository that they are not about."""
    groups: defaultdict[str, list[Query]] = defaultdict(list)
    for query in dataset.queries:
        groups[query.repo].append(query)
    names = sorted(groups)
    for number, name in enumerate(names):
        own = groups[name]
        other = groups[names[(number + len(names) // 2) % len(names)]]
        strange = [query for query in other if query.language != own[0].language]
        asked = [(query, bool(query.targets)) for query in own]
        asked += [(query, False) for query in strange]
        yield from _cases(dataset, name, asked, (repos_dir, engine, models))


def _cases(
    dataset: Dataset,
    name: str,
    asked: Sequence[tuple[Query, bool]],
    means: tuple[Path, Engine, Models],
) -> Iterator[Case]:
    repos_dir, engine, models = means
    checkout = dataset.checkouts[name]
    with indexed(checkout, repos_dir, engine) as usual:
        scanned = usual.chunks.scan(usual.where)
        chunks = {ChunkKey(chunk.repo, chunk.id): chunk for chunk in scanned}
        sources = models.sources(name, usual)
        for query, answerable in asked:
            question = understand(query.query)
            pools = [_recalled(question, *one) for one in sources]
            yield Case(query, question, pools[0], pools[-1], chunks, checkout, dataset, answerable)


def _recalled(question: Question, embedder: Embedder, sources: Sources) -> Pools:
    vectors = [*embedder.embed_queries(question.sentences or (question.text,))]
    return recall(question, vectors, sources, LIMIT, USUAL.recall)
