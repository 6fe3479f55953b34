"""Regressions for `benchmarks.ranking.rerank`: what evidence counts, and what odds mean."""

from collections.abc import Collection, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Rows: TypeAlias = NDArray[np.float64]
List: TypeAlias = tuple[Rows, Rows]
"""Evidence for each file of a question, the ranking's log-odds first; and which are right."""
Curve: TypeAlias = dict[str, float]

FOLDS = 7
# Keeps weights that few questions speak of from growing.
RIDGE = 0.001
# What all questions together lose for each weight that is one away from what is usual, twice that
# in nats. Weights are regularised towards 1: regularisation towards 0
# overfits the queries (benchmarks/RESULTS.md, "Questions of readers"). From a
# third of this to ten times as much is the same to 0.002.
STRENGTH = 16.0
STEPS = 30
SMALLEST_STEP = 1e-3
# What the questions without an answer weigh beside those with one.
UNANSWERABLE = 0.5


def folds(languages: Collection[str], count: int = FOLDS) -> list[list[str]]:
    """Languages to leave out together."""
    ordered = sorted(languages)
    return [some for number in range(count) if (some := ordered[number::count])]


def fit_weights(
    lists: Sequence[List], counts: Sequence[float] | None = None, ridge: float = RIDGE
) -> Rows:
    """Weights of everything behind the first column, which counts as it is.

    Listwise logistic regression: of a question's files, the right ones should be the likely ones.
    `counts` says what each question counts beside the others, `ridge` how hard it is to leave zero.
    """
    each = zip(lists, counts or [1.0] * len(lists), strict=True)
    known = [(rows, right / right.sum(), count) for (rows, right), count in each if right.any()]
    weights = np.zeros(lists[0][0].shape[1] - 1) if lists else np.zeros(0)
    if not known:
        return weights
    loss, slope, bend = _listwise(known, weights, ridge)
    for _ in range(STEPS):
        step = np.linalg.solve(bend, slope)
        size = 1.0
        while size > SMALLEST_STEP:
            better = _listwise(known, weights - size * step, ridge)
            if better[0] <= loss:
                break
            size /= 2
        weights = weights - size * step
        done = loss - better[0] < 1e-9
        loss, slope, bend = better
        if done:
            break
    return weights


def fit_near(lists: Sequence[List], counts: Sequence[float], usual: Sequence[float]) -> Rows:
    """The same for weights that stay near what is usual, unless the questions say otherwise.

    The more questions there are, the less that counts.
    """
    start = np.array(usual)
    moved = [
        (np.column_stack((rows[:, :1] + rows[:, 1:] @ start[:, None], rows[:, 1:])), right)
        for rows, right in lists
    ]
    return start + fit_weights(moved, counts, STRENGTH / max(sum(counts), 1.0))


def _listwise(
    known: Sequence[tuple[Rows, Rows, float]], weights: Rows, ridge: float
) -> tuple[float, Rows, Rows]:
    """Loss, gradient and curvature of the weights."""
    loss = ridge / 2 * float(weights @ weights)
    slope = ridge * weights
    bend = ridge * np.eye(len(weights))
    total = sum(count for *_, count in known)
    for rows, right, count in known:
        part = count / total
        odds = rows[:, 0] + rows[:, 1:] @ weights
        odds = odds - odds.max()
        likely = np.exp(odds)
        likely /= likely.sum()
        loss -= part * float(right @ np.log(np.maximum(likely, 1e-300)))
        mean = likely @ rows[:, 1:]
        slope = slope + part * ((likely - right) @ rows[:, 1:])
        spread = (rows[:, 1:] * likely[:, None]).T @ rows[:, 1:] - np.outer(mean, mean)
        bend = bend + part * spread
    return loss, slope, bend


def fit_curve(rows: Rows, right: NDArray[np.bool_], answerable: NDArray[np.bool_]) -> Curve:
    """A logistic curve: offset, then slope, first, cosine and unsaid for the columns of `rows`."""
    columns = np.column_stack((np.ones(len(rows)), rows))
    share = (~answerable).sum()
    less = UNANSWERABLE * answerable.sum() / share if share else 0.0
    counts = np.where(answerable, 1.0, less)
    values = np.zeros(columns.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-np.clip(columns @ values, -30, 30)))
        slope = columns.T @ (counts * (likely - right)) + 0.01 * values
        bend = (columns * (counts * likely * (1 - likely))[:, None]).T @ columns
        values = values - np.linalg.solve(bend + 0.01 * np.eye(len(values)), slope)
    return dict(zip(("offset", "slope", "first", "cosine", "unsaid"), values.tolist(), strict=True))
