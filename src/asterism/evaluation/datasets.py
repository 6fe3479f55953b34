"""Labelled queries from files: our own lines of JSON, a folder, readers' questions and issues.

A line of our own format:

    {"id": "tokens-1", "query": "check a token", "repo": "shop", "language": "typescript",
     "category": "semantic", "targets": [{"path": "src/tokens.ts", "start_line": 7, "end_line": 9}]}

`language`, `category` and a target's lines may be missing; `given` lists places, written like
targets, that the question was taken from. An empty list of targets says that the repository cannot
answer the question. The public benchmark's folder has a `repos.json` beside
its `queries.jsonl`; there a target's lines are `start` and `end`, and `raw` is its path as it was
labelled. A target with a `name` is a symbol, whose lines have to be those of a place.

Lines with `wanted` are readers' questions (`tests/evaluation/readers/README.md`), lines with
`gold_files` are issues: `instance_id`, `repo`, `base_commit`, `query`, and `gold_functions` as
lists of path, name, first and last line. Both name the commit that their lines belong to.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from asterism.types.errors import PathMissing, PathUnreadable, UsageError
from asterism.types.files import display_path


class PathMatch(StrEnum):
    """When a found path is the path of a target."""

    suffix = "suffix"
    """Equal, or either ends in the other: `utils.py` is `x/utils.py`."""
    strict = "strict"
    """The same file only."""


class LabelledPlace(NamedTuple):
    """A place that answers a query: lines of a file, or all of it."""

    path: str
    """From the top of the checkout."""
    start_line: int | None = None
    end_line: int | None = None
    label: str | None = None
    """The path as labelled, if it differs from `path`."""
    name: str = ""
    """The symbol at these lines, where the label names one."""
    kind: str = ""
    """Of the symbol."""


class Query(NamedTuple):
    """A question with the places that answer it; without any, the repository cannot answer it."""

    id: str
    query: str
    repo: str
    targets: tuple[LabelledPlace, ...]
    language: str = ""
    category: str = ""
    given: tuple[LabelledPlace, ...] = ()
    """Where the question's own words come from; to find these places again earns no rank."""
    commit: str = ""
    """The state of the repository that the targets are lines of; nothing for any."""
    needs_all: bool = False
    """Whether the answer takes every target; else each of them is a right answer."""
    files: tuple[str, ...] = ()
    """The files that answer, where they are more than those of the targets."""

    @property
    def by_symbol(self) -> bool:
        """Whether the targets are symbols."""
        return any(target.name for target in self.targets)


Shown: TypeAlias = Literal["code", "lines", "name"]


class FoundPlace(NamedTuple):
    """A place that a tool found; its path is below the directory that was indexed."""

    path: str
    start_line: int | None = None
    """None for the whole file."""
    end_line: int | None = None
    tokens: int | None = None
    """What it costs to read; None to count the lines of the file."""
    name: str = ""
    """The symbol, where the tool names one."""
    score: float | None = None
    """How sure the tool is, 0 to 1; None where it does not say."""
    shown: Shown = "code"
    """Whether its whole code is returned, some of its lines, or only its name and location."""
    kind: str = ""
    """Of the symbol, where the tool names one."""


class DatasetRepository(NamedTuple):
    """A repository of a dataset."""

    name: str
    language: str = ""
    root: str = ""
    """The part that is indexed, from the top of the checkout; nothing for all of it."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Queries with their repositories, and how their paths are to be compared."""

    name: str
    queries: Sequence[Query]
    checkouts: Mapping[str, DatasetRepository]
    match: PathMatch = PathMatch.strict


Json: TypeAlias = dict[str, Any]

_QUERIES = "queries.jsonl"
_REPOS = "repos.json"


def load_dataset(path: Path) -> Dataset:
    """Read a dataset; an error names the file, the line and what is wrong with it."""
    if path.is_dir():
        path = path / _QUERIES
    queries = tuple(_queries(path))
    if not queries:
        raise UsageError(f"{display_path(str(path))} holds no queries; write one to a line.")
    repos = path.with_name(_REPOS)
    listed = _listed(repos) if path.name == _QUERIES and repos.exists() else {}
    match = PathMatch.suffix if listed else PathMatch.strict
    checkouts = dict(listed)
    for query in queries:
        if listed and query.repo not in listed:
            raise UsageError(
                f"{display_path(str(repos))} does not list {query.repo!r}, which query {query.id} "
                "is about; add it."
            )
        checkouts.setdefault(query.repo, DatasetRepository(query.repo, query.language))
    name = path.parent.name if path.name == _QUERIES else path.stem
    return Dataset(name, queries, checkouts, match)


def write_dataset(path: Path, queries: Iterable[Query]) -> None:
    """Write queries in our own format, one to a line."""
    text = "".join(f"{json.dumps(query_json(query), ensure_ascii=False)}\n" for query in queries)
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise PathUnreadable(
            f"{display_path(str(path))} cannot be written: {error.strerror}; choose another file."
        ) from error


