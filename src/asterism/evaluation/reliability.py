"""Do scores mean what they say? How often places of a score are right, and silence where it is due.

A score says how likely its place is right: of the places that score about 0.7, seven in ten should
be. And where a repository cannot answer, nothing should score high.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from asterism.evaluation.runs import Json, QueryResult, Run
from asterism.evaluation.summaries import mean
from asterism.evaluation.tables import NOTHING, table

Scored: TypeAlias = tuple[float, bool]
"""A score, and whether its place was right."""

BINS = 10

# Even odds; and what is still worth showing to a reader who wants to miss nothing.
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


def scored_places(results: Iterable[QueryResult], limit: int) -> list[Scored]:
    """The first places of each result that have scores, up to a rank."""
    return [
        (place.score, right)
        for result in results
        for place, right in zip(result.found[:limit], result.right[:limit], strict=True)
        if place.score is not None
    ]


def scored_files(results: Iterable[QueryResult], limit: int) -> list[Scored]:
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
    results: Sequence[QueryResult], thresholds: Sequence[float] = THRESHOLDS
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


def _one_of_each_file(result: QueryResult) -> QueryResult:
    first: dict[str, int] = {}
    for number, place in enumerate(result.found):
        first.setdefault(place.path, number)
    kept = sorted(first.values())
    return result._replace(
        found=tuple(result.found[number] for number in kept),
        right=tuple(result.right[number] for number in kept),
    )


def _best(result: QueryResult) -> float:
    return max((place.score or 0.0 for place in result.found), default=0.0)


def _best_right(result: QueryResult) -> float:
    places = zip(result.found, result.right, strict=True)
    # A right place without any score passes no threshold, not even that of 0.
    return max((place.score or 0.0 for place, right in places if right), default=-1.0)


def reliability_tables(run: Run) -> str:
    """How far a run's scores can be trusted: all places, the first ones, and thresholds."""
    places = scored_places(run.results, run.limit)
    parts = [f"## How far the scores of {run.name} on {run.dataset} can be trusted", ""]
    if not places:
        return "\n".join([*parts, "It gives no scores.", ""])
    if not are_probabilities(places):
        return "\n".join([*parts, "Its scores are not between 0 and 1: no probabilities.", ""])
    parts += _binned(f"score, first {run.limit} places", places)
    parts += _binned("score, first place of each file", scored_files(run.results, run.limit))
    parts += _binned("score, first place of all", scored_places(run.results, 1))
    return "\n".join([*parts, *silence_lines(run)])


def silence_lines(run: Run) -> list[str]:
    """What thresholds do, where a dataset has questions that cannot be answered."""
    found = silences(run.results)
    if not found or not found[0].unanswerable:
        return []
    head = ("threshold", "unanswerable", "stays silent", "answerable", "right place passes")
    return [*table(head, [_threshold(one) for one in found]), ""]


def reliability_json(run: Run) -> Json:
    """The same for programs."""
    places = scored_places(run.results, run.limit)
    if not places or not are_probabilities(places):
        return {}
    return {
        "places": _json(reliability(places)),
        "files": _json(reliability(scored_files(run.results, run.limit))),
        "first_places": _json(reliability(scored_places(run.results, 1))),
        "thresholds": [one._asdict() for one in silences(run.results)],
    }


def _binned(title: str, scored: Sequence[Scored]) -> list[str]:
    found = reliability(scored)
    rows = [
        [
            f"{one.low:.1f} to {one.high:.1f}",
            f"{one.places:,}",
            f"{one.score:.3f}",
            f"{one.right:.3f}",
            f"{one.right - one.score:+.3f}",
        ]
        for one in found.bins
    ]
    return [
        *table((title, "places", "mean score", "share right", "right − score"), rows),
        "",
        f"Expected calibration error {found.error:.3f} over {found.places:,} places.",
        "",
    ]


def _threshold(one: Silence) -> list[str]:
    return [
        f"{one.threshold:.1f}",
        f"{one.unanswerable:,}",
        f"{one.silent:.1%}",
        f"{one.answerable:,}",
        f"{one.found:.1%}" if one.answerable else NOTHING,
    ]


def _json(found: Reliability) -> Json:
    return {**found._asdict(), "bins": [one._asdict() for one in found.bins]}
