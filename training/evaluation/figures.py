"""Figures of many questions: means over languages, how sure they are, and tables of them."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism.evaluation.summaries import (
    GROUPS_AT_LEAST,
    BootstrapOptions,
    Interval,
    draws_groups,
    mean,
    paired_difference,
)
from asterism.evaluation.tables import NOTHING, table

Floats = NDArray[np.float64]

# Where the mean alone is shown.
ONE_DRAW = BootstrapOptions(draws=1)


class Scored(NamedTuple):
    """How well one question was answered."""

    id: str
    repo: str
    language: str
    category: str
    value: float
    by_file: float
    """The same with files for targets, whatever lines they name."""


Value = Callable[[Scored], float]


def over_languages(
    scored: Sequence[Scored],
    value: Value = lambda one: one.value,
    options: BootstrapOptions = BootstrapOptions(),  # noqa: B008 - immutable
) -> Interval:
    """The mean over languages of the means of their repositories, with its interval.

    What is drawn are languages, with repositories of each of them; where there are few languages,
    repositories of each; where there are few of both, questions of each repository.
    """
    if not scored:
        return Interval(0.0, 0.0, 0.0)
    cells: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in scored:
        cells[one.language][one.repo].append(value(one))
    languages = [[np.array(values) for values in repos.values()] for repos in cells.values()]
    chance = np.random.default_rng(options.seed)
    if draws_groups([one.repo for one in scored]):
        drawn = [
            _redrawn(np.array([values.mean() for values in repos]), options.draws, chance)
            for repos in languages
        ]
    else:
        drawn = [
            np.mean([_redrawn(values, options.draws, chance) for values in repos], axis=0)
            for repos in languages
        ]
    outcomes = _drawn_languages(np.stack(drawn), chance)
    mean_of_all = mean(mean(float(values.mean()) for values in repos) for repos in languages)
    outside = (1 - options.confidence) / 2
    low, high = np.quantile(outcomes, [outside, 1 - outside])
    return Interval(mean_of_all, float(low), float(high))


def _redrawn(values: Floats, draws: int, chance: np.random.Generator) -> Floats:
    """The mean of each draw of as many values."""
    means: Floats = values[chance.integers(len(values), size=(draws, len(values)))].mean(axis=1)
    return means


def _drawn_languages(drawn: Floats, chance: np.random.Generator) -> Floats:
    """The mean of each draw of languages, or of all of them where they are few."""
    count, draws = drawn.shape
    if count >= GROUPS_AT_LEAST:
        chosen = chance.integers(count, size=(draws, count)).T
        drawn = drawn[chosen, np.arange(draws)]
    means: Floats = drawn.mean(axis=0)
    return means


class Row(NamedTuple):
    """What was measured, and the row that it is compared with."""

    name: str
    scored: Sequence[Scored]
    against: Sequence[Scored] | None = None


def overview(rows: Sequence[Row]) -> list[str]:
    """A line for each row: all questions, by file where that is another figure, each category."""
    categories = sorted({one.category for row in rows for one in row.scored})
    by_lines = any(one.value != one.by_file for row in rows for one in row.scored)
    head = ["NDCG@10, mean of languages", "n", "all (95 %)", *(["by file"] if by_lines else [])]
    lines = [
        [
            row.name,
            f"{len(row.scored):,}",
            shown(over_languages(row.scored)),
            *([f"{over_languages(row.scored, _by_file, ONE_DRAW).mean:.3f}"] if by_lines else []),
            *(_of(row.scored, "category", name) for name in categories),
            _difference(row),
        ]
        for row in rows
    ]
    return table([*head, *categories, "difference (95 %)"], lines)


def by_language(rows: Sequence[Row]) -> list[str]:
    """A line for each language, a column for each row."""
    languages = sorted({one.language for row in rows for one in row.scored})
    lines = [
        [
            language or "(none)",
            *(_of(row.scored, "language", language) for row in rows),
        ]
        for language in languages
    ]
    return table(["language", *(row.name for row in rows)], lines)


def shown(interval: Interval) -> str:
    """A mean with its bounds."""
    return f"{interval.mean:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def _of(scored: Sequence[Scored], field: str, wanted: str) -> str:
    some = [one for one in scored if getattr(one, field) == wanted]
    return f"{over_languages(some, options=ONE_DRAW).mean:.3f}" if some else NOTHING


def _by_file(one: Scored) -> float:
    return one.by_file


def _difference(row: Row) -> str:
    """Over the questions that both have, each of them counting the same."""
    if row.against is None:
        return NOTHING
    known = {one.id: one.value for one in row.against}
    both = [one for one in row.scored if one.id in known]
    change = paired_difference(
        [known[one.id] for one in both], [one.value for one in both], [one.repo for one in both]
    )
    return f"{change.mean:+.3f} ({change.low:+.3f} to {change.high:+.3f})"
