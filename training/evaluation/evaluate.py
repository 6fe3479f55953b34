"""Measure finished models: `python -m training.evaluation.evaluate --queries FILE --repos-dir DIR`.

Every model that comes with Asterism, and those in the folders given: their vectors alone, the
product's search with each of them, and what each costs. The output is Markdown.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from asterism.evaluation.datasets import Dataset, load_dataset
from asterism.evaluation.runs import save_run
from asterism.evaluation.summaries import times
from asterism.evaluation.tables import table
from asterism.models.embed.cache import EmbeddingCache
from asterism.types.errors import AsterismError, PathMissing, UsageError
from asterism.types.files import display_path
from asterism.types.search import Mode
from training.evaluation import costs, dense, figures, hybrid
from training.evaluation.contenders import Contender, named, shipped
from training.evaluation.figures import Row
from training.evaluation.questions import Texts, collection
from training.evaluation.scoring import Collection

# Texts and questions whose reading is timed; every so many-th of all. A static model remembers
# words, so a few texts would make it look slower than it is.
TEXTS_TIMED = 256
TEXTS_TIMED_STATIC = 8_192
QUERIES_TIMED = 23
# All vectors of a measurement: 100,000 chunks and three models take a tenth of it.
CACHE_BYTES = 4_000_000_000
NOT_RERANKED = "hybrid without reranking"
DEFAULT = "hybrid, default settings"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; a model that cannot be used is named, and the others go on."""
    options = _options(arguments)
    with ExitStack() as stack:
        kept = options.index_dir or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="asterism-models-"))
        )
        try:
            _Evaluation(options, kept).run()
        except AsterismError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    return 0


def _options(arguments: Sequence[str] | None) -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=Path, nargs="+", required=True, help="a set, or several")
    parser.add_argument("--repos-dir", type=Path, required=True)
    for kind in ("static", "encoder", "reranker"):
        parser.add_argument(f"--{kind}", type=Path, action="append", default=[], metavar="FOLDER")
    parser.add_argument("--only-given", action="store_true", help="without those of the package")
    parser.add_argument("--repo", action="append", default=[], help="only about this repository")
    parser.add_argument("--category", action="append", default=[], help="only such questions")
    parser.add_argument("--chunks-at-most", type=int, default=0, help="leave larger ones out")
    parser.add_argument("--no-hybrid", action="store_true", help="vectors alone")
    parser.add_argument(
        "--undocumented", action="store_true",
        help="vectors alone, of code without its documentation: what has to be understood",
    )  # fmt: skip
    parser.add_argument(
        "--variant", nargs="+", action="append", default=[], metavar=("NAME", "KEY=VALUE"),
        help="the product's search with more settings",
    )  # fmt: skip
    parser.add_argument(
        "--mode", choices=("hybrid", "semantic"), default="hybrid",
        help="how the product's search is asked: semantic finds by vectors alone",
    )  # fmt: skip
    parser.add_argument("--index-dir", type=Path, help="keep indexes and vectors here")
    parser.add_argument("--runs", type=Path, help="save the product's runs here")
    return parser.parse_args(arguments)


