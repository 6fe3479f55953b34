"""References to a TypeScript symbol, sorted into callers, users, subtypes and mere files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from asterism.structure.typescript.calls import Use, heritage_of, use_of
from asterism.structure.typescript.places import CompilerView, item_place, module_place, split
from asterism.structure.typescript.session import (
    ACCESSOR,
    TYPE_PARAMETER,
    CompilerSession,
    CompilerSymbol,
    SourceFile,
    is_unresolved,
    to_symbol,
)
from asterism.structure.typescript.tree import NAME_KINDS, SyntaxKind
from asterism.types.structure import Edge, Known, SymbolPlace

_HOLDERS = frozenset(
    {SyntaxKind.class_declaration, SyntaxKind.class_expression, SyntaxKind.interface_declaration}
)
# A name may also be an alias of a type that is written out elsewhere.
_NAMED = _HOLDERS | {SyntaxKind.type_alias}

# Bits of the compiler's symbol flags: property, method, accessors.
MEMBER = (1 << 2) | (1 << 13) | (1 << 15) | (1 << 16)


class Group(NamedTuple):
    """References that mean one symbol, of the several that a question may lead to."""

    symbol: CompilerSymbol | None
    references: Sequence[str]
    """Handles of nodes."""


def groups_of(answer: Any) -> list[Group]:
    """The compiler's answer about references."""
    return [
        Group(to_symbol(entry.get("symbol")), entry.get("references") or ())
        for entry in answer or ()
    ]


class Counted(NamedTuple):
    """What is left when siblings are left out."""

    references: list[str]
    meant: AbstractSet[str]
    """The declarations that these references may mean: of the member, its bases, its overrides."""


def relatives(
    session: CompilerSession, project: str, groups: Sequence[Group], declared: AbstractSet[str]
) -> Counted:
    """The references of some groups that count; `declared` are the handles of what is asked for."""
    own = {holder for one in declared if (holder := _holder(session, project, one))}
    declarations = {d for one in groups if one.symbol for d in one.symbol.declarations}
    if len(groups) < 2 or not own:
        return Counted([h for one in groups for h in one.references], declarations | declared)
    holders = {one: _holder(session, project, one) for one in declarations}
    hierarchy = _Hierarchy(session, project)
    hierarchy.climb({*own, *(holder for holder in holders.values() if holder)})
    meant = {
        one
        for one, holder in holders.items()
        if holder is None or hierarchy.is_related(holder, own)
    } | declared
    found: list[str] = []
    for one in groups:
        is_kept = one.symbol is None or not meant.isdisjoint(one.symbol.declarations)
        found += one.references if is_kept else _shared(session, project, one, meant)
    return Counted(found, meant)


def _shared(
    session: CompilerSession, project: str, sibling: Group, meant: AbstractSet[str]
) -> Iterator[str]:
    """Of a sibling's references those that mean several members, one that counts among them.

    `issue.code` where the issue is of one of many types is put down to the first of them.
    """
    own = set(sibling.symbol.declarations if sibling.symbol else ())
    found = session.symbols(project, list(sibling.references))
    for handle, symbol in zip(sibling.references, found, strict=True):
        is_unclear = symbol is None or own.isdisjoint(symbol.declarations)
        if symbol is None or is_unclear or not meant.isdisjoint(symbol.declarations):
            yield handle


def _holder(session: CompilerSession, project: str, declaration: str) -> str | None:
    """The class or interface that a declaration is a member of."""
    node, _, path = split(declaration)
    file = session.file(project, path)
    if file is None or node >= file.tree.count:
        return None
    above = file.tree.parent(node)
    if file.tree.kind(above) == SyntaxKind.constructor:
        # Its parameters may declare members of the class.
        above = file.tree.parent(above)
    return file.tree.handle(above) if file.tree.kind(above) in _HOLDERS else None


