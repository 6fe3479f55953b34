"""What one run over a dataset gave, and its file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from asterism.evaluation.datasets import Found, PathMatch, text_of
from asterism.evaluation.metrics import Measures
from asterism.types.errors import PathUnreadable, UsageError
from asterism.types.files import display_path

Json: TypeAlias = dict[str, Any]

# In every run file; another number is another form, which this version does not read.
RUN_VERSION = 2
_MARK = "asterism_run"


class Result(NamedTuple):
    """One query's ranking, how good it is and what it cost."""

    id: str
    repo: str
    language: str
    category: str
    measures: Measures
    ranks: tuple[int | None, ...]
    """Of each target; empty where the repository cannot answer."""
    found: tuple[Found, ...]
    right: tuple[bool, ...]
    """Which of the places are right."""
    ms: float
    cpu_ms: float

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
    results: Sequence[Result]
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


def _result_json(result: Result) -> Json:
    return {
        **result._asdict(),
        "measures": result.measures._asdict(),
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


def _loaded_result(data: Mapping[str, Any]) -> Result:
    parts = {
        "measures": Measures(**data["measures"]),
        "ranks": tuple(data["ranks"]),
        "right": tuple(data["right"]),
        "found": tuple(Found(*place) for place in data["found"]),
    }
    return Result(**{**data, **parts})
