"""How good one ranking is: measures of the ranks at which the targets were found.

Ranks are those of `first_ranks`: one for each target, from 1, or None for a target that was not
found. Targets that share a place share its rank, and earn it once: results are pieces of files,
and a second piece with nothing new takes up a rank for nothing.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, TypeAlias

Ranks: TypeAlias = Sequence[int | None]

# What a reader is given before the answer has to have come: some two screens of code.
TOKEN_BUDGET = 2_000

# The cut of the second, stricter NDCG.
SHORT_LIST = 5


class Measures(NamedTuple):
    """Every measure of one query; those without a number in their name are at the run's limit."""

    ndcg: float
    ndcg5: float
    strict_ndcg: float
    """With paths that have to be the same, whatever the run's way to compare them."""
    hit1: float
    recall: float
    mrr: float
    file_ndcg: float
    """With files for targets, whatever lines they name."""
    file_hit1: float
    budget_recall: float
    """Targets that the first 2,000 tokens of output name: what they are called, and where."""
    budget_lines_recall: float
    """Targets of which the first 2,000 tokens hold lines."""
    budget_code_recall: float
    """Targets of which they hold a whole piece of code, with the bodies of its parts or without."""
    first_tokens: int | None
    """Tokens read until the first answer has been read; None if there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One question's targets, each by the rank at which it was found in different ways."""

    ranks: Ranks
    strict: Ranks
    """With paths that have to be the same."""
    files: Ranks
    """One for each file of a target, whatever its lines."""
    sizes: Sequence[int]
    """The tokens of the places, in order."""
    named: Ranks
    """Within the budget; any rank means that it is there."""
    with_lines: Ranks
    with_code: Ranks
    limit: int


def measures(judged: Judged) -> Measures:
    """Every measure of a ranking."""
    ranks, limit = judged.ranks, judged.limit
    return Measures(
        ndcg(ranks, limit),
        ndcg(ranks, SHORT_LIST),
        ndcg(judged.strict, limit),
        recall(ranks, 1) and 1.0,
        recall(ranks, limit),
        reciprocal_rank(ranks, limit),
        ndcg(judged.files, limit),
        recall(judged.files, 1) and 1.0,
        share_found(judged.named),
        share_found(judged.with_lines),
        share_found(judged.with_code),
        tokens_to_first_hit(ranks, judged.sizes),
    )


def ndcg(ranks: Ranks, limit: int) -> float:
    """The gain of the distinct ranks, of what a perfect ranking of these targets would gain."""
    if not ranks:
        return 0.0
    gained = _gain(sorted({rank for rank in ranks if rank is not None and rank <= limit}))
    return gained / _gain(range(1, min(limit, len(ranks)) + 1))


def recall(ranks: Ranks, limit: int) -> float:
    """The share of targets found up to a rank."""
    return sum(rank is not None and rank <= limit for rank in ranks) / len(ranks) if ranks else 0.0


def reciprocal_rank(ranks: Ranks, limit: int) -> float:
    """One over the rank of the first target found, 0 where none is."""
    first = _first(ranks)
    return 1 / first if first is not None and first <= limit else 0.0


def tokens_to_first_hit(ranks: Ranks, sizes: Sequence[int]) -> int | None:
    """How much is read until the first answer has been read."""
    first = _first(ranks)
    return None if first is None else sum(sizes[:first])


def within_budget(sizes: Sequence[int], budget: int) -> int:
    """How many places are read to their end before the budget is spent."""
    return sum(total <= budget for total in accumulate(sizes))


def share_found(ranks: Ranks) -> float:
    """The share of targets that were found at all."""
    return sum(rank is not None for rank in ranks) / len(ranks) if ranks else 0.0


def _gain(ranks: Iterable[int]) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks)


def _first(ranks: Ranks) -> int | None:
    return min((rank for rank in ranks if rank is not None), default=None)