class _Hierarchy:
    """Declarations of classes and interfaces, each with those it says it builds on."""

    def __init__(self, session: CompilerSession, project: str) -> None:
        self._session = session
        self._project = project
        self._bases: dict[str, set[str]] = {}
        self._uncertain: set[str] = set()

    def climb(self, handles: Iterable[str]) -> None:
        """Find everything above some declarations, a level at a time."""
        level = set(handles)
        while level := level - self._bases.keys():
            named = [pair for handle in sorted(level) for pair in self._named(handle)]
            self._bases |= {handle: set() for handle in level}
            symbols = self._session.symbols(self._project, [name for _, name in named])
            above = set()
            for (handle, _), symbol in zip(named, symbols, strict=True):
                declared = symbol.declarations if symbol else ()
                bases = [base for base in declared if split(base)[1] in _NAMED]
                self._bases[handle].update(bases)
                above.update(bases)
                is_known = symbol is None or symbol.flags & TYPE_PARAMETER or is_unresolved(symbol)
                if not bases and not is_known:
                    # What a function or a variable makes a class of may have any members.
                    self._uncertain.add(handle)
            level = above

    def _named(self, handle: str) -> Iterator[tuple[str, str]]:
        """The names of what a declaration builds on; of an alias, of every type it mentions."""
        node, kind, path = split(handle)
        file = self._session.file(self._project, path)
        if file is None or node >= file.tree.count:
            return
        tree = file.tree
        if kind != SyntaxKind.type_alias:
            yield from ((handle, tree.handle(base.name)) for base in heritage_of(tree, node))
            return
        for below in tree.below(node):
            name = (
                tree.first_child(below) if tree.kind(below) == SyntaxKind.type_reference else None
            )
            if name is not None:
                is_dotted = tree.kind(name) == SyntaxKind.qualified_name
                last = tree.last_child(name) if is_dotted else name
                yield handle, tree.handle(name if last is None else last)

    def above(self, handles: AbstractSet[str]) -> set[str]:
        """Everything above some declarations."""
        found: set[str] = set()
        pending = list(handles)
        while pending:
            for base in self._bases.get(pending.pop(), ()):
                if base not in found:
                    found.add(base)
                    pending.append(base)
        return found

    def is_related(self, holder: str, own: AbstractSet[str]) -> bool:
        """Whether a declaration is among some, above or below them, so far as is known."""
        above, below = self.above(own), self.above({holder})
        is_in_line = holder in own or holder in above or not below.isdisjoint(own)
        return is_in_line or not self._uncertain.isdisjoint({holder, *own, *above, *below})


_ENDINGS = (".js", ".jsx", ".cjs")
_IN_OBJECT = frozenset({SyntaxKind.shorthand_property, SyntaxKind.property_assignment})


def exported_references(
    view: CompilerView, file: SourceFile, symbol: CompilerSymbol, found: Sequence[str]
) -> list[tuple[str, str]]:
    """More references, each with the project that knows it, beside those found already."""
    if not file.path.endswith(_ENDINGS) or b"exports" not in file.tree.source.decoded:
        return []
    name = symbol.name
    meant = {*symbol.declarations, *_in_exported_objects(file, found)}
    more = []
    for project, right in view.projects:
        for path in sorted(right):
            if path != file.tree.path and view.session.mentions(path, [name]):
                handles = list(_occurrences(view, project, path, name))
                symbols = view.session.symbols(project, handles)
                more += [
                    (project, handle)
                    for handle, other in zip(handles, symbols, strict=True)
                    if other is not None and meant.intersection(other.declarations)
                ]
    return more


def _in_exported_objects(file: SourceFile, found: Sequence[str]) -> Iterator[str]:
    """`module.exports = { serve }`: importers mean that property, not the function."""
    for handle in found:
        node, _, path = split(handle)
        if path == file.tree.path and node < file.tree.count:
            above = file.tree.parent(node)
            if file.tree.kind(above) in _IN_OBJECT:
                yield file.tree.handle(above)


def _occurrences(view: CompilerView, project: str, path: str, name: str) -> Iterator[str]:
    file = view.session.file(project, path)
    if file is None:
        return
    units, tree, at = file.tree.source.units, file.tree, -1
    while (at := units.find(name, at + 1)) >= 0:
        node = tree.at(at)
        if tree.kind(node) in NAME_KINDS and tree.text(node) == name:
            yield tree.handle(node)


def indexed_references(
    session: CompilerSession,
    project: str,
    name: str,
    meant: AbstractSet[str],
    paths: AbstractSet[str],
) -> list[str]:
    """The handles of such references in some files; `meant` are handles of declarations."""
    handles = [
        handle
        for path in sorted(paths)
        if session.has_key(path, name)
        for handle in _literals(session, project, path, name)
    ]
    symbols = session.symbols(project, handles)
    return [
        handle
        for handle, symbol in zip(handles, symbols, strict=True)
        if symbol is not None and not meant.isdisjoint(symbol.declarations)
    ]


def _literals(session: CompilerSession, project: str, path: str, name: str) -> Iterator[str]:
    file = session.file(project, path)
    if file is None:
        return
    for found in re.finditer(rf"\[(['\"]){re.escape(name)}\1\]", file.tree.source.units):
        node = file.tree.at(found.start() + 1)
        if file.tree.kind(node) == SyntaxKind.string_literal:
            yield file.tree.handle(node)


class References(NamedTuple):
    """Who refers to a symbol, and how."""

    files: tuple[str, ...]
    callers: tuple[Edge, ...]
    users: tuple[Edge, ...]
    subtypes: tuple[Edge, ...]


class ReferredSymbol(NamedTuple):
    """What is referred to."""

    path: str
    flags: int
    names: frozenset[str]
    """The handles of the names that declare it."""


def references_to(
    session: CompilerSession,
    found: Iterable[tuple[str, AbstractSet[str], Sequence[str]]],
    own: ReferredSymbol,
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
    """The symbol that contains a reference, or the file."""
    index = file.around(node)
    return module_place(file) if index is None else item_place(file, index)


def _edges(makers: dict[SymbolPlace, list[int]]) -> tuple[Edge, ...]:
    return tuple(
        Edge(place, Known.resolved, lines=tuple(dict.fromkeys(lines)))
        for place, lines in makers.items()
    )
