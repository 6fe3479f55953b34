"""The measures of one ranking, and the results of a run with their file."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from asterism.evaluation.datasets import FoundPlace, LabelledPlace, PathMatch, Query, text_of
from asterism.evaluation.replies import ReplyMeasures
from asterism.types.errors import PathUnreadable, UsageError
from asterism.types.files import display_path

# Lines above a symbol that may be its decorators and comments.
LINES_ABOVE = 12


def first_ranks(
    found: Sequence[FoundPlace], targets: Sequence[LabelledPlace], prefix: str, match: PathMatch
) -> tuple[int | None, ...]:
    """The rank, from 1, of the first place that covers each target, or None.

    `prefix` leads from the top of the checkout to the directory that was indexed.
    """
    return tuple(
        next(
            (rank for rank, place in enumerate(found, 1) if covers(place, target, prefix, match)),
            None,
        )
        for target in targets
    )


def file_ranks(
    found: Sequence[FoundPlace], targets: Sequence[LabelledPlace], prefix: str, match: PathMatch
) -> tuple[int | None, ...]:
    """The rank of the first place in each file that a target is in, or None."""
    files = {target.path: target._replace(start_line=None, end_line=None) for target in targets}
    return first_ranks(found, [*files.values()], prefix, match)


def right_places(
    found: Sequence[FoundPlace], targets: Sequence[LabelledPlace], prefix: str, match: PathMatch
) -> tuple[bool, ...]:
    """Whether each place covers any target."""
    return tuple(any(covers(place, target, prefix, match) for target in targets) for place in found)


def covers(place: FoundPlace, target: LabelledPlace, prefix: str, match: PathMatch) -> bool:
    """Whether the paths are the same and the lines overlap; without lines the whole file counts.

    For a symbol at least half of the place's lines have to be the symbol's: a type is no answer
    where one of its methods is. Decorators and comments above a symbol count as its lines.
    """
    if match is PathMatch.strict:
        same = (f"{prefix}/{place.path}" if prefix else place.path) == target.path
    else:
        same = same_ending(place.path, target.label or target.path)
    return same and _overlap(place, target)


def same_ending(one: str, other: str) -> bool:
    """Whether two paths are equal, or one is the end of the other, by whole names."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def without_given(found: Sequence[FoundPlace], query: Query, prefix: str) -> list[FoundPlace]:
    """What is left of a ranking without the places that the question was taken from.

    A place that covers a target as well stays: it is an answer.
    """
    return [
        place
        for place in found
        if not _any_covered(place, query.given, prefix)
        or _any_covered(place, query.targets, prefix)
    ]


def _any_covered(place: FoundPlace, targets: Sequence[LabelledPlace], prefix: str) -> bool:
    return any(covers(place, target, prefix, PathMatch.strict) for target in targets)


def _overlap(place: FoundPlace, target: LabelledPlace) -> bool:
    if target.start_line is None or place.start_line is None or place.end_line is None:
        return True
    last = target.end_line if target.end_line is not None else target.start_line
    if place.end_line < target.start_line or place.start_line > last:
        return False
    if not target.name:
        return True
    first = max(place.start_line, target.start_line - LINES_ABOVE)
    shared = min(place.end_line, last) - first + 1
    return 2 * shared >= place.end_line - place.start_line + 1


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


FUNCTION_CUTS = (1, 5, 10)
FUNCTION_KINDS = frozenset({"function", "method", "constructor"})


class FunctionMeasures(NamedTuple):
    """Whether the wanted symbols are among the first functions of a list."""

    first: float
    first_5: float
    first_10: float


def function_measures(found: Sequence[FoundPlace], query: Query, prefix: str) -> FunctionMeasures:
    """Counts functions and methods, and places of the kinds of the targets, alone.

    A tool that names no kinds is measured by all of its places.
    """
    kinds = FUNCTION_KINDS | {target.kind for target in query.targets} | {""}
    functions = [place for place in found if place.kind in kinds]
    ranks = first_ranks(functions, query.targets, prefix, PathMatch.strict)
    every = all if query.needs_all else any
    return FunctionMeasures(
        *(float(every(rank is not None and rank <= cut for rank in ranks)) for cut in FUNCTION_CUTS)
    )


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


