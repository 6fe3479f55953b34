"""Measures one of our models as a reranker of the best hits, and fits the numbers it needs.

    python -m benchmarks.ranking.rerank DATASET --repos-dir DIR
        --provider encoder|local --model FOLDER
        [--beside DATASET --beside-repos-dir DIR [--share PART]]
        [--index-dir DIR] [--top 40] [--sure 2] [-o NUMBERS.json]

The model scores the best candidates of every question once. What its scores count beside the rest
of the evidence, and what the index's own vectors then keep of their weight, is fitted by listwise
logistic regression, on all languages but some, and measured on those, in turn; it is not asked
where the first file is so `--sure` ahead of the next, in log-odds. Then it is fitted on everything,
and so is the curve that turns log-odds into probabilities: on questions that have an answer, those
of the set that have none, and questions to a repository of another language. The numbers belong
into the model's `model.json`, as `ranking`. A second set of questions, `--beside` the first, counts
`--share` as much as all of the first.
"""

import argparse
import json
import math
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from asterism.config.load import embed_options
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.rerank import LocalRerankModel, local_rerank_model
from asterism.engine.stores import DataDirectories, cache
from asterism.evaluation.datasets import Dataset, DatasetRepository, FoundPlace, Query, load_dataset
from asterism.evaluation.runs import first_ranks, ndcg, without_given
from asterism.evaluation.summaries import mean, paired_difference
from asterism.evaluation.tables import table
from asterism.models.embed.provider import Embedder, make_embedder
from asterism.models.rerank.options import RerankOptions
from asterism.search.query.parse import understand
from asterism.search.ranking.options import RankOptions, ScorerOptions
from asterism.search.ranking.recipe import Placed, place
from asterism.search.ranking.rerank import ChunkScorer
from asterism.search.recall import Pools, recall, recall_by_meaning
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot
from asterism.types.errors import UsageError
from asterism.types.index import Chunk
from asterism.types.search import Question
from benchmarks.ranking.datasets import add_arguments, count_of, given_sets, indexed
from benchmarks.ranking.regression import Curve, List, fit_curve, fit_near, folds

LIMIT = 10
PARTS = ("best", "second", "whole")
NUMBERS = ("keeps", *PARTS)
# Of a file that the ranking has; the right one is among them for 998 of 1,000 questions.
FILES = 30
# A third of the questions says enough about searches by meaning alone.
EVERY = 3


