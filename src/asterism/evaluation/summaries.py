"""Means, times and bootstrap confidence intervals of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from asterism.evaluation.replies import ReplyMeasures
from asterism.evaluation.runs import FunctionMeasures, Json, Measures, QueryResult, Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# With fewer groups the draws have too few different outcomes to say anything.
GROUPS_AT_LEAST = 5


@dataclass(frozen=True, slots=True)
class BootstrapOptions:
    """How often is drawn, and how much of the outcomes an interval holds."""

    draws: int = 10_000
    """Other seeds then move the bounds by 0.001 with 420 queries, by 0.003 with 21 repositories."""
    confidence: float = 0.95
    seed: int = 1


class Interval(NamedTuple):
    """A mean and the bounds it stays within."""

    mean: float
    low: float
    high: float


class Difference(NamedTuple):
    """What the second of two runs gained over the first, on the same queries."""

    mean: float
    low: float
    high: float
    chance_of_gain: float
    """The share of draws in which the second was better; a draw without a difference is half."""


def interval(
    values: Sequence[float],
    groups: Sequence[str],
    options: BootstrapOptions = BootstrapOptions(),  # noqa: B008 - immutable
) -> Interval:
    """The mean of values and its interval; `groups` names the repository of each value."""
    if not values:
        return Interval(0.0, 0.0, 0.0)
    drawn = _drawn_means(values, groups, options)
    return Interval(sum(values) / len(values), *_bounds(drawn, options.confidence))


def paired_difference(
    before: Sequence[float],
    after: Sequence[float],
    groups: Sequence[str],
    options: BootstrapOptions = BootstrapOptions(),  # noqa: B008 - immutable
) -> Difference:
    """What changed between two runs over the same queries, in the same order."""
    if not before:
        return Difference(0.0, 0.0, 0.0, 0.5)
    gains = [new - old for old, new in zip(before, after, strict=True)]
    drawn = _drawn_means(gains, groups, options)
    chance = float((drawn > 0).mean() + (drawn == 0).mean() / 2)
    low, high = _bounds(drawn, options.confidence)
    return Difference(sum(gains) / len(gains), low, high, chance)


def draws_groups(groups: Sequence[str]) -> bool:
    """Whether there are enough groups to draw whole ones."""
    return len(set(groups)) >= GROUPS_AT_LEAST


def _drawn_means(
    values: Sequence[float], groups: Sequence[str], options: BootstrapOptions
) -> NDArray[np.float64]:
    """The mean of each draw; a unit is a group or, where there are few, a value."""
    import numpy as np

    if len(values) != len(groups):
        raise ValueError("every value needs its group")
    names = sorted(set(groups))
    numbers = {name: number for number, name in enumerate(names)}
    units = [numbers[group] for group in groups] if draws_groups(groups) else range(len(values))
    sums = np.bincount(units, weights=values)
    counts = np.bincount(units)
    chosen = np.random.default_rng(options.seed).integers(
        len(sums), size=(options.draws, len(sums)), dtype=np.int32
    )
    means: NDArray[np.float64] = sums[chosen].sum(axis=1) / counts[chosen].sum(axis=1)
    return means


def _bounds(drawn: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    import numpy as np

    outside = (1 - confidence) / 2
    low, high = np.quantile(drawn, [outside, 1 - outside])
    return float(low), float(high)


Value: TypeAlias = Callable[[QueryResult], float]


class Averages(NamedTuple):
    """The mean of a measure, with three ideas of what counts the same."""

    queries: float
    repositories: float
    """Of the repositories' means."""
    languages: float
    """Of the languages' means, each over the means of what its repositories have of it."""


class Times(NamedTuple):
    """What a run cost in time and memory."""

    query_p50_ms: float
    query_p90_ms: float
    query_p50_cpu_ms: float
    query_p90_cpu_ms: float
    index_seconds: float
    index_cpu_seconds: float
    peak_bytes: int


def averages(results: Sequence[QueryResult], value: Value) -> Averages:
    """The means of one measure."""
    languages: dict[str, list[float]] = defaultdict(list)
    repositories: list[float] = []
    for of_repository in grouped(results, lambda result: result.repo).values():
        repositories.append(mean(map(value, of_repository)))
        for language, found in grouped(of_repository, lambda result: result.language).items():
            languages[language].append(mean(map(value, found)))
    return Averages(
        mean(map(value, results)), mean(repositories), mean(map(mean, languages.values()))
    )


def times(run: Run) -> Times:
    """Percentiles over queries, sums over repositories."""
    milliseconds = [result.ms for result in run.results]
    cpu = [result.cpu_ms for result in run.results]
    return Times(
        percentile(milliseconds, 50),
        percentile(milliseconds, 90),
        percentile(cpu, 50),
        percentile(cpu, 90),
        sum(building.seconds for building in run.buildings),
        sum(building.cpu_seconds for building in run.buildings),
        run.peak_bytes,
    )


def summary_json(run: Run) -> Json:
    """The figures of a run for programs."""
    results = answerable(run.results)
    return {
        "queries": len(results),
        "unanswerable": len(run.results) - len(results),
        "measures": {
            name: averages(results, lambda found: getattr(found.measures, name))._asdict()  # noqa: B023
            for name in Measures._fields
            if name != "first_tokens"
        },
        "functions": _means_of([one.functions for one in results]),
        "replies": _means_of([one.reply for one in results]),
        "median_first_tokens": median_first_tokens(results),
        "times": times(run)._asdict(),
    }


def _means_of(measured: Sequence[FunctionMeasures | ReplyMeasures | None]) -> Json | None:
    """The mean of each field, over the results that have it; None where none has."""
    known = [one._asdict() for one in measured if one is not None]
    return {name: mean(one[name] for one in known) for name in known[0]} if known else None


def answerable(results: Iterable[QueryResult]) -> list[QueryResult]:
    """Those that could have been right: the only ones that means are taken of."""
    return [result for result in results if result.is_answerable]


def median_first_tokens(results: Sequence[QueryResult]) -> int | None:
    """The median of the tokens to the first hit; a query without a hit costs more than any other.

    So a tool cannot look cheap by finding only what is easy. None where half found nothing.
    """
    costs = sorted(
        (cost is None, cost or 0) for cost in (result.measures.first_tokens for result in results)
    )
    if not costs:
        return None
    missed, cost = costs[len(costs) // 2]
    return None if missed else cost


def grouped(
    results: Iterable[QueryResult], key: Callable[[QueryResult], str]
) -> Mapping[str, Sequence[QueryResult]]:
    """The results by a key, in the order of the keys."""
    groups: dict[str, list[QueryResult]] = defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    return dict(sorted(groups.items()))


def mean(values: Iterable[float]) -> float:
    """The mean, 0 of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def percentile(values: Sequence[float], percent: float) -> float:
    """The value at the nearest rank, 0 of nothing."""
    ordered = sorted(values)
    return ordered[round(percent / 100 * (len(ordered) - 1))] if ordered else 0.0
