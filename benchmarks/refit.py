"""What the evidence counts with the vectors of a model: the numbers for its folder, fitted anew.

    python -m benchmarks.refit DATASET --repos-dir DIR [--model FOLDER] [--vectors DIR]
        [--index-dir DIR] [--wishes] [--weight NAME]... [--folds N] [-o NUMBERS.json]

Every question's candidates are found by its words and by the model's vectors of all chunks. The
chosen weights are fitted by listwise logistic regression on all languages but some and measured on
those, in turn (as many `--folds` as there are languages leave out one at a time); the others count
as they do. Then they are fitted on everything, and so are the curves from log-odds to
probabilities, with questions to a repository of another language as those that have no answer. The
numbers belong into the model's `model.json`, as `ranking`.

`--vectors` holds a file `<repository>.npz` for each repository, with `ids` of chunks and `vectors`:
then no chunk is embedded here. Without it the model reads every chunk, some 180 a second
and core. Without `--model` the built-in one is meant.

With `--wishes` the questions that word a change are asked, and theirs are the weights that are
fitted; those that name a topic are left out. The dataset may be one of `training.changes`.
"""

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from asterism.backends.embed.options import EmbedOptions
from asterism.backends.embed.protocol import Embedder
from asterism.backends.embed.providers import make_embedder
from asterism.backends.embed.vectors import unit
from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.chunk_table import ChunkKey, ChunkSnapshot, Matrix
from asterism.backends.store.lance_table import LanceTable
from asterism.backends.store.second_snapshot import SecondSnapshot
from asterism.config.settings import Settings
from asterism.domain.chunk import Chunk
from asterism.domain.errors import UsageError
from asterism.domain.filters import Filter
from asterism.domain.search import Question
from asterism.engine.engine import Engine
from asterism.engine.weighing import PREFIX
from asterism.engine.wiring import Places
from asterism.evaluation.bootstrap import paired_difference
from asterism.evaluation.datasets import load_dataset
from asterism.evaluation.labels import Checkout, Dataset, Found, Query
from asterism.evaluation.markdown import table
from asterism.evaluation.matching import first_ranks, without_given
from asterism.evaluation.metrics import ndcg
from asterism.evaluation.summaries import mean
from asterism.retrieval.options import RankOptions, Weights
from asterism.retrieval.questions import understand
from asterism.retrieval.ranking import place, study
from asterism.retrieval.recall import FileKey, Pools, Sources, recall
from benchmarks.judge_fit import FOLDS, Curve, List, fit_curve, fit_weights, folds

LIMIT = 10
USUAL = RankOptions()
TOPICS, WISHES = "weights", "wished"
# Of a question; the right one is among them for 998 of 1,000 questions.
FILES = 30
# What belongs to the vectors; the other weights speak of any model. All of them fitted anew are as
# good to 0.003 where languages are left out.
OF_VECTORS = ("vector", "vector_sum", "nearby")
# What is fitted of wishes; the others are set by hand, or speak of questions of one word.
OF_WISHES = (
    *OF_VECTORS, "text", "text_sum", "name", "said", "said_at_once", "signature", "offers",
    "length", "type_found", "stem_whole", "folder_named", "depth", "importer_near",
    "folder_near", "definition_file",
)  # fmt: skip
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
    checkout: Checkout
    dataset: Dataset
    answerable: bool

    def has(self, field: str) -> bool:
        """Whether it is weighed by this field of the options."""
        return self.question.is_wish == (field == WISHES)

    def by_vectors(self, pools: Pools) -> float:
        """NDCG of files in the order of their nearest chunks."""
        paths = dict.fromkeys(match.path for match in pools.vector)
        return self._ndcg([Found(path, 1, ALL_LINES) for path in paths])

    def answer(self, pools: Pools, options: RankOptions) -> float:
        """NDCG of the answer as it is given."""
        placed = place(self.question, pools, self._read, options).places
        return self._ndcg([_found(one.chunk) for one in placed])

    def by_files(self, pools: Pools, options: RankOptions) -> float:
        """NDCG of files in the order of their odds."""
        placed = place(self.question, pools, self._read, options).places
        paths = dict.fromkeys(one.file.path for one in placed)
        return self._ndcg([Found(path, 1, ALL_LINES) for path in paths])

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
            yield (one.odds, float(number == 0), *placed.grounds), self._right(one.file)

    def _right(self, file: FileKey) -> bool:
        return self.answerable and self._ndcg([Found(file.path, 1, ALL_LINES)], whole=True) > 0

    def _ndcg(self, places: Sequence[Found], *, whole: bool = False) -> float:
        root = self.checkout.root
        counted = places if whole else without_given(places, self.query, root)
        ranks = first_ranks(counted[:LIMIT], self.query.targets, root, self.dataset.match)
        return ndcg(ranks, LIMIT)

    def _read(self, keys: Sequence[ChunkKey]) -> list[Chunk]:
        return [self.chunks[key] for key in keys if key in self.chunks]