class Told:
    """A reranker that runs the model once for each chunk and caches its score."""

    def __init__(self, options: ScorerOptions, model: LocalRerankModel) -> None:
        self.options = options
        self._model = model
        self._scores: dict[tuple[str, ChunkKey], float] = {}
        self.spent = [0.0]

    def scores(self, question: Question, chunks: Sequence[Chunk]) -> Mapping[ChunkKey, float]:
        """What the model says, whatever time it takes."""
        keys = [ChunkKey(chunk.repo, chunk.id) for chunk in chunks]
        new = [n for n, key in enumerate(keys) if (question.text, key) not in self._scores]
        if new:
            began = time.process_time()
            texts = [chunks[n].embedding_text for n in new]
            scores = self._model.score(question.text, texts, 3600.0)
            self.spent[0] += time.process_time() - began
            for n, score in zip(new, scores, strict=True):
                if score is not None:
                    self._scores[question.text, keys[n]] = score
        known = {key: self._scores.get((question.text, key)) for key in keys}
        return {key: score for key, score in known.items() if score is not None}

    def counting(self, **numbers: Any) -> "Told":
        """The same with other numbers, and no others."""
        options = ScorerOptions(name="x", top=self.options.top)
        other = Told(replace(options, **numbers), self._model)
        other._scores, other.spent = self._scores, self.spent
        return other


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its candidates, to be ranked again and again."""

    query: Query
    question: Question
    pools: Pools
    chunks: Mapping[ChunkKey, Chunk]
    checkout: DatasetRepository
    dataset: Dataset
    answerable: bool
    count: float = 1.0
    """What it counts among those that are fitted."""

    def placed(self, reranker: ChunkScorer | None) -> Placed:
        """The candidates in order."""
        return place(self.question, self.pools, self._read, RankOptions(), reranker)

    def ndcg(self, reranker: ChunkScorer | None) -> float:
        """How good the first ten are."""
        places = [self._found(one.chunk) for one in self.placed(reranker).places]
        counted = without_given(places, self.query, self.checkout.root)[:LIMIT]
        ranks = first_ranks(counted, self.query.targets, self.checkout.root, self.dataset.match)
        return ndcg(ranks, LIMIT)

    def right(self, chunk: Chunk) -> bool:
        """Whether a chunk is in what the question asks for."""
        if not self.answerable:
            return False
        found = [self._found(chunk)]
        ranks = first_ranks(found, self.query.targets, self.checkout.root, self.dataset.match)
        return any(rank is not None for rank in ranks)

    def evidence(self, reranker: Told) -> List:
        """A row for each file: its odds without vectors, what these add, and the reranker's score.

        And which files are right.
        """
        first = {one.file: one for one in reversed(self.placed(None).places)}
        files = sorted(first, key=lambda file: -first[file].odds)[:FILES]
        unmeant = {
            one.file: one for one in reversed(self.placed(reranker.counting(keeps=0.0)).places)
        }
        parts = [self.placed(reranker.counting(**{part: 1.0})).verdict.files for part in PARTS]
        rows = [
            [
                unmeant[file].odds,
                first[file].odds - unmeant[file].odds,
                *(part.get(file, 0.0) for part in parts),
            ]
            for file in files
        ]
        right = [float(self.right(first[file].chunk)) for file in files]
        return np.array(rows), np.array(right)

    def _read(self, keys: Sequence[ChunkKey]) -> list[Chunk]:
        return [self.chunks[key] for key in keys if key in self.chunks]

    @staticmethod
    def _found(chunk: Chunk) -> FoundPlace:
        return FoundPlace(chunk.relative_path, chunk.start_line, chunk.end_line)


def cases(
    dataset: Dataset, repos_dir: Path, engine: Engine, by_meaning: bool = False
) -> Iterator[Case]:
    """Every question, and some questions to a repository that they are not about."""
    groups: defaultdict[str, list[Query]] = defaultdict(list)
    for query in dataset.queries:
        groups[query.repo].append(query)
    names = sorted(groups)
    embedder = make_embedder(embed_options(Settings()))
    for number, name in enumerate(names):
        own = groups[name][:: EVERY if by_meaning else 1]
        other = groups[names[(number + len(names) // 2) % len(names)]]
        strange = [query for query in other if query.language != own[0].language][::2]
        asked = [(query, bool(query.targets)) for query in own]
        asked += [(query, False) for query in strange[:: EVERY if by_meaning else 1]]
        yield from _cases(dataset, name, asked, (repos_dir, engine, embedder), by_meaning)


def _cases(
    dataset: Dataset,
    name: str,
    asked: Sequence[tuple[Query, bool]],
    means: tuple[Path, Engine, Embedder],
    by_meaning: bool,
) -> Iterator[Case]:
    repos_dir, engine, embedder = means
    checkout, options = dataset.checkouts[name], RankOptions()
    with indexed(checkout, repos_dir, engine) as sources:
        for query, answerable in asked:
            question = understand(query.query)
            vectors = [*embedder.embed_queries(question.sentences or (question.text,))]
            if by_meaning:
                pools = recall_by_meaning(vectors, sources, LIMIT, options.recall)
            else:
                pools = recall(question, vectors, sources, LIMIT, options.recall)
            chunks = _candidates(question, pools, sources.chunks)
            yield Case(query, question, pools, chunks, checkout, dataset, answerable)


def _candidates(question: Question, pools: Pools, snapshot: ChunkSnapshot) -> dict[ChunkKey, Chunk]:
    placed = place(question, pools, snapshot.chunks, RankOptions())
    return {ChunkKey(one.chunk.repo, one.chunk.id): one.chunk for one in placed.places}


def fit(known: Sequence[tuple[List, float]]) -> dict[str, float]:
    """The numbers by name, from questions and what each counts."""
    lists, counts = [own for own, _ in known], [count for _, count in known]
    found = fit_near(lists, counts, [1.0] * len(NUMBERS)).tolist()
    return dict(zip(NUMBERS, found, strict=True))


def cross_validated(
    some: Sequence[Case],
    rows: Sequence[List],
    reranker: Told,
    sure: float,
) -> list[float]:
    """Each question's NDCG by numbers that its language had no part in."""
    values = [0.0] * len(some)
    for languages in folds({case.query.language for case in some}):
        left_out = [case.query.language in languages for case in some]
        others = zip(some, rows, left_out, strict=True)
        fitted = reranker.counting(
            **fit([(row, case.count) for case, row, out in others if not out]), sure=sure
        )
        for number, case in enumerate(some):
            if left_out[number]:
                values[number] = case.ndcg(fitted)
    return values


