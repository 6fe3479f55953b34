"""What the evidence counts with the vectors of a model: the numbers for its folder, fitted anew.

    python -m benchmarks.ranking.refit DATASET --repos-dir DIR [--model FOLDER] [--vectors DIR]
        [--index-dir DIR] [--beside DATASET --beside-repos-dir DIR [--share PART]]
        [--change-requests] [--weight NAME]... [--every] [--folds N] [-o NUMBERS.json]

Every question's candidates are found by its words and by the model's vectors of all chunks. The
chosen weights are fitted by listwise logistic regression, beginning with one for each, on all
languages but some and measured on those, in turn (as many `--folds` as there are languages leave
out one at a time); the others count as they do. Then they are fitted on everything, and so are the
curves from log-odds to probabilities, with questions to a repository of another language as those
that have no answer. The numbers belong into the model's `model.json`, as `ranking`.

`--vectors` holds a file `<repository>.npz` for each repository, with `ids` of chunks and `vectors`:
then no chunk is embedded here. Without it the model reads every chunk, some 180 a second
and core. Without `--model` the built-in one is meant.

A second set of questions, `--beside` the first, counts `--share` as much as all of the first, and
is measured as well; a language that is left out is left out of both.

With `--change-requests` only change requests are asked, and their weights are
fitted; topic queries are left out. The dataset may be one of
`training.evaluation.change_requests`.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.rerank import PREFIX
from asterism.engine.stores import DataDirectories
from asterism.evaluation.datasets import Dataset, load_dataset
from asterism.evaluation.summaries import mean, paired_difference
from asterism.evaluation.tables import table
from asterism.search.query.parse import understand
from asterism.search.ranking.options import OF_VECTORS, RankOptions, Weights
from asterism.search.recall import Pools
from asterism.types.errors import UsageError
from benchmarks.ranking.datasets import add_arguments, count_of, given_sets
from benchmarks.ranking.refit_cases import CHANGES, USUAL, Case, Models, cases
from benchmarks.ranking.regression import FOLDS, Curve, List, fit_curve, fit_near, folds

TOPICS = "weights"
# Fitted with `--every` and for change requests; the others are set by hand.
ALL = (
    *OF_VECTORS, "text", "text_sum", "name", "said", "said_at_once", "signature",
    "offers", "length", "properties", "type_found", "stem_whole", "folder_named", "depth",
    "importer_near", "folder_near", "definition_file",
)  # fmt: skip
# Of evidence, what speaks against a file.
AGAINST = frozenset({"depth", "properties", "type_found"})


def only_change_requests(dataset: Dataset) -> Dataset:
    """The dataset without the questions that name a topic."""
    changes = (query for query in dataset.queries if understand(query.query).is_change_request)
    return replace(dataset, queries=tuple(changes))


def with_weights(names: Sequence[str], values: Sequence[float], field: str) -> RankOptions:
    """The usual recipe with other weights, of topic queries or change requests."""
    changed = replace(getattr(USUAL, field), **dict(zip(names, values, strict=True)))
    return replace(USUAL, **{field: changed})


def fitted(known: Sequence[tuple[List, float]], names: Sequence[str]) -> list[float]:
    """The weights of evidence, from questions and what each counts."""
    usual = [-1.0 if name in AGAINST else 1.0 for name in names]
    lists, counts = [own for own, _ in known], [count for _, count in known]
    found: list[float] = fit_near(lists, counts, usual).tolist()
    return found


def cross_validated(
    some: Sequence[Case], names: Sequence[str], field: str, count: int = FOLDS
) -> list[RankOptions]:
    """For each question the recipe with weights that its language had no part in."""
    lists = [case.evidence(names) for case in some]
    found = [USUAL] * len(some)
    for languages in folds({case.query.language for case in some}, count):
        out = [case.query.language in languages for case in some]
        others = zip(some, lists, out, strict=True)
        known = [(own, case.count) for case, own, left in others if not left and case.has(field)]
        options = with_weights(names, fitted(known, names), field) if known else USUAL
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


def reports(some: Sequence[Case], options: Sequence[RankOptions]) -> Iterator[list[str]]:
    """A table for each set of questions."""
    pairs = list(zip(some, options, strict=True))
    for dataset in {id(case.dataset): case.dataset for case in some}.values():
        own = [(case, fit) for case, fit in pairs if case.dataset is dataset]
        yield report([case for case, _ in own], [fit for _, fit in own])


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
    for lines in reports(some, cross_validated(some, names, field, count)):
        print("\n".join(lines), end="\n\n")
    known = [(case.evidence(names), case.count) for case in some if case.has(field)]
    weights = [round(one, 2) for one in fitted(known, names)]
    options = with_weights(names, weights, field)
    numbers = {f"{field}.{name}": value for name, value in zip(names, weights, strict=True)}
    for name, by_meaning in (("calibration", False), ("by_meaning", True)):
        curved = curve(every, options, by_meaning=by_meaning)
        numbers |= {f"{name}.{part}": round(value, 2) for part, value in curved.items()}
    return {f"{PREFIX}{name}": value for name, value in numbers.items()}


def shared(asked: Sequence[Case], before: Sequence[Case], share: float) -> list[Case]:
    """Questions that count so much together, beside all of those before them."""
    first = sum(case.answerable for case in before)
    own = sum(case.answerable for case in asked)
    return [replace(case, count=count_of(first, own, share)) for case in asked]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and the numbers."""
    known = [field.name for field in fields(Weights)]
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--index-dir", type=Path, help="keep indexes here")
    parser.add_argument("--model", type=Path, help="the folder of an encoder")
    parser.add_argument("--vectors", type=Path, help="those that were made elsewhere")
    parser.add_argument(
        "--change-requests", action="store_true", help="fit the weights of change requests"
    )
    parser.add_argument("--weight", action="append", choices=known, help="to be fitted")
    parser.add_argument("--every", action="store_true", help="all that are not set by hand")
    parser.add_argument("--folds", type=int, default=FOLDS, help="of languages; %(default)s")
    parser.add_argument("-o", "--output", type=Path)
    given: Any = parser.parse_args(arguments)
    with ExitStack() as stack:
        kept = given.index_dir or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engine = Engine(DataDirectories(kept / "data", kept / "cache"), lambda _root: Settings())
        models = Models(str(given.model.resolve()) if given.model else None, given.vectors)
        every: list[Case] = []
        for path, repos in given_sets(given):
            dataset = load_dataset(path)
            if given.change_requests:
                dataset = only_change_requests(dataset)
            asked = [*cases(dataset, repos, engine, models)]
            every += shared(asked, every, given.share)
    field = CHANGES if given.change_requests else TOPICS
    usual = ALL if given.change_requests or given.every else OF_VECTORS
    numbers = run(every, given.weight or usual, field, max(given.folds, 2))
    text = json.dumps(numbers, indent=2)
    print(f"\n{text}")
    if given.output:
        given.output.write_text(f"{text}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
