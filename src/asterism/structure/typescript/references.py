"""References to a TypeScript symbol, sorted into callers, users, subtypes and mere files."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from asterism.structure.typescript.files import SourceFile
from asterism.structure.typescript.places import item_place, module_place, split
from asterism.structure.typescript.session import ACCESSOR, Session
from asterism.structure.typescript.tree import NAME_KINDS
from asterism.structure.typescript.uses import Use, use_of
from asterism.types.structure import Edge, Known, SymbolPlace


class References(NamedTuple):
    """Who refers to a symbol, and how."""

    files: tuple[str, ...]
    callers: tuple[Edge, ...]
    users: tuple[Edge, ...]
    subtypes: tuple[Edge, ...]


class Own(NamedTuple):
    """What is referred to."""

    path: str
    flags: int
    names: frozenset[str]
    """The handles of the names that declare it."""


def references_to(
    session: Session,
    found: Iterable[tuple[str, AbstractSet[str], Sequence[str]]],
    own: Own,
) -> References:
    """Sort references, given per project with the files it is right about."""
    sorted_uses: dict[Use, dict[SymbolPlace, list[int]]] = {use: {} for use in Use}
    files = set()
    for project, right, handles in found:
        for handle in sorted(set(handles), key=split_for_order):
            node, _, path = split(handle)
            file = session.file(project, path) if path in right else None
            if file is None or node >= file.tree.count or file.tree.kind(node) not in NAME_KINDS:
                continue
            files.add(file.path)
            use = Use.declares if handle in own.names else use_of(file, node)
            if use is Use.mentions and own.flags & ACCESSOR:
                use = Use.calls
            lines = sorted_uses[use].setdefault(_maker(file, node), [])
            lines.append(file.tree.line(node))
    callers = sorted_uses[Use.calls]
    users = {p: ln for p, ln in sorted_uses[Use.mentions].items() if p not in callers}
    return References(
        tuple(sorted(files - {own.path})),
        _edges(callers),
        _edges(users),
        _edges(sorted_uses[Use.extends]),
    )


def split_for_order(handle: str) -> tuple[str, int]:
    """By file and place in it."""
    node, _, path = split(handle)
    return path, node


def _maker(file: SourceFile, node: int) -> SymbolPlace:
    """The symbol that a reference stands in, or the file where it stands in none."""
    index = file.around(node)
    return module_place(file) if index is None else item_place(file, index)


def _edges(makers: dict[SymbolPlace, list[int]]) -> tuple[Edge, ...]:
    return tuple(
        Edge(place, Known.resolved, lines=tuple(dict.fromkeys(lines)))
        for place, lines in makers.items()
    )
