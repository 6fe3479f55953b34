"""A dataset through a tool: index each repository, ask each question, measure."""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeAlias

from asterism.analysis.source.text import decode, read
from asterism.evaluation.datasets import Dataset, DatasetRepository, FoundPlace, PathMatch, Query
from asterism.evaluation.runs import (
    TOKEN_BUDGET,
    Building,
    Judged,
    QueryResult,
    Run,
    file_ranks,
    first_ranks,
    measures,
    right_places,
    within_budget,
    without_given,
)
from asterism.types.errors import InputError, PathMissing, UsageError
from asterism.types.files import display_path

# Linux counts the peak in kibibytes, macOS in bytes.
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


class Clock(NamedTuple):
    """A moment, in wall and CPU seconds."""

    wall: float
    cpu: float

    def until(self, later: "Clock") -> "Clock":
        """What passed between two moments."""
        return Clock(later.wall - self.wall, later.cpu - self.cpu)


def now() -> Clock:
    """This moment."""
    return Clock(time.perf_counter(), time.process_time() + _children_cpu())


def peak_bytes() -> int:
    """The most memory that this process held so far, or a process that it started."""
    if sys.platform == "win32":
        return 0
    import resource

    sides = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(side).ru_maxrss for side in sides) * _PEAK_UNIT


def _children_cpu() -> float:
    if sys.platform == "win32":
        return 0.0
    import resource

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# Where no tokenizer is configured, four characters count as a token.
CHARS_PER_TOKEN = 4

# A place whose lines cannot be read must not look cheap.
UNREADABLE_TOKENS = 2_000


