"""What each signal of the ranking is worth: how NDCG changes when one is left out.

    python -m benchmarks.ranking.ablation DATASET --repos-dir DIR [--index-dir DIR] [--repo NAME]

Each repository is indexed once and each question's candidates are found once; then they are ranked
again without one weight, one prior, one channel. Nothing is fitted anew, so this says what the
recipe as it is owes to a signal, not how good the best recipe without it would be. Intervals are
paired bootstrap, over repositories where there are enough. A channel is left out of what ranking
is given; the other channels bring the candidates they brought before.
"""

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from asterism.config.load import embed_options
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.evaluation.datasets import (
    Dataset,
    DatasetRepository,
    FoundPlace,
    PathMatch,
    Query,
    load_dataset,
)
from asterism.evaluation.run import SPARE
from asterism.evaluation.runs import first_ranks, ndcg, without_given
from asterism.evaluation.summaries import mean, paired_difference
from asterism.evaluation.tables import NOTHING, table
from asterism.models.embed.provider import Embedder, make_embedder
from asterism.search.query.parse import understand
from asterism.search.ranking.options import RankOptions, RecallOptions
from asterism.search.ranking.recipe import rank
from asterism.search.ranking.symbol_weights import Calibration
from asterism.search.recall import Pools, Sources, recall
from asterism.search.selection.options import CHUNKS
from asterism.search.selection.select import select
from asterism.search.selection.sizes import Measure
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot
from asterism.types.index import Chunk
from asterism.types.search import Question
from benchmarks.ranking.datasets import indexed

LIMIT = 10
FULL = "everything"

# These shape which candidates there are or what a score is called; they do not reorder.
NOT_RANKING = (Calibration, RecallOptions)

# Without its definitions a question has no use for their paths either.
BELONGING = {"definitions": ("places",)}


@dataclass(frozen=True, slots=True)
class Variant:
    """The recipe with something left out."""

    options: RankOptions
    without: tuple[str, ...] = ()
    """Fields of the pools."""

    def pools(self, pools: Pools) -> Pools:
        """What ranking is given."""
        empty = {name: Pools._field_defaults[name] for name in self.without}
        return pools._replace(**empty)


class Scored(NamedTuple):
    """One question's NDCG under every variant that could be computed."""

    query: Query
    values: Mapping[str, float]


def variants(options: RankOptions) -> dict[str, Variant]:
    """The full recipe, and it without each signal: every field of the options and of the pools."""
    found = {FULL: Variant(options)}
    for field in fields(options):
        value = getattr(options, field.name)
        for name, changed in _without(field.name, value):
            found[name] = Variant(_changed(options, {field.name: changed}))
    for name in Pools._fields:
        if not any(name in others for others in BELONGING.values()):
            found[f"channel {name}"] = Variant(options, (name, *BELONGING.get(name, ())))
    return found


def _without(name: str, value: object) -> Iterator[tuple[str, object]]:
    """The ways to leave something out of one field."""
    if isinstance(value, NOT_RANKING):
        return
    if is_dataclass(value) and not isinstance(value, type):
        # A weight adds, so none is 0; a prior multiplies, so none is 1.
        nothing = 1.0 if name == "priors" else 0.0
        numbers = [
            one.name
            for one in fields(value)
            if isinstance(held := getattr(value, one.name), float) and held != nothing
        ]
        for one in numbers:
            yield f"{name}.{one}", _changed(value, {one: nothing})
        if name == "priors":
            yield "all priors", _changed(value, dict.fromkeys(numbers, nothing))
    elif isinstance(value, float):
        yield name, 1.0
    elif isinstance(value, Mapping):
        yield name, {}


def _changed(record: Any, values: Mapping[str, object]) -> Any:
    """A record with other values in fields that are known by their names alone."""
    return replace(record, **values)


class Bench:
    """One indexed repository, ready to rank its questions again and again."""

    def __init__(self, snapshot: ChunkSnapshot, sources: Sources, embedder: Embedder) -> None:
        self._snapshot = snapshot
        self._sources = sources
        self._embedder = embedder
        self._chunks: dict[ChunkKey, Chunk] = {}

    def scored(self, query: Query, judge: Callable[[Sequence[FoundPlace]], float]) -> Scored:
        """The question under every variant."""
        question = understand(query.query)
        vectors = list(self._embedder.embed_queries(question.sentences or (question.text,)))
        options = RankOptions()
        pools = recall(question, vectors, self._sources, LIMIT, options.recall)
        values = {}
        for name, variant in variants(options).items():
            try:
                values[name] = judge(self._ranked(question, variant, pools))
            except (ValueError, ZeroDivisionError):
                # A number that keeps something finite cannot be left out; the table says so.
                continue
        self._chunks.clear()
        return Scored(query, values)

    def _ranked(self, question: Question, variant: Variant, pools: Pools) -> list[FoundPlace]:
        hits = rank(question, variant.pools(pools), self._read, variant.options)
        kept = select(hits, replace(CHUNKS, max_results=LIMIT + SPARE), Measure()).kept
        chunks = [one.hit.chunk for one in kept]
        return [
            FoundPlace(chunk.relative_path, chunk.start_line, chunk.end_line) for chunk in chunks
        ]

    def _read(self, keys: Sequence[ChunkKey]) -> list[Chunk]:
        """Chunks by their keys, each read from the store once."""
        missing = [key for key in keys if key not in self._chunks]
        for chunk in self._snapshot.chunks(missing):
            self._chunks[ChunkKey(chunk.repo, chunk.id)] = chunk
        return [self._chunks[key] for key in keys if key in self._chunks]


