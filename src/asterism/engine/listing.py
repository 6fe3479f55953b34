"""All repositories a user has registered, and in what state each of them and its index is."""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from asterism.engine.wiring import damage_of
from asterism.indexing.staleness import first_build
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Project, Registered, Registry, State
from asterism.types.errors import IndexCorrupt, IndexMissing, IndexTooNew, StoreError
from asterism.types.index_states import not_indexed


class ListedState(StrEnum):
    """The first of these that is true."""

    moved = "moved"
    missing = "missing"
    damaged = "damaged"
    unreadable = "cannot be read"
    newer = "of a newer Asterism"
    unindexed = "not indexed yet"
    unfinished = "not finished"
    """The first build is under way, or has stopped."""
    present = "present"


class Listed(NamedTuple):
    """A repository, its state, and how much its index holds of it."""

    registered: Registered
    state: ListedState
    files: int = 0
    chunks: int = 0
    note: str = ""
    """What `asterism status` says of that state, where it is not `present`."""


class _Holding(NamedTuple):
    files: int
    chunks: int
    note: str = ""


def list_repositories(registry: Registry) -> list[Listed]:
    """Every repository, by project and in the order they were registered."""
    return [entry for project in registry.projects() for entry in _of_project(registry, project)]


def _of_project(registry: Registry, project: Project) -> Iterator[Listed]:
    trouble, said = ListedState.unindexed, ""
    holdings: dict[str, _Holding] = {}
    try:
        holdings = _holdings(project)
    except IndexMissing:
        pass
    except IndexTooNew as error:
        trouble, said = ListedState.newer, str(error)
    except IndexCorrupt as error:
        trouble, said = ListedState.damaged, str(error)
    except StoreError as error:
        trouble, said = ListedState.unreadable, str(error)
    for entry in registry.repositories(project.id):
        held = holdings.get(entry.repository.name)
        state = trouble if held is None else ListedState.present
        if held is not None and held.note:
            state = ListedState.unfinished
        if (place := registry.state(entry)) is not State.present:
            state = ListedState(place.value)
        if held is None:
            held = _Holding(0, 0, said or not_indexed(entry.repository.root))
        yield Listed(entry, state, held.files, held.chunks, held.note)


def _holdings(project: Project) -> dict[str, _Holding]:
    """How much the index of a project holds of each of its repositories."""
    with Catalogue.open(project.directory) as catalogue, catalogue.snapshot():
        if damage := damage_of(project.directory, catalogue):
            raise IndexCorrupt(damage)
        found = {}
        for repository in catalogue.repositories():
            known = catalogue.statistics(repository.name)
            found[repository.name] = _Holding(
                known.files, known.chunks, first_build(catalogue, repository)
            )
        return found
