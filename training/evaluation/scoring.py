"""NDCG@10 of rankings of chunks against the files that answer a question."""

import math
import pickle
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple, TypeAlias

AT_MOST = 10

Question: TypeAlias = Mapping[str, Any]


class Place(NamedTuple):
    """Where a chunk is."""

    path: str
    start: int
    end: int


class Collection(NamedTuple):
    """The chunks of one repository."""

    language: str
    places: list[Place]
    texts: list[str]


def load(path: Path) -> tuple[list[Question], dict[str, Collection]]:
    """What `training.evaluation.questions` wrote."""
    with path.open("rb") as file:
        questions, collections = pickle.load(file)
    return questions, {
        name: Collection(language, [Place(*place) for place in places], texts)
        for name, (language, places, texts) in collections.items()
    }


def _same(path: str, target: str) -> bool:
    return path == target or path.endswith("/" + target) or target.endswith("/" + path)


def _covers(place: Place, target: Mapping[str, Any]) -> bool:
    if not _same(place.path, target["path"]):
        return False
    start = target.get("start", target.get("start_line"))
    end = target.get("end", target.get("end_line"))
    return start is None or end is None or not (place.end < start or place.start > end)


def _gain(ranks: Sequence[int]) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks)


def ndcg(hits: Sequence[Place], targets: Sequence[Mapping[str, Any]]) -> float:
    """How early the targets come among the first ten."""
    first = {
        next((rank for rank, hit in enumerate(hits[:AT_MOST], 1) if _covers(hit, target)), None)
        for target in targets
    } - {None}
    best = _gain(range(1, min(AT_MOST, len(targets)) + 1))
    return _gain([rank for rank in first if rank is not None]) / best


def one_per_file(hits: Sequence[Place]) -> list[Place]:
    """The best chunk of each file, in order."""
    seen: set[str] = set()
    kept = []
    for hit in hits:
        if hit.path not in seen:
            seen.add(hit.path)
            kept.append(hit)
    return kept


def summary(
    questions: Sequence[Question], rankings: Mapping[str, Sequence[Place]]
) -> dict[str, float]:
    """The mean over languages of the means over repositories, by chunks and by files."""
    scores: dict[str, dict[str, dict[str, list[float]]]] = {
        "chunks": defaultdict(lambda: defaultdict(list)),
        "files": defaultdict(lambda: defaultdict(list)),
    }
    categories: dict[str, list[float]] = defaultdict(list)
    for question in questions:
        if not question["targets"]:
            continue  # Asked to see that nothing is found.
        hits = rankings[question["id"]]
        repo = question["repo"]
        language = question.get("language", repo)
        scores["chunks"][language][repo].append(ndcg(hits, question["targets"]))
        by_file = ndcg(one_per_file(hits), question["targets"])
        scores["files"][language][repo].append(by_file)
        categories[str(question.get("category", "other"))].append(by_file)
    result = {
        name: round(mean(mean(map(mean, repos.values())) for repos in languages.values()), 4)
        for name, languages in scores.items()
    }
    return {**result, **{name: round(mean(values), 4) for name, values in categories.items()}}
