"""Do scores mean what they say? How often places of a score are right, and silence where it is due.

A score says how likely its place is right: of the places that score about 0.7, seven in ten should
be. And where a repository cannot answer, nothing should score high.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from asterism.evaluation.runs import Result
from asterism.evaluation.summaries import mean

Scored: TypeAlias = tuple[float, bool]
"""A score, and whether its place was right."""

BINS = 10

# Even odds; and what is still worth showing to somebody who would rather look than miss it.
THRESHOLDS = (0.5, 0.3)


class Bin(NamedTuple):
    """The places whose scores are between two bounds; the last bin holds its upper one too."""

    low: float
    high: float
    places: int
    score: float
    """The mean."""
    right: float
    """The share."""


class Reliability(NamedTuple):
    """Scores beside what came true."""

    bins: Sequence[Bin]
    """Those that hold anything, by their bounds."""
    places: int
    error: float
    """The expected calibration error: how far scores and shares lie apart, over all places."""


class Silence(NamedTuple):
    """What a threshold does to questions with an answer and to those without."""

    threshold: float
    unanswerable: int
    silent: float
    """The share of the unanswerable whose best score stays below."""
    answerable: int
    found: float
    """The share of the answerable of which a right place reaches the threshold."""


def scored_places(results: Iterable[Result], limit: int) -> list[Scored]:
    """The first places of each result that have scores, up to a rank."""
    return [
        (place.score, right)
        for result in results
        for place, right in zip(result.found[:limit], result.right[:limit], strict=True)
        if place.score is not None
    ]


def scored_files(results: Iterable[Result], limit: int) -> list[Scored]:
    """The first place of each file: where files are labelled, its others are as right as it is."""
    return [
        pair for result in results for pair in scored_places([_one_of_each_file(result)], limit)
    ]


def are_probabilities(scored: Iterable[Scored]) -> bool:
    """Whether every score could be a probability."""
    return all(0.0 <= score <= 1.0 for score, _ in scored)


def reliability(scored: Sequence[Scored], bins: int = BINS) -> Reliability:
    """Scores between 0 and 1 in bins of equal width."""
    groups: list[list[Scored]] = [[] for _ in range(bins)]
    for score, right in scored:
        groups[min(int(score * bins), bins - 1)].append((score, right))
    filled = [
        Bin(
            number / bins,
            (number + 1) / bins,
            len(group),
            mean(score for score, _ in group),
            mean(right for _, right in group),
        )
        for number, group in enumerate(groups)
        if group
    ]
    apart = sum(one.places * abs(one.score - one.right) for one in filled)
    return Reliability(filled, len(scored), apart / len(scored) if scored else 0.0)


def silences(
    results: Sequence[Result], thresholds: Sequence[float] = THRESHOLDS
) -> Sequence[Silence]:
    """What each threshold does; nothing where no place has a score."""
    if not scored_places(results, 1):
        return []
    without = [_best(result) for result in results if not result.is_answerable]
    right = [_best_right(result) for result in results if result.is_answerable]
    return [
        Silence(
            threshold,
            len(without),
            mean(score < threshold for score in without),
            len(right),
            mean(score >= threshold for score in right),
        )
        for threshold in thresholds
    ]


def _one_of_each_file(result: Result) -> Result:
    first: dict[str, int] = {}
    for number, place in enumerate(result.found):
        first.setdefault(place.path, number)
    kept = sorted(first.values())
    return result._replace(
        found=tuple(result.found[number] for number in kept),
        right=tuple(result.right[number] for number in kept),
    )


def _best(result: Result) -> float:
    return max((place.score or 0.0 for place in result.found), default=0.0)


def _best_right(result: Result) -> float:
    places = zip(result.found, result.right, strict=True)
    # A right place without any score passes no threshold, not even that of 0.
    return max((place.score or 0.0 for place, right in places if right), default=-1.0)
