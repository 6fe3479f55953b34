"""Looks up names: places by role, exact counts, similar names; and code like a place."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from asterism.engine.modes import SearchResources, SearchResult, encoder_sources, only_hits
from asterism.engine.snapshot import Freshness, QuerySnapshot
from asterism.search.ranking.options import RankOptions
from asterism.search.recall import CodePlace, Model, Sources
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Registered, Registry
from asterism.types.errors import (
    AsterismError,
    IndexMissing,
    NotText,
    PathMissing,
    UsageError,
    WrongPathKind,
)
from asterism.types.files import SkipReason, display_path
from asterism.types.index import FoundSymbol, Role, SymbolQuery
from asterism.types.search import Question, Search, Total


def place_in(
    registered: Registered, path: Path, first: int | None = None, last: int | None = None
) -> CodePlace:
    """A place of a repository; an error says what is wrong with the file or the lines."""
    shown = display_path(str(path))
    if not os.path.lexists(path):
        raise PathMissing(f"{shown} does not exist; check the path.")
    if path.is_dir():
        raise WrongPathKind(f"{shown} is a directory; give a file in it, or FILE:LINE.")
    if first is not None and first < 1:
        raise UsageError(f"There is no line {first}; lines are counted from 1.")
    if first is not None and last is not None and last < first:
        raise UsageError(f"Line {last} stands before line {first}; give the first line first.")
    root = registered.repository.root
    # The file itself may be a link, which is not followed.
    relative = os.path.relpath(Path(os.path.realpath(path.parent), path.name), root)
    if relative.startswith(os.pardir):
        raise UsageError(f"{shown} is not inside {display_path(root)}; give a file in it.")
    return CodePlace(display_path(relative.replace(os.sep, "/")), first, last)


def question_of(place: CodePlace) -> Question:
    """A question that is a place."""
    return Question(text=str(place), is_code=True)


def found_like(
    place: CodePlace,
    registered: Registered,
    asked: Search,
    sources: Sources,
    means: SearchResources,
) -> tuple[SearchResult, Model]:
    """What is like the code at a place, and that code; no model is loaded for it."""
    from asterism.search.similar import find_similar, model_at

    model = model_at(sources.chunks, registered.repository.name, place)
    if model is None:
        raise _not_indexed(place, registered, sources.catalogue)
    second, notes = encoder_sources(sources, means)
    compared = sources if second is None else second.sources
    hits = find_similar(model, compared, asked.limit, RankOptions())
    whose = sources.catalogue.manifest().model if second is None else second.model
    total = Total(len(hits), exact=False)
    return SearchResult(hits, only_hits, total, notes=notes, vectors_of=whose), model


def _not_indexed(place: CodePlace, registered: Registered, catalogue: Catalogue) -> AsterismError:
    """Why the index has nothing of a file that exists."""
    repository = registered.repository
    file = display_path(os.path.join(repository.root, place.path))  # noqa: PTH118 - may be no text
    for entry in catalogue.skipped(repository.name):
        path = display_path(entry.path)
        if path != place.path and not (path.endswith("/") and place.path.startswith(path)):
            continue
        if entry.reason == SkipReason.binary:
            return NotText(f"{place.path} is a binary file; give one with source code in it.")
        return IndexMissing(
            f"{place.path} is not in the index, because it is left out: {entry.reason}; "
            f"`asterism debug file {file}` says more."
        )
    return IndexMissing(
        f"The index has no code of {place.path}: it is empty, or not indexed yet; "
        f"`asterism debug file {file}` says which."
    )


@dataclass(frozen=True, slots=True)
class Lookup:
    """The places of a name, definitions first."""

    registered: Registered
    name: str
    symbols: tuple[FoundSymbol, ...]
    """As many as were asked for."""
    counts: Mapping[Role, int]
    state: Freshness
    version: int
    """Of the index; a later page of the same version continues this one."""
    """How many there are of each role that occurs, whatever was asked for."""
    did_you_mean: tuple[str, ...] = ()
    """Names of definitions that look like this one; only where nothing was found."""

    @property
    def total(self) -> int:
        """How many places there are."""
        return sum(self.counts.values())


def look_up(snapshot: QuerySnapshot, query: SymbolQuery) -> Lookup:
    """Find a name in one repository; an error says what to do where that was never indexed."""
    registered, catalogue = snapshot.registered, snapshot.catalogue
    snapshot.check_known()
    found: list[FoundSymbol] = []
    counts: dict[Role, int] = {}
    for role in query.roles or tuple(Role):
        page = catalogue.find_symbols(
            replace(
                query,
                roles=(role,),
                by_end=role is Role.DEFINITION,
                repos=(registered.repository.name,),
                limit=max(0, query.limit - len(found)),
            )
        )
        found += page.rows
        if page.total:
            counts[role] = page.total
    return Lookup(
        registered=registered,
        name=query.name,
        symbols=tuple(found),
        counts=counts,
        state=snapshot.freshness,
        version=snapshot.version,
        did_you_mean=() if counts else tuple(catalogue.similar_names(query.name)),
    )


def repository_of(registry: Registry, registered: Registered, repos: Sequence[str]) -> Registered:
    """The one repository that a filter names: files of several do not connect."""
    names = {*repos} or {registered.repository.name}
    if len(names) > 1:
        raise UsageError(
            "Connections are those of one repository; name one in the filter, not "
            f"{', '.join(sorted(names))}."
        )
    if registered.repository.name in names:
        return registered
    entries = registry.repositories(registered.project.id)
    # The search reports a name that does not exist.
    return next((one for one in entries if one.repository.name in names), registered)
