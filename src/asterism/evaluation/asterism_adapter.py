"""Asterism itself under evaluation, through its façade."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from asterism.analysis.terms import terms_of
from asterism.config.load import upgrade_options
from asterism.engine.engine import Engine
from asterism.evaluation.datasets import Found
from asterism.evaluation.run import token_count
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Registered
from asterism.types.errors import UsageError
from asterism.types.search import Detail, Filter, Hit, Kept


def word_search(registered: Registered, query: str, limit: int) -> list[Hit]:
    """The chunks that share words with a query; scores are relative to the best."""
    from asterism.store.lance.table import LanceTable

    directory = registered.project.directory
    with Catalogue.open(directory) as catalogue:
        version, name = catalogue.chunks_version(), catalogue.table.name
    terms = list(dict.fromkeys(terms_of(query)))
    if not terms or version == 0:
        return []
    rows = LanceTable.open(directory, name=name).snapshot(version)
    matches = rows.matching(terms, limit, Filter(repos=(registered.repository.name,)))
    scores = {match.key.id: match.score for match in matches}
    best = max(scores.values(), default=1.0) or 1.0
    chunks = rows.chunks([match.key for match in matches])
    return [Hit(chunk, scores[chunk.id] / best) for chunk in chunks]


SearchFunction: TypeAlias = Callable[[Registered, str, int], Sequence[Hit]]
"""From a repository, a query and a limit to hits, best first."""
BudgetFunction: TypeAlias = Callable[[Registered, str, int, int], Sequence[Kept]]
"""From a repository, a query, a limit and a budget of tokens to what is given out."""

# What is given of a hit at these is code to read: all of it, or with its parts' bodies left out.
_WHOLE = frozenset({Detail.full, Detail.collapsed, Detail.within})


class EngineSearcher:
    """A searcher over an engine; the repositories it indexes stay registered there."""

    def __init__(
        self,
        engine: Engine,
        search: SearchFunction,
        name: str = "asterism",
        within: BudgetFunction | None = None,
    ) -> None:
        self._engine = engine
        self._search = search
        self._within = within
        self._registered: Registered | None = None
        self.name = name

    def index(self, directory: Path) -> str:
        """Register a directory and bring its index up to date, second vectors included."""
        self._registered = self._engine.register(directory)
        self._engine.index(self._registered)
        if upgrade_options(self._engine.settings_of(self._registered)) is not None:
            self._engine.upgrade(self._registered)
        with Catalogue.open(self._registered.project.directory) as catalogue:
            held = catalogue.statistics(self._registered.repository.name)
        return f"{held.chunks:,} chunks"

    def search(self, query: str, limit: int) -> list[Found]:
        """The hits as places."""
        return [found_of(hit) for hit in self._search(self._indexed(), query, limit)]

    def within(self, query: str, limit: int, budget: int) -> list[Found] | None:
        """What is given out under the budget, each hit with the cost of the text it is given as."""
        if self._within is None:
            return None
        output = self._within(self._indexed(), query, limit, budget)
        return [place for kept in output for place in given_of(kept)]

    def close(self) -> None:
        """Forget the directory; its index is kept."""
        self._registered = None

    def _indexed(self) -> Registered:
        if self._registered is None:
            raise UsageError("No directory is indexed; call `index` first.")
        return self._registered


def found_of(hit: Hit) -> Found:
    """A hit as a place that costs as much as its source."""
    chunk = hit.chunk
    return Found(
        chunk.relative_path,
        chunk.start_line,
        chunk.end_line,
        token_count(len(chunk.full_source)),
        chunk.qualified_name,
        hit.score,
    )


def given_of(kept: Kept) -> list[Found]:
    """A hit as it is given out: what its text costs, and which of its lines are there."""
    found = found_of(kept.hit)._replace(tokens=token_count(len(kept.text)))
    if kept.detail in _WHOLE:
        return [found]
    named = found._replace(shown="name")
    return [named, *(_lines(named, first, last) for first, last in _pieces(kept))]


def _lines(named: Found, first: int, last: int) -> Found:
    return named._replace(start_line=first, end_line=last, tokens=0, shown="lines")


def _pieces(kept: Kept) -> list[tuple[int, int]]:
    """The ranges of lines that are given, where it is neither all of them nor none."""
    gaps = list(kept.gaps)
    if kept.left_out is not None:
        # A cut begins inside its first line where that line alone is too long; it is not there.
        gaps.append(kept.left_out)
    if not gaps:
        return []
    chunk = kept.hit.chunk
    pieces = []
    first = chunk.start_line
    for gap in sorted(gaps):
        if first < gap.first:
            pieces.append((first, gap.first - 1))
        first = gap.last + 1
    return [*pieces, (first, chunk.end_line)] if first <= chunk.end_line else pieces