def query_json(query: Query) -> Json:
    """A query as a line of our own format holds it, without what it does not have."""
    line: Json = {"id": query.id, "query": query.query, "repo": query.repo}
    line |= {key: value for key in ("language", "category") if (value := getattr(query, key))}
    line["targets"] = [_target_json(target) for target in query.targets]
    if query.given:
        line["given"] = [_target_json(target) for target in query.given]
    if query.commit:
        line["commit"] = query.commit
    if query.needs_all:
        line["all_needed"] = True
    return line


def titles_only(dataset: Dataset) -> Dataset:
    """The dataset with the first line of each query alone, as the title of an issue."""
    queries = [
        query._replace(query=query.query.strip().split("\n", 1)[0]) for query in dataset.queries
    ]
    return replace(dataset, queries=tuple(queries))


def text_of(path: Path) -> str:
    """A file's text; an error says why it cannot be read."""
    shown = display_path(str(path))
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise PathMissing(f"{shown} does not exist; check the path.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise PathUnreadable(f"{shown} cannot be read as text: {error}.") from error


def _queries(path: Path) -> Iterator[Query]:
    seen: set[str] = set()
    for number, line in enumerate(text_of(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            query = _query(json.loads(line))
            if query.id in seen:
                raise ValueError(f"the id {query.id!r} was used before")
        except ValueError as error:
            why = "it is no JSON" if isinstance(error, json.JSONDecodeError) else error
            raise UsageError(f"{display_path(str(path))}:{number}: {why}; correct it.") from error
        seen.add(query.id)
        yield query


def _query(line: object) -> Query:
    if not isinstance(line, dict):
        raise ValueError("a line has to be a JSON object")
    if "gold_files" in line:
        return _issue(line)
    key = "wanted" if "wanted" in line else "targets"
    if key not in line:
        raise ValueError("`targets` is missing; an empty list says that nothing answers")
    id_, query, repo = (_text(line, each) for each in ("id", "query", "repo"))
    return Query(
        id_,
        query,
        repo,
        _targets(line, key),
        _text(line, "language", ""),
        _text(line, "category" if key == "targets" else "kind", ""),
        _targets(line, "given"),
        _text(line, "commit", ""),
        line.get("all_needed") is True,
    )


def _issue(line: Mapping[str, Any]) -> Query:
    """An issue: the functions that its fix changed answer it, or else the files."""
    files = line["gold_files"]
    functions = line.get("gold_functions", [])
    try:
        paths = tuple(_text({"path": path}, "path") for path in files)
        names = ("path", "name", "start_line", "end_line")
        symbols = [dict(zip(names, function, strict=True)) for function in functions]
    except TypeError as error:
        raise ValueError("`gold_files` and `gold_functions` have to be lists") from error
    if not paths:
        raise ValueError("`gold_files` is empty; leave the issue out")
    return Query(
        _text(line, "instance_id"),
        _text(line, "query"),
        _text(line, "repo"),
        tuple(map(_target, symbols)) or tuple(map(LabelledPlace, paths)),
        category="issue",
        commit=_text(line, "base_commit", ""),
        needs_all=True,
        files=paths,
    )


def _targets(line: Mapping[str, Any], key: str) -> tuple[LabelledPlace, ...]:
    value = line.get(key, [])
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise ValueError(f"`{key}` has to be a list of objects with a `path`")
    return tuple(map(_target, value))


def _target(entry: Mapping[str, Any]) -> LabelledPlace:
    start = _line(entry, "start_line", "start")
    end = _line(entry, "end_line", "end")
    if end is not None and (start is None or end < start):
        raise ValueError("a target ends before it starts")
    label = _text(entry, "raw", "") or None
    named = (_text(entry, "name", ""), _text(entry, "kind", ""))
    return LabelledPlace(_text(entry, "path"), start, end, label, *named)


def _line(entry: Mapping[str, Any], *names: str) -> int | None:
    value = next((entry[name] for name in names if entry.get(name) is not None), None)
    if value is not None and (type(value) is not int or value < 1):
        raise ValueError(f"`{names[0]}` has to be a line number from 1")
    return value


def _text(entry: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = entry.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise ValueError(f"`{key}` has to be a text")
    return value


def _listed(path: Path) -> dict[str, DatasetRepository]:
    """The repositories of the public benchmark's format."""
    try:
        entries = json.loads(text_of(path))
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ValueError("it has to be a list of objects with a `name`")
        found = [
            DatasetRepository(
                _text(entry, "name"),
                _text(entry, "language", ""),
                _text(entry, "benchmark_root", "").strip("/"),
            )
            for entry in entries
        ]
    except ValueError as error:
        raise UsageError(f"{display_path(str(path))}: {error}; correct it.") from error
    return {checkout.name: checkout for checkout in found}


def _target_json(target: LabelledPlace) -> Json:
    lines = {"start_line": target.start_line, "end_line": target.end_line, "raw": target.label}
    lines |= {"name": target.name or None, "kind": target.kind or None}
    return {"path": target.path} | {key: value for key, value in lines.items() if value is not None}
