"""What names add to the answer of a language server that does not know everything."""

from collections.abc import Collection
from dataclasses import replace

from asterism.analysis.resolve.candidates import GUESS
from asterism.types.structure import Connections, Edge, Fact


def completed(found: Connections, named: Connections, missing: Collection[Fact]) -> Connections:
    """The server's answer, with sure edges by name for the facts that it misses some of."""
    if Fact.calls in missing:
        found = replace(found, calls=_joined(found.calls, named.calls))
    if Fact.subtypes in missing:
        found = replace(found, subtypes=_joined(found.subtypes, named.subtypes))
    if Fact.callers in missing:
        callers = _joined(found.callers, named.callers)
        users = _joined(found.users, named.users)
        found = replace(found, callers=callers, users=users)
    if Fact.references in missing and named.references:
        files = {*(found.references or ()), *named.references}
        found = replace(found, references=tuple(sorted(files)))
    return found


def _joined(resolved: tuple[Edge, ...], named: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """Both; of one name in one line the server's word is the one that counts."""
    places = {(edge.target.path, edge.target.name) for edge in resolved}
    said = {(_last(edge), line) for edge in resolved for line in edge.lines}
    more = [
        edge
        for edge in named
        if edge.confidence > GUESS
        and (edge.target.path, edge.target.name) not in places
        and not any((_last(edge), line) in said for line in edge.lines)
    ]
    return (*resolved, *more)


def _last(edge: Edge) -> str:
    return edge.target.name.rpartition(".")[2]
