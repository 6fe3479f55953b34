"""Scores as Markdown tables: what they promise beside what came true."""

from collections.abc import Sequence

from asterism.evaluation.markdown import NOTHING, table
from asterism.evaluation.reliability import (
    Reliability,
    Scored,
    Silence,
    are_probabilities,
    reliability,
    scored_files,
    scored_places,
    silences,
)
from asterism.evaluation.runs import Json, Run


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