def _found(chunk: Chunk) -> Found:
    return Found(chunk.relative_path, chunk.start_line, chunk.end_line)


class Models:
    """The model whose vectors are fitted, and the built-in one beside it."""

    def __init__(self, model: str | None, vectors: Path | None) -> None:
        """`vectors` are those that were made elsewhere; without a model the built-in is fitted."""
        self.usual: Embedder = make_embedder(EmbedOptions())
        self.model: Embedder | None = None
        if model is not None:
            self.model = make_embedder(EmbedOptions(provider="encoder", model=model))
        self._vectors = vectors

    def sources(
        self, name: str, table: tuple[ChunkSnapshot, Catalogue, Filter]
    ) -> list[tuple[Embedder, Sources]]:
        """What can be asked of a table by the built-in model and, if there is one, the other."""
        snapshot, catalogue, where = table
        found = [(self.usual, Sources(snapshot, catalogue, where))]
        if self.model is not None:
            second = SecondSnapshot(snapshot, self._matrix(self.model, name, snapshot))
            found.append((self.model, Sources(second, catalogue, where)))
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
    registered = engine.register((repos_dir / checkout.name / checkout.root).resolve())
    engine.index(registered)
    directory = registered.project.directory
    with Catalogue.open(directory) as catalogue, catalogue.snapshot():
        snapshot = LanceTable.open(directory).snapshot(catalogue.chunks_version())
        where = Filter(repos=(registered.repository.name,))
        chunks = {ChunkKey(chunk.repo, chunk.id): chunk for chunk in snapshot.scan(where)}
        sources = models.sources(name, (snapshot, catalogue, where))
        for query, answerable in asked:
            question = understand(query.query)
            pools = [_recalled(question, *one) for one in sources]
            yield Case(query, question, pools[0], pools[-1], chunks, checkout, dataset, answerable)


def _recalled(question: Question, embedder: Embedder, sources: Sources) -> Pools:
    vectors = [*embedder.embed_queries(question.sentences or (question.text,))]
    return recall(question, vectors, sources, LIMIT, USUAL.recall)


def only_wishes(dataset: Dataset) -> Dataset:
    """The dataset without the questions that name a topic."""
    wished = (query for query in dataset.queries if understand(query.query).is_wish)
    return replace(dataset, queries=tuple(wished))


def with_weights(names: Sequence[str], values: Sequence[float], field: str) -> RankOptions:
    """The usual recipe with other weights, of topics or of wishes."""
    changed = replace(getattr(USUAL, field), **dict(zip(names, values, strict=True)))
    return replace(USUAL, **{field: changed})


def cross_validated(
    some: Sequence[Case], names: Sequence[str], field: str, count: int = FOLDS
) -> list[RankOptions]:
    """For each question the recipe with weights that its language had no part in."""
    lists = [case.evidence(names) for case in some]
    found = [USUAL] * len(some)
    for languages in folds({case.query.language for case in some}, count):
        out = [case.query.language in languages for case in some]
        others = zip(some, lists, out, strict=True)
        known = [own for case, own, left in others if not left and case.has(field)]
        options = with_weights(names, fit_weights(known).tolist(), field) if known else USUAL
        found = [options if left else one for one, left in zip(found, out, strict=True)]
    return found


def curve(every: Sequence[Case], options: RankOptions, *, by_meaning: bool = False) -> Curve:
    """The calibration of the first ten hits."""
    rows, right, kinds = [], [], []
    for case in every:
        pools = case.pools
        if by_meaning:
            meant = Pools(vector=pools.vector, sentences=pools.sentences)
            pools = meant._replace(importers=pools.importers)
        for row, is_right in case.graded(pools, options):
            rows.append(row)
            right.append(is_right)
            kinds.append(case.answerable)
    return fit_curve(np.array(rows), np.array(right), np.array(kinds))