def token_count(characters: int) -> int:
    """Tokens of so many characters, rounded up."""
    return -(-characters // CHARS_PER_TOKEN)


class ReadingCosts:
    """The sizes of places below a directory; each file is read once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._sums: dict[str, list[int] | None] = {}

    def __call__(self, place: FoundPlace) -> int:
        """What the tool says it costs, else what its lines in the file cost."""
        if place.tokens is not None:
            return place.tokens
        if place.path not in self._sums:
            self._sums[place.path] = self._read(place.path)
        sums = self._sums[place.path]
        if sums is None:
            return UNREADABLE_TOKENS
        last = len(sums) - 1
        first = 0 if place.start_line is None else min(max(place.start_line - 1, 0), last)
        end = last if place.end_line is None else min(max(place.end_line, first), last)
        return token_count(sums[end] - sums[first])

    def _read(self, path: str) -> list[int] | None:
        """How many characters stand before each line, and in all."""
        try:
            text = decode(read(str(self._directory / path))).decode("utf-8", "replace")
        except InputError:
            return None
        return list(accumulate(map(len, text.splitlines(keepends=True)), initial=0))


Scope: TypeAlias = Literal["root", "full"]

# Asked once before anything is measured: loading a model or a table is no part of a warm query.
WARMING = "where does it begin"

# Asked for beyond the limit where places may be left out of the ranking afterwards.
SPARE = 10

# Asked for where only the budget is to be the limit: more than 2,000 tokens can hold of code.
BUDGET_PLACES = 30


class Searcher(Protocol):
    """A tool under evaluation; it holds one directory at a time."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def index(self, directory: Path) -> str:
        """Prepare a directory, and say how large it became: `1,024 chunks`."""
        ...

    def search(self, query: str, limit: int) -> Sequence[FoundPlace]:
        """The best places of the directory, best first."""
        ...

    def within(self, query: str, limit: int, budget: int) -> Sequence[FoundPlace] | None:
        """The places returned within so many tokens.

        None where the tool knows no budget: its places then count in order, each with its lines,
        until the budget is spent.
        """
        ...

    def close(self) -> None:
        """Let go of the directory."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How a dataset is run."""

    limit: int = 10
    match: PathMatch | None = None
    """None: as the dataset says."""
    scope: Scope = "root"
    """The part of a checkout that the dataset names, or all of it."""
    repeats: int = 1
    """Searches for each query, the median counts. More than one lets caches of queries help."""
    repos: tuple[str, ...] = ()
    """Only these; nothing for all."""


Locate: TypeAlias = Callable[[DatasetRepository], Path]
"""Where the top of a checkout is."""
Hear: TypeAlias = Callable[[Building, Sequence[QueryResult]], None]


def run_dataset(
    dataset: Dataset,
    locate: Locate,
    searcher: Searcher,
    options: SearchOptions,
    hear: Hear = lambda _building, _results: None,
) -> Run:
    """Ask every question of a dataset; `hear` is told of each repository when it is done."""
    results: list[QueryResult] = []
    buildings: list[Building] = []
    for checkout, queries, top in _plan(dataset, locate, options):
        building, found = _run_checkout(dataset, checkout, queries, top, searcher, options)
        results += found
        buildings.append(building)
        hear(building, found)
    return Run(
        name=searcher.name,
        dataset=dataset.name,
        limit=options.limit,
        match=options.match or dataset.match,
        scope=options.scope,
        results=tuple(results),
        buildings=tuple(buildings),
        peak_bytes=peak_bytes(),
    )


def _plan(
    dataset: Dataset, locate: Locate, options: SearchOptions
) -> list[tuple[DatasetRepository, list[Query], Path]]:
    """What is to be done, checked before anything is begun."""
    if options.limit < 1 or options.repeats < 1:
        raise UsageError("A limit and a number of repeats are at least 1; give such a number.")
    groups: dict[str, list[Query]] = {}
    for query in dataset.queries:
        groups.setdefault(query.repo, []).append(query)
    unknown = sorted(set(options.repos) - groups.keys())
    if unknown:
        raise UsageError(
            f"{dataset.name} has no queries about {', '.join(unknown)}; "
            f"choose from {', '.join(sorted(groups))}."
        )
    plan = [
        (checkout, groups[name], locate(checkout))
        for name in sorted(options.repos or groups)
        for checkout in [dataset.checkouts[name]]
    ]
    missing = [display_path(str(top)) for _, _, top in plan if not top.is_dir()]
    if missing:
        raise PathMissing(
            f"No directory is at {', '.join(missing)}; check out the repositories there, or choose "
            "others with --repo."
        )
    return plan


def _run_checkout(
    dataset: Dataset,
    checkout: DatasetRepository,
    queries: Sequence[Query],
    top: Path,
    searcher: Searcher,
    options: SearchOptions,
) -> tuple[Building, list[QueryResult]]:
    prefix = checkout.root if options.scope == "root" else ""
    directory = (top / prefix).resolve()
    began = now()
    size = searcher.index(directory)
    spent = began.until(now())
    try:
        searcher.search(WARMING, options.limit)
        judge = _Judge(directory, prefix, options.match or dataset.match, options.limit)
        results = [_result(query, checkout, searcher, options, judge) for query in queries]
    finally:
        searcher.close()
    language = checkout.language or queries[0].language
    return Building(checkout.name, language, size, spent.wall, spent.cpu), results


def _result(
    query: Query,
    checkout: DatasetRepository,
    searcher: Searcher,
    options: SearchOptions,
    judge: "_Judge",
) -> QueryResult:
    asked = options.limit + (SPARE if query.given else 0)
    places: Sequence[FoundPlace] = ()
    spent = []
    for _ in range(options.repeats):
        began = now()
        places = searcher.search(query.query, asked)
        spent.append(began.until(now()))
    found = judge.ranking(query, places)
    judged = judge.judged(query, found, _within(query, searcher, judge, places))
    return QueryResult(
        query.id,
        query.repo,
        query.language or checkout.language,
        query.category,
        measures(judged),
        tuple(judged.ranks),
        found,
        right_places(found, query.targets, judge.prefix, judge.match),
        1000 * statistics.median(one.wall for one in spent),
        1000 * statistics.median(one.cpu for one in spent),
    )


def _within(
    query: Query, searcher: Searcher, judge: "_Judge", places: Sequence[FoundPlace]
) -> Sequence[FoundPlace]:
    """The places that are returned before the budget is spent."""
    given = searcher.within(query.query, BUDGET_PLACES, TOKEN_BUDGET)
    if given is not None:
        return judge.placed(given)
    read = judge.placed(places)
    if sum(place.tokens or 0 for place in read) < TOKEN_BUDGET:
        read = judge.placed(searcher.search(query.query, BUDGET_PLACES))
    return read[: within_budget([place.tokens or 0 for place in read], TOKEN_BUDGET)]


class _Judge:
    """What is known of a directory to bring found places into one form."""

    def __init__(self, directory: Path, prefix: str, match: PathMatch, limit: int) -> None:
        self.prefix = prefix
        self.match = match
        self._base = f"{directory.as_posix().rstrip('/')}/"
        self._limit = limit
        self._costs = ReadingCosts(directory)

    def ranking(self, query: Query, places: Sequence[FoundPlace]) -> tuple[FoundPlace, ...]:
        """The places that count, with paths from the directory and with their cost."""
        below = [place._replace(path=self._below(place.path)) for place in places]
        counted = without_given(below, query, self.prefix)[: self._limit]
        return tuple(place._replace(tokens=self._costs(place)) for place in counted)

    def placed(self, places: Sequence[FoundPlace]) -> list[FoundPlace]:
        """All places, with paths from the directory and with their cost."""
        below = (place._replace(path=self._below(place.path)) for place in places)
        return [place._replace(tokens=self._costs(place)) for place in below]

    def judged(
        self, query: Query, found: Sequence[FoundPlace], output: Sequence[FoundPlace]
    ) -> Judged:
        """At which ranks the targets are found, in the ranking and in the output of a budget."""
        targets, prefix, match = query.targets, self.prefix, self.match
        with_lines = [place for place in output if place.shown != "name"]
        with_code = [place for place in output if place.shown == "code"]
        return Judged(
            ranks=first_ranks(found, targets, prefix, match),
            strict=first_ranks(found, targets, prefix, PathMatch.strict),
            files=file_ranks(found, targets, prefix, match),
            sizes=[place.tokens or 0 for place in found],
            named=first_ranks(output, targets, prefix, match),
            with_lines=first_ranks(with_lines, targets, prefix, match),
            with_code=first_ranks(with_code, targets, prefix, match),
            limit=self._limit,
        )

    def _below(self, path: str) -> str:
        path = path.replace("\\", "/").removeprefix(self._base)
        while path.startswith("./"):
            path = path[2:]
        return path
