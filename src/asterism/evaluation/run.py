"""A dataset through a tool: index each repository, ask each question, measure."""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeAlias

from asterism.evaluation.datasets import (
    Dataset,
    DatasetRepository,
    FoundPlace,
    LabelledPlace,
    PathMatch,
    Query,
)
from asterism.evaluation.replies import ReplyMeasures, ReplyText, SourceLines, reply_measures
from asterism.evaluation.runs import (
    TOKEN_BUDGET,
    Building,
    FunctionMeasures,
    Judged,
    QueryResult,
    Run,
    file_ranks,
    first_ranks,
    function_measures,
    measures,
    right_places,
    within_budget,
    without_given,
)
from asterism.types.errors import PathMissing, UsageError
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


Scope: TypeAlias = Literal["root", "full"]

# Asked once before anything is measured: loading a model or a table is no part of a warm query.
WARMING = "where does it begin"

# Asked for beyond the limit where places may be left out of the ranking afterwards.
SPARE = 10

# Asked for where only the budget is to be the limit: more than 2,000 tokens can hold of code.
BUDGET_PLACES = 30

# Asked for where functions are counted, as a list holds other kinds as well.
FUNCTION_PLACES = 50


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

    def reply(self, query: str) -> ReplyText | None:
        """The reply with code, of the usual size; None where the tool has none."""
        ...

    def close(self) -> None:
        """Let go of the directory."""
        ...


CheckOut: TypeAlias = Callable[[Path, str], None]
"""Brings the checkout in a directory to a commit."""


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
    replies: bool = True
    """Whether replies with code are measured, where the tool has them."""
    check_out: CheckOut | None = None
    """How a checkout is brought to the commit of a query."""


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
        if options.check_out is not None and queries[0].commit:
            options.check_out(top, queries[0].commit)
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
    groups: dict[str, dict[str, list[Query]]] = {}
    for query in dataset.queries:
        groups.setdefault(query.repo, {}).setdefault(query.commit, []).append(query)
    unknown = sorted(set(options.repos) - groups.keys())
    if unknown:
        raise UsageError(
            f"{dataset.name} has no queries about {', '.join(unknown)}; "
            f"choose from {', '.join(sorted(groups))}."
        )
    chosen = sorted(options.repos or groups)
    several = [name for name in chosen if len(groups[name]) > 1]
    if several and options.check_out is None:
        raise UsageError(
            f"The queries are about several commits of {', '.join(several)}; say with --checkout "
            "by which command a commit is checked out."
        )
    plan = [
        (checkout, queries, top)
        for name in chosen
        for checkout in [dataset.checkouts[name]]
        for top in [locate(checkout)]
        for queries in groups[name].values()
    ]
    missing = list(dict.fromkeys(display_path(str(top)) for _, _, top in plan if not top.is_dir()))
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
    reply = searcher.reply(query.query) if options.replies else None
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
        _functions(query, searcher, judge),
        None if reply is None else judge.reply(query, reply),
    )


def _functions(query: Query, searcher: Searcher, judge: "_Judge") -> FunctionMeasures | None:
    """At which ranks functions are, in a list that is long enough for ten of them."""
    if not query.by_symbol:
        return None
    places = judge.placed(searcher.search(query.query, FUNCTION_PLACES))
    return function_measures(places, query, judge.prefix)


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
        self._source = SourceLines(directory)

    def ranking(self, query: Query, places: Sequence[FoundPlace]) -> tuple[FoundPlace, ...]:
        """The places that count, with paths from the directory and with their cost."""
        below = [place._replace(path=self._below(place.path)) for place in places]
        counted = without_given(below, query, self.prefix)[: self._limit]
        return tuple(place._replace(tokens=self._source.cost(place)) for place in counted)

    def placed(self, places: Sequence[FoundPlace]) -> list[FoundPlace]:
        """All places, with paths from the directory and with their cost."""
        below = (place._replace(path=self._below(place.path)) for place in places)
        return [place._replace(tokens=self._source.cost(place)) for place in below]

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
            files=file_ranks(found, [*targets, *map(LabelledPlace, query.files)], prefix, match),
            sizes=[place.tokens or 0 for place in found],
            named=first_ranks(output, targets, prefix, match),
            with_lines=first_ranks(with_lines, targets, prefix, match),
            with_code=first_ranks(with_code, targets, prefix, match),
            limit=self._limit,
        )

    def reply(self, query: Query, reply: ReplyText) -> ReplyMeasures:
        """What a reply shows of the targets."""
        wanted = [self._source.wanted(target, self.prefix) for target in query.targets]
        return reply_measures(reply, query, wanted)

    def _below(self, path: str) -> str:
        path = path.replace("\\", "/").removeprefix(self._base)
        while path.startswith("./"):
            path = path[2:]
        return path