def report(some: Sequence[Case], fitted: Sequence[RankOptions]) -> list[str]:
    """What is gained over the built-in model: vectors alone, as it is, fitted; by what is asked."""
    pairs = list(zip(some, fitted, strict=True))
    before = [case.answer(case.usual, USUAL) for case in some]
    files = [case.by_files(case.usual, USUAL) for case in some]
    lines = {
        "vectors alone, built-in": ([case.by_vectors(case.usual) for case in some], None),
        "vectors alone": ([case.by_vectors(case.pools) for case in some], None),
        "files, built-in": (files, None),
        "files, weights as they are": ([case.by_files(case.pools, USUAL) for case in some], files),
        "files, fitted": ([case.by_files(case.pools, own) for case, own in pairs], files),
        "answer, built-in": (before, None),
        "answer, weights as they are": ([case.answer(case.pools, USUAL) for case in some], before),
        "answer, fitted": ([case.answer(case.pools, own) for case, own in pairs], before),
    }
    categories = sorted({case.query.category for case in some if case.query.category})
    languages = sorted({case.query.language for case in some})
    head = ("", "questions", "languages", "gained", *categories, *languages)
    rows = []
    for name, (values, beside) in lines.items():
        by_language = [_mean_of(some, values, language=one) for one in languages]
        row = [name, f"{mean(values):.4f}", f"{mean(by_language):.4f}", ""]
        if beside is not None:
            change = paired_difference(beside, values, [case.query.repo for case in some])
            row[-1] = f"{change.mean:+.4f} ({change.low:+.4f} to {change.high:+.4f})"
        row += [f"{_mean_of(some, values, category=one):.3f}" for one in categories]
        rows.append([*row, *(f"{value:.3f}" for value in by_language)])
    # A column for each of the lines, since there are more languages than fit beside each other.
    turned = [[title, *(row[at] for row in rows)] for at, title in enumerate(head) if at]
    return table(("NDCG@10", *(row[0] for row in rows)), turned)


def _mean_of(some: Sequence[Case], values: Sequence[float], **wanted: str) -> float:
    return mean(
        value
        for case, value in zip(some, values, strict=True)
        if all(getattr(case.query, name) == one for name, one in wanted.items())
    )


def run(
    every: Sequence[Case], names: Sequence[str], field: str = TOPICS, count: int = FOLDS
) -> dict[str, float]:
    """Print what the model is worth, and return its numbers."""
    some = [case for case in every if case.answerable]
    if not any(case.has(field) for case in some):
        raise UsageError("No question is of the kind whose weights are fitted; ask some that are.")
    print("\n".join(report(some, cross_validated(some, names, field, count))))
    fitted = fit_weights([case.evidence(names) for case in some if case.has(field)])
    weights = [round(float(one), 2) for one in fitted]
    options = with_weights(names, weights, field)
    numbers = {f"{field}.{name}": value for name, value in zip(names, weights, strict=True)}
    for name, by_meaning in (("calibration", False), ("by_meaning", True)):
        curved = curve(every, options, by_meaning=by_meaning)
        numbers |= {f"{name}.{part}": round(value, 2) for part, value in curved.items()}
    return {f"{PREFIX}{name}": value for name, value in numbers.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and the numbers."""
    known = [field.name for field in fields(Weights)]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--repos-dir", type=Path, required=True)
    parser.add_argument("--index-dir", type=Path, help="keep indexes here")
    parser.add_argument("--model", type=Path, help="the folder of an encoder")
    parser.add_argument("--vectors", type=Path, help="those that were made elsewhere")
    parser.add_argument("--wishes", action="store_true", help="fit what counts for these")
    parser.add_argument("--weight", action="append", choices=known, help="to be fitted")
    parser.add_argument("--folds", type=int, default=FOLDS, help="of languages; %(default)s")
    parser.add_argument("-o", "--output", type=Path)
    given: Any = parser.parse_args(arguments)
    with ExitStack() as stack:
        kept = given.index_dir or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engine = Engine(Places(kept / "data", kept / "cache"), lambda _root: Settings())
        models = Models(str(given.model.resolve()) if given.model else None, given.vectors)
        dataset = load_dataset(given.dataset)
        if given.wishes:
            dataset = only_wishes(dataset)
        every = [*cases(dataset, given.repos_dir, engine, models)]
    usual, field = (OF_WISHES, WISHES) if given.wishes else (OF_VECTORS, TOPICS)
    numbers = run(every, given.weight or usual, field, max(given.folds, 2))
    text = json.dumps(numbers, indent=2)
    print(f"\n{text}")
    if given.output:
        given.output.write_text(f"{text}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