def run(dataset: Dataset, repos_dir: Path, engine: Engine, only: Sequence[str]) -> list[Scored]:
    """Every question of a dataset that has an answer, under every variant."""
    groups: defaultdict[str, list[Query]] = defaultdict(list)
    for query in dataset.queries:
        if query.targets and (not only or query.repo in only):
            groups[query.repo].append(query)
    embedder = make_embedder(embed_options(Settings()))
    found: list[Scored] = []
    for name, queries in sorted(groups.items()):
        checkout = dataset.checkouts[name]
        found += _run_checkout(dataset, checkout, queries, repos_dir, engine, embedder)
    return found


def _run_checkout(
    dataset: Dataset,
    checkout: DatasetRepository,
    queries: Sequence[Query],
    repos_dir: Path,
    engine: Engine,
    embedder: Embedder,
) -> list[Scored]:
    began = time.process_time()
    with indexed(checkout, repos_dir, engine) as sources:
        bench = Bench(sources.chunks, sources, embedder)
        found = []
        for query in queries:
            judge = partial(_ndcg, query=query, root=checkout.root, match=dataset.match)
            found.append(bench.scored(query, judge))
    spent = time.process_time() - began
    sys.stderr.write(f"{checkout.name:24} {len(queries):4} questions  {spent:6.1f} CPU s\n")
    return found


def _ndcg(places: Sequence[FoundPlace], query: Query, root: str, match: PathMatch) -> float:
    counted = without_given(places, query, root)[:LIMIT]
    return ndcg(first_ranks(counted, query.targets, root, match), LIMIT)


def worth_table(scored: Sequence[Scored]) -> list[str]:
    """What NDCG loses without each signal, the largest loss first."""
    names = variants(RankOptions())
    repos = [one.query.repo for one in scored]
    full = [one.values[FULL] for one in scored]
    categories = sorted({one.query.category for one in scored if one.query.category})
    rows = []
    for name in names:
        if name == FULL or any(name not in one.values for one in scored):
            continue
        values = [one.values[name] for one in scored]
        change = paired_difference(full, values, repos)
        by_category = [_change(name, scored, category) for category in categories]
        moved = [new - old for old, new in zip(full, values, strict=True)]
        rows.append(
            (
                change.mean,
                [
                    name,
                    f"{mean(values):.4f}",
                    f"{change.mean:+.4f}",
                    f"{change.low:+.4f} to {change.high:+.4f}",
                    *(f"{value:+.4f}" for value in by_category),
                    f"{sum(step > 0 for step in moved)}",
                    f"{sum(step < 0 for step in moved)}",
                ],
            )
        )
    head = ("without", f"NDCG@{LIMIT}", "difference", "interval", *categories, "better", "worse")
    whole = [FULL, f"{mean(full):.4f}", *[NOTHING] * (len(head) - 2)]
    return table(head, [whole, *(row for _, row in sorted(rows, key=lambda row: row[0]))])


def _change(name: str, scored: Sequence[Scored], category: str) -> float:
    return mean(
        one.values[name] - one.values[FULL] for one in scored if one.query.category == category
    )


def kept_always(scored: Sequence[Scored]) -> list[str]:
    """The numbers that the recipe cannot do without."""
    names = variants(RankOptions())
    return [name for name in names if any(name not in one.values for one in scored)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--repos-dir", type=Path, required=True)
    parser.add_argument("--index-dir", type=Path, help="keep indexes here")
    parser.add_argument("--repo", action="append", default=[], help="only this repository")
    given: Any = parser.parse_args(arguments)
    with ExitStack() as stack:
        kept = given.index_dir
        if kept is None:
            kept = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engine = Engine(DataDirectories(kept / "data", kept / "cache"), lambda _root: Settings())
        scored = run(load_dataset(given.dataset), given.repos_dir, engine, given.repo)
    print("\n".join(worth_table(scored)))
    needed = kept_always(scored)
    if needed:
        print(f"\nNot to be left out, since they keep numbers finite: {', '.join(needed)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