Json: TypeAlias = dict[str, Any]

# In every run file; another number is another form, which this version does not read.
RUN_VERSION = 3
_MARK = "asterism_run"


class QueryResult(NamedTuple):
    """One query's ranking, how good it is and what it cost."""

    id: str
    repo: str
    language: str
    category: str
    measures: Measures
    ranks: tuple[int | None, ...]
    """Of each target; empty where the repository cannot answer."""
    found: tuple[FoundPlace, ...]
    right: tuple[bool, ...]
    """Which of the places are right."""
    ms: float
    cpu_ms: float
    functions: FunctionMeasures | None = None
    """Where the targets are symbols."""
    reply: ReplyMeasures | None = None
    """Where the tool replies with code."""

    @property
    def is_answerable(self) -> bool:
        """Whether anything would have been right."""
        return bool(self.ranks)


class Building(NamedTuple):
    """What it cost to index one repository."""

    repo: str
    language: str
    size: str
    """In the tool's own words: `1,024 chunks`."""
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Everything that one tool did on one dataset."""

    name: str
    dataset: str
    limit: int
    match: PathMatch
    scope: str
    results: Sequence[QueryResult]
    buildings: Sequence[Building]
    peak_bytes: int


def save_run(path: Path, run: Run) -> None:
    """Write a run to a file that `load_run` reads."""
    text = json.dumps(run_json(run), ensure_ascii=False)
    try:
        path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise PathUnreadable(
            f"{display_path(str(path))} cannot be written: {error.strerror}; choose another file."
        ) from error


def load_run(path: Path) -> Run:
    """Read a run's file; an error says what else it is."""
    shown = display_path(str(path))
    try:
        data = json.loads(text_of(path))
        if not isinstance(data, dict) or _MARK not in data:
            raise ValueError("not a run")
        if data[_MARK] != RUN_VERSION:
            raise UsageError(f"{shown} is of another version of Asterism; make the run again.")
        return _loaded(data)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{shown} is not a saved run; make one with `asterism eval DATASET --out FILE`."
        ) from error


def is_run_file(path: Path) -> bool:
    """Whether a path is meant as a saved run rather than a dataset, by its name."""
    return path.suffix == ".json"


def run_json(run: Run) -> Json:
    """A run as its file holds it."""
    return {
        _MARK: RUN_VERSION,
        "name": run.name,
        "dataset": run.dataset,
        "limit": run.limit,
        "match": run.match.value,
        "scope": run.scope,
        "peak_bytes": run.peak_bytes,
        "buildings": [building._asdict() for building in run.buildings],
        "results": [_result_json(result) for result in run.results],
    }


def _result_json(result: QueryResult) -> Json:
    return {
        **result._asdict(),
        "measures": result.measures._asdict(),
        "functions": None if result.functions is None else result.functions._asdict(),
        "reply": None if result.reply is None else result.reply._asdict(),
        "found": [list(place) for place in result.found],
    }


def _loaded(data: Mapping[str, Any]) -> Run:
    return Run(
        name=str(data["name"]),
        dataset=str(data["dataset"]),
        limit=int(data["limit"]),
        match=PathMatch(data["match"]),
        scope=str(data["scope"]),
        results=tuple(map(_loaded_result, data["results"])),
        buildings=tuple(Building(**building) for building in data["buildings"]),
        peak_bytes=int(data["peak_bytes"]),
    )


def _loaded_result(data: Mapping[str, Any]) -> QueryResult:
    functions, reply = data["functions"], data["reply"]
    parts = {
        "measures": Measures(**data["measures"]),
        "functions": None if functions is None else FunctionMeasures(**functions),
        "reply": None if reply is None else ReplyMeasures(**reply),
        "ranks": tuple(data["ranks"]),
        "right": tuple(data["right"]),
        "found": tuple(FoundPlace(*place) for place in data["found"]),
    }
    return QueryResult(**{**data, **parts})
