"""Fits the weights of symbols: queries with the symbols, or the files, that answer them.

    python -m training.evaluation.symbols QUERIES --repos-dir CHECKOUTS
        [--files FILE --files-dir DIR]

A line of QUERIES has `repo`, `query` and `wanted` (path and qualified name of each symbol); a
checkout lies in CHECKOUTS under the name of its repository. `--files` names a second set, whose
lines have `targets` with paths: there the best symbol of a file represents it. The features are
those that a search computes. Prints the weights for `search/ranking/symbol_weights.py` and, for
each repository left out of the fit, how often a wanted symbol is among the first ten.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, fields
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.search.query.parse import understand
from asterism.search.ranking import symbol_order
from asterism.search.ranking.symbol_order import EncoderScores, Scored
from asterism.search.ranking.symbol_weights import LONG, SHORT, SymbolFeatures
from training.inputs import present

NAMES = tuple(field.name for field in fields(SymbolFeatures))
Array = NDArray[np.float64]
STEPS = 100
RATE = 0.04
TOWARDS = 0.04
"""How strongly weights are drawn to where they start; 0.02 and 0.1 were as good."""
SHARE = 2.0
"""What the questions about files count beside those about symbols."""


class Case(NamedTuple):
    """A query with its candidates."""

    repo: str
    is_long: bool
    features: Array
    right: Array
    """1 for each wanted candidate."""
    files: NDArray[np.int64] | None = None
    """The file of each candidate, where files are wanted."""


def fit(cases: Sequence[Case], start: Array, steps: int = STEPS) -> Array:
    """Weights by listwise softmax regression, regularised towards `start`; Adam."""
    usable = [case for case in cases if case.right.any()]
    weights, first, second = start.copy(), np.zeros_like(start), np.zeros_like(start)
    by_file = sum(case.files is not None for case in usable)
    for step in range(1, steps + 1):
        gradient = -TOWARDS * (weights - start)
        for case in usable:
            total = by_file / SHARE if case.files is not None else len(usable) - by_file
            gradient += _gradient(case, weights) / total
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        update = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        weights = weights + RATE * update
    return weights


def _gradient(case: Case, weights: Array) -> Array:
    features, right = case.features, case.right
    if case.files is not None:
        best = _best_of_files(case, weights)
        features, right = features[best], right[best]
    scores = features @ weights
    odds = np.exp(scores - scores.max())
    gradient: Array = features.T @ (right / max(right.sum(), 1.0) - odds / odds.sum())
    return gradient


def _best_of_files(case: Case, weights: Array) -> NDArray[np.int64]:
    """The place of the best candidate of each file."""
    assert case.files is not None
    order = np.argsort(case.features @ weights, kind="stable")
    best = np.zeros(int(case.files.max()) + 1, dtype=np.int64)
    best[case.files[order]] = order
    return best


def found_within(cases: Iterable[Case], weights: Array, most: int) -> float:
    """The share of the queries that have a wanted candidate among the first."""
    hits = [
        case.right[np.argsort(-(case.features @ weights), kind="stable")[:most]].any()
        for case in cases
        if case.right.any()
    ]
    return float(np.mean(hits)) if hits else 0.0


def left_out(cases: Sequence[Case], start: Array, most: int = 10) -> dict[str, float]:
    """`found_within` for each repository, fitted on the others."""
    repos = sorted({case.repo for case in cases})
    return {
        repo: found_within(
            [case for case in cases if case.repo == repo],
            fit([case for case in cases if case.repo != repo], start),
            most,
        )
        for repo in repos
    }


class Watch:
    """Keeps the scored candidates of a search."""

    def __init__(self) -> None:
        self._scored: Sequence[Scored] = ()
        self._plain = symbol_order.with_encoder
        symbol_order.with_encoder = self._keep

    def _keep(
        self, scored: Sequence[Scored], read: EncoderScores, weights: SymbolFeatures
    ) -> list[Scored]:
        found = self._plain(scored, read, weights)
        self._scored = found
        return found

    def of(self, search: Callable[[], object]) -> Sequence[Scored]:
        """The candidates of one search; none where it ranks no symbols."""
        self._scored = ()
        search()
        return self._scored


def cases_of(rows: Iterable[dict[str, object]], checkouts: Path, engine: Engine) -> list[Case]:
    """Every query that a search ranks symbols for."""
    from asterism.engine.search import SearchRequest

    by_repo: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
    for row in rows:
        by_repo[str(row["repo"])].append(row)
    found: list[Case] = []
    watch = Watch()
    for repo, own in sorted(by_repo.items()):
        registered = engine.register((checkouts / repo).resolve())
        engine.index(registered)
        for row in own:
            query = str(row["query"])
            scored = watch.of(partial(engine.search, registered, SearchRequest(text=query)))
            if scored:
                found.append(_case(row, scored))
        sys.stderr.write(f"{repo}: {len(own)}\n")
    return found


def _case(row: dict[str, object], scored: Sequence[Scored]) -> Case:
    features = np.array([astuple(one.features) for one in scored], dtype=np.float64)
    is_long = understand(str(row["query"])).parts is not None
    repo = str(row["repo"])
    if "targets" in row:
        targets = {str(target["path"]) for target in row["targets"]}  # type: ignore[attr-defined]
        paths = [one.chunk.relative_path for one in scored]
        numbers = {path: number for number, path in enumerate(dict.fromkeys(paths))}
        right = np.array([float(path in targets) for path in paths])
        return Case(repo, is_long, features, right, np.array([numbers[path] for path in paths]))
    wanted = {tuple(entry) for entry in row["wanted"]}  # type: ignore[attr-defined]
    names = [(one.chunk.relative_path, one.chunk.qualified_name) for one in scored]
    return Case(repo, is_long, features, np.array([float(name in wanted) for name in names]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Collect the features, fit, and print the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("queries", type=present)
    parser.add_argument("--repos-dir", type=present, required=True)
    parser.add_argument("--files", type=present)
    parser.add_argument("--files-dir", type=present)
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as kept:
        places = DataDirectories(Path(kept) / "data", Path(kept) / "cache")
        engine = Engine(places, lambda _root: Settings())
        cases = cases_of(_rows(given.queries), given.repos_dir, engine)
        if given.files is not None:
            cases += cases_of(_rows(given.files), given.files_dir, engine)
    for name, is_long, start in (("SHORT", False, SHORT), ("LONG", True, LONG)):
        own = [case for case in cases if case.is_long == is_long]
        if not own:
            continue
        begin = np.array(astuple(start))
        for repo, share in left_out(own, begin).items():
            print(f"{name} without {repo}: {share:.2f}")
        weights = fit(own, begin)
        shown = ", ".join(
            f"{key}={value:.2f}" for key, value in zip(NAMES, weights, strict=True) if value
        )
        print(f"{name} = SymbolFeatures({shown})")
    return 0


def _rows(path: Path) -> list[dict[str, object]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


if __name__ == "__main__":
    sys.exit(main())
