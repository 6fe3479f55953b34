"""Fits the curves from log-odds to probabilities: questions asked of their own and of other code.

    python -m training.evaluation.calibration QUESTIONS.jsonl --repos-dir CHECKOUTS [--others 3]

A line of QUESTIONS has `repo`, `query` and `wanted` (`path`, `name`, `start` and `end` of each
symbol; none if there is no answer). Each question is asked of its own checkout and of some others,
where nothing is right. Prints the curves for `search/ranking/symbol_weights.py`, how often hits are
right by their score, and what a floor of the score shows and loses, each repository left out of the
fit in turn.
"""

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.config.model_sections import RerankSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.models.rerank.options import Provider
from asterism.search.ranking import symbol_order
from asterism.search.ranking.recipe import Grounds, probabilities
from asterism.search.ranking.symbol_weights import Calibration
from asterism.store.registry import Registered
from asterism.types.search import Hit
from training.inputs import present

HITS = 10
NAMES = ("offset", "slope", "first", "margin", "cosine", "unsaid", "near", "read")
BINS = 10
ELSEWHERE = 0.5
"""What a question counts that was asked of other code."""
PENALTY = 1e-3
STEPS = 60
CURVES: tuple[tuple[Provider, str], ...] = (("auto", "_HYBRID"), ("none", "_UNREAD"))
FLOORS = (0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """What one search gave: a row of numbers for each hit, and which are right."""

    repo: str
    """Where it was asked."""
    home: str
    """What the question is about."""
    answerable: bool
    rows: Array
    right: Array


@dataclass
class Watch:
    """Keeps what the probabilities of a search are made of."""

    odds: Sequence[float] = ()
    grounds: Grounds = field(default_factory=Grounds)

    def __post_init__(self) -> None:
        self._plain = probabilities
        symbol_order.probabilities = self._keep  # type: ignore[attr-defined]

    def asked(self, search: Callable[[], list[Hit]]) -> tuple[list[Hit], Array]:
        """The hits of a search, and their rows; none where it ranks no symbols."""
        self.odds = ()
        hits = search()
        return hits, self.rows(len(hits))

    def _keep(self, odds: Sequence[float], grounds: Grounds, curve: Calibration) -> list[float]:
        self.odds, self.grounds = odds, grounds
        return self._plain(odds, grounds, curve)

    def rows(self, count: int) -> Array:
        """A row for each of the first hits, in the order of `NAMES`."""
        margin = self.odds[0] - self.odds[1] if len(self.odds) > 1 else 0.0
        grounds = tuple(self.grounds)
        found = [
            (1.0, odds, float(not number), 0.0 if number else margin, *grounds)
            for number, odds in enumerate(self.odds[:count])
        ]
        return np.array(found, dtype=np.float64).reshape(-1, len(NAMES))


def is_wanted(hit: Hit, wanted: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a hit is one of the symbols that answer."""
    chunk = hit.chunk
    return any(
        chunk.relative_path == one["path"]
        and chunk.name == one["name"].replace("::", ".").replace("#", ".").rpartition(".")[2]
        and chunk.start_line <= one["end"]
        and chunk.end_line >= one["start"]
        for one in wanted
    )


def plan_of(rows: Sequence[Mapping[str, Any]], others: int) -> dict[str, list[Mapping[str, Any]]]:
    """The questions that each checkout is asked."""
    names = sorted({_name(row) for row in rows})
    chance = random.Random(22)
    plan: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        plan[_name(row)].append(row)
        if row["wanted"]:
            rest = [name for name in names if name != _name(row)]
            for name in chance.sample(rest, min(others, len(rest))):
                plan[name].append(row)
    return plan


def _name(row: Mapping[str, Any]) -> str:
    return str(row["repo"]).rpartition("/")[2]


def ask(
    plan: Mapping[str, Sequence[Mapping[str, Any]]], checkouts: Path, engine: Engine
) -> Iterator[Asked]:
    """Every question that a search ranks symbols for."""
    watch = Watch()
    for name, rows in sorted(plan.items()):
        registered = engine.register((checkouts / name).resolve())
        engine.index(registered)
        for row in rows:
            request = SearchRequest(text=row["query"], limit=HITS, spread=False)
            hits, numbers = watch.asked(partial(_hits, engine, registered, request))
            if not len(numbers):
                continue
            home = name == _name(row)
            right = [float(home and is_wanted(hit, row["wanted"])) for hit in hits]
            answerable = home and bool(row["wanted"])
            yield Asked(name, _name(row), answerable, numbers, np.array(right)[: len(numbers)])
        sys.stderr.write(f"{name}: {len(rows)}\n")


def _hits(engine: Engine, registered: Registered, request: SearchRequest) -> list[Hit]:
    return [kept.hit for kept in engine.search(registered, request).selection.kept]


def fit(asked: Sequence[Asked], used: Sequence[int]) -> Array:
    """A logistic curve by Newton's method; what is not used counts nothing."""
    numbers = np.concatenate([one.rows for one in asked])[:, used]
    right = np.concatenate([one.right for one in asked])
    weight = np.concatenate(
        [np.full(len(one.rows), 1.0 if one.answerable else ELSEWHERE) for one in asked]
    )
    scale = np.maximum(np.abs(numbers).max(0), 1e-9)
    scaled = numbers / scale
    found = np.zeros(len(used))
    for _step in range(STEPS):
        odds = 1.0 / (1.0 + np.exp(-scaled @ found))
        slope = scaled.T @ (weight * (right - odds)) - PENALTY * found
        curve = (scaled * (weight * odds * (1 - odds))[:, None]).T @ scaled
        found = found + np.linalg.solve(curve + PENALTY * np.eye(len(used)), slope)
    values = np.zeros(len(NAMES))
    values[list(used)] = found / scale
    return values


def scores(asked: Asked, curve: Array) -> Array:
    """The probabilities of the hits."""
    result: Array = 1.0 / (1.0 + np.exp(-asked.rows @ curve))
    return result


def calibration_error(told: Array, right: Array) -> float:
    """The expected calibration error over bins of equal width."""
    number = np.minimum((told * BINS).astype(int), BINS - 1)
    return float(
        sum(
            abs(told[number == one].mean() - right[number == one].mean()) * (number == one).mean()
            for one in range(BINS)
            if (number == one).any()
        )
    )


def report(asked: Sequence[Asked], used: Sequence[int]) -> Iterator[str]:
    """The curve of all, and what it does to repositories that are left out of the fit."""
    curve = fit(asked, used)
    numbers = ", ".join(f"{NAMES[one]}={curve[one]:.2f}" for one in used)
    yield f"Calibration({numbers})"
    told: list[tuple[Asked, Array]] = []
    for repo in sorted({one.home for one in asked}):
        others = [one for one in asked if repo not in (one.home, one.repo)]
        without = fit(others, used)
        told += [(one, scores(one, without)) for one in asked if one.home == repo]
    every = np.concatenate([some for _one, some in told])
    right = np.concatenate([one.right for one, _some in told])
    yield f"{len(every)} pairs, expected calibration error {calibration_error(every, right):.3f}"
    for low in np.arange(BINS) / BINS:
        here = (every >= low) & (every < low + 1 / BINS)
        if here.any():
            said, true = every[here].mean(), right[here].mean()
            yield f"  {low:.1f}  {here.sum():5} pairs  said {said:.2f}  right {true:.2f}"
    found = [(one, some) for one, some in told if one.answerable]
    wrong = [some for one, some in told if not one.answerable]
    known = [some for one, some in found if one.right.any()]
    for floor in FLOORS:
        shown, lost, right_lost = (
            100 * np.mean([(some.max() >= floor) == kept for some in part])
            for part, kept in (
                (wrong, True),
                ([some for _one, some in found], False),
                (known, False),
            )
        )
        yield (
            f"  floor {floor:.2f}: {shown:3.0f} % shown without an answer,"
            f" {lost:3.0f} % lost, {right_lost:3.0f} % of those with a right hit"
        )


def _settings(provider: Provider, _root: Path) -> Settings:
    return Settings(rerank=RerankSettings(provider=provider))


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask with and without the encoder, fit, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=present, nargs="+")
    parser.add_argument("--repos-dir", type=present, required=True)
    parser.add_argument("--others", type=int, default=3)
    given = parser.parse_args(arguments)
    rows = [json.loads(line) for path in given.questions for line in path.open(encoding="utf-8")]
    plan = plan_of(rows, given.others)
    with TemporaryDirectory() as kept:
        places = DataDirectories(Path(kept) / "data", Path(kept) / "cache")
        for provider, name in CURVES:
            engine = Engine(places, partial(_settings, provider))
            asked = [*ask(plan, given.repos_dir, engine)]
            used = range(len(NAMES)) if provider == "auto" else range(len(NAMES) - 1)
            print(name, "=", *report(asked, used), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
