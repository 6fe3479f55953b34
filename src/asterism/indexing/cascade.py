"""Whose quotes may be out of date: the files that import a name whose signature changed.

The answer is generous: a file too many is read once more and found unchanged; a file too few would
keep a signature that no longer exists.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from asterism.backends.store.catalogue import Catalogue
from asterism.domain.index import FileState, Link, Signatures
from asterism.domain.links import path_keys
from asterism.domain.offers import EVERYTHING
from asterism.indexing.quoting import Neighbours
from asterism.indexing.reading import NOTHING_OFFERED, Read


class Change(NamedTuple):
    """What a sync changes: files read anew, files that went, and what was known before."""

    reads: Sequence[Read]
    removed: Sequence[str]
    known: Mapping[str, FileState]
    disturbed: Collection[str] = ()
    """Files that an unfinished sync saw otherwise than they are: what quotes them may be wrong."""


def dependents(catalogue: Catalogue, repo: str, change: Change, around: Neighbours) -> list[str]:
    """Known files, neither read nor removed by this sync, that may quote something changed."""
    moving = {read.path for read in change.reads} | set(change.removed)
    frontier = _changed_names(change, around)
    for path in change.disturbed:
        frontier.setdefault(path, set()).add(EVERYTHING)
    affected: set[str] = set()
    for path, link in _relinked(catalogue, repo, change, around):
        affected.add(path)
        if link.reexports:
            frontier.setdefault(path, set()).add(EVERYTHING)
    seen: dict[str, set[str]] = {}
    while frontier:
        importers = catalogue.importers(repo, list(frontier))
        ahead: dict[str, set[str]] = {}
        for target, entries in importers.items():
            for path, link in entries:
                names = _touched(link, frontier[target])
                if not names:
                    continue
                affected.add(path)
                if link.reexports and not names <= seen.get(path, set()):
                    seen.setdefault(path, set()).update(names)
                    ahead.setdefault(path, set()).update(names)
        frontier = ahead
    return sorted(affected - moving)


def _changed_names(change: Change, around: Neighbours) -> dict[str, set[str]]:
    """For each file the names under which it now offers something else, or nothing."""
    paths = [read.path for read in change.reads if read.path in change.known]
    before = around.stored([*paths, *change.removed])
    changed: dict[str, set[str]] = {}
    for read in change.reads:
        if read.path in change.known:
            names = _difference(before.get(read.path, NOTHING_OFFERED), read.signatures)
            if names:
                changed[read.path] = names
    for path in change.removed:
        changed[path] = _difference(before.get(path, NOTHING_OFFERED), NOTHING_OFFERED) | {
            EVERYTHING
        }
    return changed


def _difference(before: Signatures, after: Signatures) -> set[str]:
    names = {
        name
        for name in before.own.keys() | after.own.keys()
        if before.own.get(name) != after.own.get(name)
    }
    names |= {
        name
        for name in before.passed_on.keys() | after.passed_on.keys()
        if before.passed_on.get(name) != after.passed_on.get(name)
    }
    if before.all_of != after.all_of:
        names.add(EVERYTHING)
    return names


def _touched(link: Link, names: set[str]) -> set[str]:
    """Which of the changed names a link can carry; everything, where it may rename them."""
    if EVERYTHING in names or EVERYTHING in link.names:
        return {EVERYTHING} if link.reexports or EVERYTHING in names else set(names)
    if not names.isdisjoint(link.names):
        return {EVERYTHING} if link.reexports else names.intersection(link.names)
    return set()


def _relinked(
    catalogue: Catalogue, repo: str, change: Change, around: Neighbours
) -> Iterator[tuple[str, Link]]:
    """Imports that mean another file now that files came or went, with the file they stand in."""
    came = [read.path for read in change.reads if read.path not in change.known]
    keys = {key for path in [*came, *change.removed] for key in path_keys(path)}
    if not keys:
        return
    for path, link in catalogue.unresolved_links(repo, sorted(keys)):
        if around.resolve(path, link.module) != link.target:
            yield path, link
