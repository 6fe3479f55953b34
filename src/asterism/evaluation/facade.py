"""Asterism itself under evaluation, through its façade."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.registry import Registered
from asterism.domain.errors import UsageError
from asterism.domain.search import Hit
from asterism.engine.engine import Engine
from asterism.evaluation.labels import Found
from asterism.evaluation.reading_costs import token_count

SearchFunction: TypeAlias = Callable[[Registered, str, int], Sequence[Hit]]
"""From a repository, a query and a limit to hits, best first."""


class EngineSearcher:
    """A searcher over an engine; the repositories it indexes stay registered there."""

    def __init__(self, engine: Engine, search: SearchFunction, name: str = "asterism") -> None:
        self._engine = engine
        self._search = search
        self._registered: Registered | None = None
        self.name = name

    def index(self, directory: Path) -> str:
        """Register a directory and bring its index up to date."""
        self._registered = self._engine.register(directory)
        self._engine.index(self._registered)
        with Catalogue.open(self._registered.project.directory) as catalogue:
            held = catalogue.statistics(self._registered.repository.name)
        return f"{held.chunks:,} chunks"

    def search(self, query: str, limit: int) -> list[Found]:
        """The hits as places."""
        if self._registered is None:
            raise UsageError("No directory is indexed; call `index` first.")
        return [found_of(hit) for hit in self._search(self._registered, query, limit)]

    def close(self) -> None:
        """Forget the directory; its index is kept."""
        self._registered = None


def found_of(hit: Hit) -> Found:
    """A hit as a place that costs as much as its source."""
    chunk = hit.chunk
    return Found(
        chunk.relative_path,
        chunk.start_line,
        chunk.end_line,
        token_count(len(chunk.full_source)),
        chunk.qualified_name,
    )