def curve(some: Sequence[Case], reranker: Told) -> Curve:
    """The calibration of the first ten hits."""
    rows: list[list[float]] = []
    right: list[bool] = []
    kinds: list[bool] = []
    for case in some:
        placed = case.placed(reranker)
        if not placed.verdict.files:
            continue
        for number, one in enumerate(placed.places[:LIMIT]):
            rows.append([one.odds, float(number == 0), *placed.grounds[:2]])
            right.append(case.right(one.chunk))
            kinds.append(case.answerable)
    if not rows:
        raise UsageError(
            "No query was reranked: the ranking is sure of each without the model (raise --sure), "
            "or the model gives every text the same score."
        )
    return fit_curve(np.array(rows), np.array(right), np.array(kinds))


def report(some: Sequence[Case], before: Sequence[float], after: Sequence[float]) -> list[str]:
    """NDCG without and with the reranker, over languages left out, by category."""
    rows = []
    for category in ("", *sorted({case.query.category for case in some})):
        chosen = [n for n, case in enumerate(some) if category in ("", case.query.category)]
        old, new = [before[n] for n in chosen], [after[n] for n in chosen]
        change = paired_difference(old, new, [some[n].query.repo for n in chosen])
        rows.append(
            [
                category or "all",
                f"{len(chosen)}",
                f"{mean(old):.4f}",
                f"{mean(new):.4f}",
                f"{change.mean:+.4f}",
                f"{change.low:+.4f} to {change.high:+.4f}",
            ]
        )
    return table(("questions", "n", "without", "with", "difference", "interval"), rows)


def run(
    every: Sequence[Case], meant: Sequence[Case], reranker: Told, sure: float
) -> dict[str, float]:
    """Print the reranker's gain, and return its numbers; `meant` are asked by meaning alone."""
    some = [case for case in every if case.answerable]
    rows = [case.evidence(reranker) for case in some]
    spent = 1000 * reranker.spent[0] / len(some)
    before = [case.ndcg(None) for case in some]
    after = cross_validated(some, rows, reranker, sure)
    for dataset in {id(case.dataset): case.dataset for case in some}.values():
        own = [number for number, case in enumerate(some) if case.dataset is dataset]
        asked = [some[n] for n in own]
        print("\n".join(report(asked, [before[n] for n in own], [after[n] for n in own])))
        unsure = mean(
            float(bool(case.placed(reranker.counting(sure=sure)).verdict.files)) for case in asked
        )
        print(f"\nAsked for {unsure:.0%} of the questions.\n")
    known = [(row, case.count) for case, row in zip(some, rows, strict=True)]
    numbers = {name: round(value, 2) for name, value in fit(known).items()}
    if math.isfinite(sure):
        numbers["sure"] = sure
    fitted = reranker.counting(**numbers)
    found = {"calibration": curve(every, fitted), "by_meaning": curve(meant, fitted)}
    for name, one in found.items():
        numbers |= {f"{name}.{part}": round(value, 2) for part, value in one.items()}
    print(f"\n{spent:.0f} CPU ms for {reranker.options.top} hits of a question, unless known.")
    return numbers


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--index-dir", type=Path, help="keep indexes here")
    parser.add_argument("--provider", choices=("encoder", "local"), required=True)
    parser.add_argument("--model", type=Path, help="a folder; else the built-in one")
    parser.add_argument("--top", type=int, default=40)
    parser.add_argument("--sure", type=float, default=2.0, help="%(default)s; inf asks always")
    parser.add_argument("-o", "--output", type=Path)
    given: Any = parser.parse_args(arguments)
    with ExitStack() as stack:
        kept = given.index_dir or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        places = DataDirectories(kept / "data", kept / "cache")
        engine = Engine(places, lambda _root: Settings())
        folder = str(given.model.resolve()) if given.model else ""
        options = RerankOptions(provider=given.provider, model=folder)
        model = local_rerank_model(options, lambda: cache(Settings(), places))
        reranker = Told(ScorerOptions(name="x", top=given.top), model)
        every: list[Case] = []
        meant: list[Case] = []
        for path, repos in given_sets(given):
            dataset = load_dataset(path)
            asked = [*cases(dataset, repos, engine)]
            own = sum(case.answerable for case in asked)
            count = count_of(sum(case.answerable for case in every), own, given.share)
            every += [replace(case, count=count) for case in asked]
            meant += cases(dataset, repos, engine, by_meaning=True)
        numbers = run(every, meant, reranker, given.sure)
    text = json.dumps(numbers, indent=2)
    print(f"\n{text}")
    if given.output:
        given.output.write_text(f"{text}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
