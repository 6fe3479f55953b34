"""Fits the curves from log-odds to probabilities: questions asked of their own and of other code.

    python -m training.evaluation.calibration QUESTIONS.jsonl --repos-dir CHECKOUTS [--others 3]

A line of QUESTIONS has `repo`, `query` and `wanted` (`path`, `name`, `start` and `end` of each
symbol; none if there is no answer). Each question is asked of its own checkout and of some others,
where nothing is right. Two curves are fitted: whether the question has an answer there, and which
hit it is if it has. Prints them for `search/ranking/symbol_weights.py`, how often hits are right by
their score, and what a floor of the best score shows and loses, each repository left out in turn.
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
from typing import Any, NamedTuple

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
HIT = ("offset", "slope", "first", "margin")
ANSWER = ("offset", "cosine", "unsaid", "near", "read")
BINS = 10
ANSWERED = 0.75
"""The share of questions that have an answer: all others together count the rest."""
PENALTY = 1e-3
STEPS = 60
SMALLEST = 1e-9
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
    grounds: Array
    """In the order of `ANSWER`."""
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
        """A row for each of the first hits, in the order of `HIT`."""
        margin = self.odds[0] - self.odds[1] if len(self.odds) > 1 else 0.0
        found = [
            (1.0, odds, float(not number), 0.0 if number else margin)
            for number, odds in enumerate(self.odds[:count])
        ]
        return np.array(found, dtype=np.float64).reshape(-1, len(HIT))


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
            grounds = np.array([1.0, *watch.grounds])
            yield Asked(name, _name(row), answerable, grounds, numbers, np.array(right))
        sys.stderr.write(f"{name}: {len(rows)}\n")


def _hits(engine: Engine, registered: Registered, request: SearchRequest) -> list[Hit]:
    return [kept.hit for kept in engine.search(registered, request).selection.kept]


class Curves(NamedTuple):
    """Weights of the numbers of a hit, and of the grounds."""

    hit: Array
    answer: Array

    def scores(self, asked: Asked) -> Array:
        """The probabilities of the hits."""
        return _logistic(asked.grounds @ self.answer) * _logistic(asked.rows @ self.hit)


def fit(asked: Sequence[Asked], used: int) -> Curves:
    """Both curves; of the grounds only the first ones are used."""
    found = [one for one in asked if one.answerable]
    rows = np.concatenate([one.rows for one in found])
    right = np.concatenate([one.right for one in found])
    grounds = np.array([one.grounds[:used] for one in asked])
    answered = np.array([float(one.answerable) for one in asked])
    share = answered.mean()
    weight = np.where(answered > 0, ANSWERED / share, (1 - ANSWERED) / (1 - share))
    answer = np.zeros(len(ANSWER))
    answer[:used] = _regression(grounds, answered, weight)
    return Curves(_regression(rows, right, np.ones(len(right))), answer)


def _regression(numbers: Array, right: Array, weight: Array) -> Array:
    """Logistic regression by Newton's method."""
    scale = np.maximum(np.abs(numbers).max(0), SMALLEST)
    scaled = numbers / scale
    found = np.zeros(numbers.shape[1])
    for _step in range(STEPS):
        odds = _logistic(scaled @ found)
        slope = scaled.T @ (weight * (right - odds)) - PENALTY * found
        curve = (scaled * (weight * odds * (1 - odds))[:, None]).T @ scaled
        found = found + np.linalg.solve(curve + PENALTY * np.eye(len(found)), slope)
    result: Array = found / scale
    return result


def _logistic(odds: Array) -> Array:
    result: Array = 1.0 / (1.0 + np.exp(-odds))
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


def report(asked: Sequence[Asked], used: int) -> Iterator[str]:
    """The curves of all, and what they do to repositories that are left out of the fit."""
    curves = fit(asked, used)
    hit, answer = (
        ", ".join(f"{name}={value:.2f}" for name, value in zip(names, values, strict=True) if value)
        for names, values in ((HIT, curves.hit), (ANSWER, curves.answer))
    )
    yield f"Calibration({hit}, answer=AnswerCurve({answer}))"
    told: list[tuple[Asked, Array]] = []
    for repo in sorted({one.home for one in asked}):
        without = fit([one for one in asked if repo not in (one.home, one.repo)], used)
        told += [(one, without.scores(one)) for one in asked if one.home == repo]
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
            used = len(ANSWER) if provider == "auto" else len(ANSWER) - 1
            print(name, "=", *report(asked, used), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