class _Evaluation:
    """One measurement; rows and complaints grow as it goes."""

    def __init__(self, options: Any, kept: Path) -> None:
        self._options = options
        self._kept = kept
        self._rows: list[Row] = []
        self._unusable: list[str] = []

    def run(self) -> None:
        """Everything, model by model, then the tables."""
        dataset, collections = self._read()
        contenders = list(self._usable(self._contenders()))
        spent = dict(self._costs(contenders, collections, dataset))
        with EmbeddingCache(self._kept / "cache", CACHE_BYTES) as cache:
            self._dense(contenders, dataset, collections, cache)
        if not self._rows:
            raise UsageError(" ".join(self._unusable) or "No model that makes vectors was given.")
        alone = self._options.no_hybrid or self._options.undocumented
        searches = [] if alone else list(self._hybrid(contenders, dataset))
        chunks = sum(len(some.texts) for some in collections.values())
        size = f"{len(dataset.queries):,} questions, {len(collections)} repositories"
        parts = [
            [f"{size}, {chunks:,} chunks."],
            figures.overview(self._rows),
            figures.by_language(self._rows),
        ]
        parts += [_cost_lines(spent), searches, self._unusable]
        sys.stdout.write("\n\n".join("\n".join(part) for part in parts if part) + "\n")

    def _read(self) -> tuple[Dataset, dict[str, Collection]]:
        """The questions, and the chunks of the repositories that they are about."""
        dataset = _joined([load_dataset(path) for path in self._options.queries])
        chosen = {
            query.repo
            for query in dataset.queries
            if not self._options.repo or query.repo in self._options.repo
        }
        collections = {}
        for name in sorted(chosen):
            checkout = dataset.checkouts[name]
            root = self._options.repos_dir / name / checkout.root
            if not root.is_dir():
                raise PathMissing(
                    f"{display_path(str(root))} is no directory; check {name} out there."
                )
            texts = Texts(None, documented=not self._options.undocumented)
            found = collection(root, checkout.language, texts)
            _tell(f"{name}: {len(found.texts):,} chunks")
            if not self._options.chunks_at_most or len(found.texts) <= self._options.chunks_at_most:
                collections[name] = found
        kept = [
            query
            for query in dataset.queries
            if query.repo in collections
            and (not self._options.category or query.category in self._options.category)
        ]
        if not kept:
            raise UsageError("No question is left; give other sets, or choose fewer of them out.")
        return replace(dataset, queries=kept), collections

    def _contenders(self) -> Iterator[Contender]:
        if not self._options.only_given:
            yield from shipped()
        for kind in ("static", "encoder", "reranker"):
            yield from named(getattr(self._options, kind), kind)

    def _usable(self, contenders: Iterator[Contender]) -> Iterator[Contender]:
        for contender in contenders:
            try:
                contender.described()
            except AsterismError as error:
                self._leave_out(contender.name, error)
            else:
                yield contender

    def _leave_out(self, name: str, error: AsterismError | str) -> None:
        _tell(f"{name} is left out: {error}")
        self._unusable.append(f"Not measured: {name}. {error}")

    def _costs(
        self, contenders: list[Contender], collections: Mapping[str, Collection], dataset: Dataset
    ) -> Iterator[tuple[Contender, costs.Costs]]:
        texts = [text for some in collections.values() for text in some.texts]
        queries = _spread([query.query for query in dataset.queries], QUERIES_TIMED)
        for contender in list(contenders):
            timed = TEXTS_TIMED_STATIC if contender.kind == "static" else TEXTS_TIMED
            try:
                yield contender, costs.measured(contender, _spread(texts, timed), queries)
            except AsterismError as error:
                contenders.remove(contender)
                self._leave_out(contender.name, error)

    def _dense(
        self,
        contenders: Sequence[Contender],
        dataset: Dataset,
        collections: Mapping[str, Collection],
        cache: EmbeddingCache,
    ) -> None:
        """Vectors alone; a reranker orders the first candidates of the first model."""
        first: dense.Order | None = None
        base: Sequence[figures.Scored] | None = None
        for contender in contenders:
            name = f"{contender.name}, vectors alone"
            try:
                if contender.kind != "reranker":
                    order = self._by_vectors(contender, dataset, collections, cache)
                elif first is not None:
                    name = f"{contender.name} on the {dense.RERANKED} nearest"
                    order = dense.judged(first, contender.reranker())
                else:
                    continue
                found = dense.measured(dataset, collections, order)
            except AsterismError as error:
                self._leave_out(name, error)
                continue
            first = first or order
            self._rows.append(Row(f"{name}, files", found.files, base))
            if any(one.value != one.by_file for one in found.files):
                self._rows.append(Row(f"{name}, chunks", found.chunks))
            base = base or found.files
            _tell(f"{name}: {figures.over_languages(found.files).mean:.4f}")

    def _by_vectors(
        self,
        contender: Contender,
        dataset: Dataset,
        collections: Mapping[str, Collection],
        cache: EmbeddingCache,
    ) -> dense.Order:
        embedder = contender.embedder()
        asked = embedder.embed_queries([query.query for query in dataset.queries])
        questions = {query.id: row for query, row in zip(dataset.queries, asked, strict=True)}
        vectors = {}
        for name, some in collections.items():
            vectors[name] = dense.embedded(embedder, some.texts, cache)
            _tell(f"{contender.name}: {name}")
        return dense.by_vectors(vectors, questions)

    def _searches(self, contenders: Sequence[Contender]) -> dict[str, Mapping[str, object]]:
        """The product's search: lexical, without reranking, by default, and with each model."""
        unranked = {"rerank.provider": "none"}
        searches: dict[str, Mapping[str, object]] = {
            hybrid.WORDS: {},
            NOT_RERANKED: unranked,
            DEFAULT: {},
        }
        for contender in contenders:
            if contender.kind == "reranker" and not contender.described().ranking:
                why = "Its model.json does not say what its judgement counts"
                advice = "`python -m benchmarks.ranking.rerank` finds the numbers."
                self._leave_out(f"{contender.name} in the hybrid", f"{why}; {advice}")
            elif not contender.is_default:
                searches |= contender.searches()
        for name, *given in self._options.variant:
            searches[name] = dict(_setting(text) for text in given)
        return searches

    def _hybrid(self, contenders: Sequence[Contender], dataset: Dataset) -> Iterator[str]:
        """Lines about the times of each search; its NDCG goes to the rows."""
        base: Sequence[figures.Scored] | None = None
        mode = Mode(self._options.mode)
        for name, settings in self._searches(contenders).items():
            try:
                done, notes = hybrid.run(
                    dataset, self._options.repos_dir, name, settings, self._kept, mode
                )
            except AsterismError as error:
                self._leave_out(name, error)
                continue
            scored = hybrid.scored(done, dataset)
            base = scored if name == NOT_RERANKED else base
            told = name if mode is Mode.hybrid else name.replace("hybrid", "by meaning alone")
            self._rows.append(Row(told, scored, None if name == NOT_RERANKED else base))
            _tell(f"{name}: {figures.over_languages(scored).mean:.4f}")
            if self._options.runs:
                self._options.runs.mkdir(parents=True, exist_ok=True)
                save_run(self._options.runs / f"{name.replace('/', '-')}.json", done)
            took = times(done)
            yield (
                f"- {name}: a question {took.query_p50_ms:.1f} ms "
                f"({took.query_p50_cpu_ms:.1f} CPU), nine in ten within {took.query_p90_ms:.1f} ms"
            )
            yield from (f"  - noted while searching: {note}" for note in notes[:5])


