"""All repositories a user has registered, and in what state each of them and its index is."""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.registry import Project, Registered, Registry, State
from asterism.domain.errors import IndexMissing, IndexTooNew, StoreError
from asterism.engine.wiring import damage_of


class ListedState(StrEnum):
    """The first of these that is true."""

    moved = "moved"
    missing = "missing"
    damaged = "damaged"
    newer = "of a newer Asterism"
    unindexed = "not indexed yet"
    present = "present"


class Listed(NamedTuple):
    """A repository, its state, and how much its index holds of it."""

    registered: Registered
    state: ListedState
    files: int = 0
    chunks: int = 0
    note: str = ""
    """What is wrong, where that needs more words."""


class _Holding(NamedTuple):
    files: int
    chunks: int


def list_repositories(registry: Registry) -> list[Listed]:
    """Every repository, by project and in the order they were registered."""
    return [entry for project in registry.projects() for entry in _of_project(registry, project)]


def _of_project(registry: Registry, project: Project) -> Iterator[Listed]:
    trouble, note = ListedState.unindexed, ""
    holdings: dict[str, _Holding] = {}
    try:
        holdings = _holdings(project)
    except IndexMissing:
        pass
    except IndexTooNew as error:
        trouble, note = ListedState.newer, str(error)
    except StoreError as error:
        trouble, note = ListedState.damaged, str(error)
    for entry in registry.repositories(project.id):
        held = holdings.get(entry.repository.name)
        state = ListedState.present if held is not None else trouble
        if (place := registry.state(entry)) is not State.present:
            state = ListedState(place.value)
        yield Listed(entry, state, *(held or _Holding(0, 0)), note)


def _holdings(project: Project) -> dict[str, _Holding]:
    """How much the index of a project holds of each of its repositories."""
    with Catalogue.open(project.directory) as catalogue, catalogue.snapshot():
        if damage := damage_of(project.directory, catalogue):
            raise StoreError(damage)
        found = {}
        for repository in catalogue.repositories():
            known = catalogue.statistics(repository.name)
            found[repository.name] = _Holding(known.files, known.chunks)
        return found
