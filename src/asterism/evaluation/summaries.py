"""A run in a few figures: means over queries, repositories and languages, and times."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from asterism.evaluation.metrics import Measures
from asterism.evaluation.runs import Json, Result, Run

Value: TypeAlias = Callable[[Result], float]


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


def averages(results: Sequence[Result], value: Value) -> Averages:
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
        "median_first_tokens": median_first_tokens(results),
        "times": times(run)._asdict(),
    }


def answerable(results: Iterable[Result]) -> list[Result]:
    """Those that could have been right: the only ones that means are taken of."""
    return [result for result in results if result.is_answerable]


def median_first_tokens(results: Sequence[Result]) -> int | None:
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
    results: Iterable[Result], key: Callable[[Result], str]
) -> Mapping[str, Sequence[Result]]:
    """The results by a key, in the order of the keys."""
    groups: dict[str, list[Result]] = defaultdict(list)
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