def _joined(sets: Sequence[Dataset]) -> Dataset:
    """Several sets as one; they have to compare paths alike."""
    if len({some.match for some in sets}) > 1:
        raise UsageError("The sets compare paths differently; measure them one after the other.")
    queries = [query for some in sets for query in some.queries]
    if len({query.id for query in queries}) < len(queries):
        raise UsageError("Two questions have the same id; give each set once.")
    checkouts = {name: one for some in sets for name, one in some.checkouts.items()}
    return replace(sets[0], queries=queries, checkouts=checkouts)


def _spread(texts: Sequence[str], count: int) -> Sequence[str]:
    """So many of them, from everywhere."""
    return texts[:: max(1, len(texts) // count)]


def _setting(text: str) -> tuple[str, object]:
    key, sign, value = text.partition("=")
    if not sign:
        raise UsageError(f"{text!r} is not of the form key=value; write it so.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _cost_lines(spent: Mapping[Contender, costs.Costs]) -> list[str]:
    head = (
        "model", "kind", "MB on disk", "load, CPU s", "texts a CPU s", "question, CPU ms",
        "question, ms", "memory, MB",
    )  # fmt: skip
    lines = [
        [
            contender.name,
            contender.kind,
            f"{contender.described().size / costs.MEGABYTE:.1f}",
            f"{cost.load_cpu_s:.2f}",
            f"{cost.texts_per_cpu_s:,.0f}",
            f"{cost.query_cpu_ms:.2f}",
            f"{cost.query_ms:.2f}",
            f"{cost.memory_mb:.0f}",
        ]
        for contender, cost in spent.items()
    ]
    return table(head, lines) if lines else []


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
