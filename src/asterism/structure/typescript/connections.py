"""Everything the TypeScript compiler knows of one symbol, under the names of our index."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from asterism.structure.positions import SymbolTarget, find_item, unknown
from asterism.structure.typescript.calls import calls_of, heritage_of
from asterism.structure.typescript.places import IMPORT_CONFIDENCE, CompilerView, item_place, split
from asterism.structure.typescript.references import (
    MEMBER,
    Group,
    References,
    ReferredSymbol,
    exported_references,
    groups_of,
    indexed_references,
    references_to,
    relatives,
)
from asterism.structure.typescript.session import (
    CompilerSession,
    CompilerSymbol,
    SourceFile,
    is_unresolved,
)
from asterism.structure.typescript.signatures import (
    function_in,
    function_shape,
    is_value,
    members_of,
    value_of,
    value_type,
)
from asterism.structure.typescript.tree import SyntaxKind
from asterism.types.errors import ServerRefused
from asterism.types.outline import Item
from asterism.types.structure import (
    Connections,
    Edge,
    Fact,
    Gap,
    Known,
    Member,
    SymbolPlace,
    TypeFlow,
)

# How sure a name alone makes us of a base class that nothing declares.
NAME_CONFIDENCE = 0.5

_CLASS_FLAG = 1 << 5
_BODIES = frozenset({"function", "method", "constructor"})
_RENAMING = frozenset({SyntaxKind.import_specifier, SyntaxKind.export_specifier})
_TYPE, _VALUE, _NAMESPACE = 1, 2, 4
_MEANINGS: Mapping[int, int] = {
    SyntaxKind.interface_declaration: _TYPE,
    SyntaxKind.type_alias: _TYPE,
    SyntaxKind.class_declaration: _TYPE | _VALUE,
    SyntaxKind.class_expression: _TYPE | _VALUE,
    SyntaxKind.enum_declaration: _TYPE | _VALUE,
    SyntaxKind.module_declaration: _VALUE | _NAMESPACE,
}
_TYPED = frozenset(
    {SyntaxKind.class_declaration, SyntaxKind.class_expression, SyntaxKind.interface_declaration}
)


class CompilerDeclaration(NamedTuple):
    """One declaration of a symbol in the repository."""

    file: SourceFile
    node: int
    item: int | None
    """In the file's outline."""


def connections_of(view: CompilerView, target: SymbolTarget) -> Connections:
    """What is known of a target; whatever is not known is among the gaps."""
    file = view.session.file(view.project, f"{view.session.root}/{target.path}")
    if file is None:
        return unknown(target, "the compiler does not have this file")
    index = find_item(file.outline, target)
    if index is None:
        return unknown(target, f"{target.path} no longer declares {target.name}")
    return _Asking(view, file, index).answer()


class _Asking:
    """The questions about one symbol; a question the compiler refuses leaves a gap."""

    def __init__(self, view: CompilerView, file: SourceFile, index: int) -> None:
        self._view = view
        self._file = file
        self._index = index
        self._item: Item = file.item(index)
        self._node = file.node_of(self._item)
        self._declaration = file.declaration_of(self._node)
        self._gaps: list[Gap] = []
        self._symbol = self._own_symbol()
        self._declared = list(self._declarations())

    def answer(self) -> Connections:
        """All facts together."""
        bases = self._bases()
        signature, types_in, types_out = self._shape()
        kind, value, more_out = self._value()
        uses = self._uses()
        return Connections(
            symbol=item_place(self._file, self._index),
            kind=self._item.kind,
            signature=signature,
            modifiers=self._item.modifiers,
            is_exported=self._item.exported,
            extends=tuple(edge for edge, implements in bases if not implements),
            implements=tuple(edge for edge, implements in bases if implements),
            subtypes=uses.subtypes if uses else (),
            calls=self._calls(),
            callers=uses.callers if uses else (),
            users=uses.users if uses else (),
            references=uses.files if uses else None,
            types_in=types_in,
            types_out=types_out or more_out,
            members=self._members(),
            type=kind,
            value=value,
            gaps=tuple(self._gaps),
        )

    def _refused(self, error: ServerRefused, *facts: Fact) -> None:
        self._gaps.append(Gap(facts, f"the compiler refused: {error}"))

    def _own_symbol(self) -> CompilerSymbol | None:
        handle = self._file.tree.handle(self._node)
        try:
            return self._view.session.symbols(self._view.project, [handle])[0]
        except ServerRefused:
            return None

    def _declarations(self) -> Iterator[CompilerDeclaration]:
        """Every declaration of the symbol in the repository, the one asked for first.

        A type and a value of one name are one symbol to the compiler and two in the index.
        """
        yield CompilerDeclaration(self._file, self._declaration, self._index)
        own = self._file.tree.handle(self._declaration)
        handles = self._symbol.declarations if self._symbol else ()
        meaning = _meaning(split(own)[1], [split(handle)[1] for handle in handles])
        for handle in handles:
            node, kind, path = split(handle)
            if handle == own or path not in self._view.files:
                continue
            if not meaning & _MEANINGS.get(kind, _VALUE):
                continue
            file = self._view.session.file(self._view.project, path)
            if file is not None and node < file.tree.count:
                yield CompilerDeclaration(file, node, file.named(node))

    def _bases(self) -> list[tuple[Edge, bool]]:
        try:
            return [
                base
                for declared in self._declared
                if declared.file.tree.kind(declared.node) in _TYPED
                for base in _bases_of(self._view, declared)
            ]
        except ServerRefused as error:
            self._refused(error, Fact.extends, Fact.implements)
            return []

    def _shape(self) -> tuple[str, tuple[TypeFlow, ...], tuple[TypeFlow, ...]]:
        tree = self._file.tree
        written = self._item.signature
        function = function_in(tree, self._declaration)
        try:
            if function is not None:
                shape = function_shape(self._file, self._declaration, function, self._view.types)
                return shape.signature or written, shape.types_in, shape.types_out
            for member in tree.children(self._declaration):
                if tree.kind(member) == SyntaxKind.constructor:
                    shape = function_shape(self._file, member, member, self._view.types)
                    return written, shape.types_in, ()
        except ServerRefused as error:
            self._refused(error, Fact.signature, Fact.types_in, Fact.types_out)
        return written, (), ()

    def _value(self) -> tuple[str | None, str | None, tuple[TypeFlow, ...]]:
        tree = self._file.tree
        if not is_value(tree, self._declaration) or self._item.kind in _BODIES:
            return None, None, ()
        try:
            kind, flows = value_type(self._file, self._declaration, self._view.types)
        except ServerRefused as error:
            self._refused(error, Fact.value)
            return None, None, ()
        value = value_of(tree, self._declaration)
        return kind, value, () if self._item.kind == "enum_member" else flows

    def _uses(self) -> References | None:
        position = self._file.tree.start(self._node)
        handle = self._file.tree.handle(self._node)
        names = [(d.file, d.file.name_of(d.node)) for d in self._declared]
        own = ReferredSymbol(
            self._file.path,
            self._symbol.flags if self._symbol else 0,
            frozenset(file.tree.handle(name) for file, name in names if name is not None),
        )
        try:
            found = list(self._referenced(handle, position))
            found += self._exported(handles=[one for _, _, handles in found for one in handles])
            return references_to(self._view.session, found, own)
        except ServerRefused as error:
            self._refused(error, Fact.references, Fact.callers, Fact.subtypes)
            return None

    def _referenced(
        self, handle: str, position: int
    ) -> Iterator[tuple[str, AbstractSet[str], list[str]]]:
        """References in the own project, then in those with files that have one of its names."""
        view = self._view
        own = {d.file.tree.handle(d.node) for d in self._declared}
        groups = _groups(view.session, view.project, handle, position)
        first = self._counted(view.project, own, groups, dict(view.projects)[view.project])
        is_alone = len(view.projects) == 1
        names = set() if is_alone else {self._item.name, *self._renamed(first)}
        has_any_name = "default" in self._item.modifiers
        asked = [] if is_alone else [(handle, position), *self._elsewhere(groups)]
        for project, right in view.projects:
            if project == view.project:
                yield project, right, first
            elif has_any_name or any(view.session.mentions(path, names) for path in right):
                more = _first_answer(view.session, project, asked)
                yield project, right, self._counted(project, own, more, right)

    def _counted(
        self, project: str, own: AbstractSet[str], groups: Sequence[Group], right: AbstractSet[str]
    ) -> list[str]:
        """The references in a project that count, with those the compiler overlooked."""
        session = self._view.session
        if self._file.tree.kind(self._declaration) == SyntaxKind.binding_element:
            return _only(session, project, groups, own)
        counted = relatives(session, project, groups, own)
        if not self._symbol or not self._symbol.flags & MEMBER:
            return counted.references
        paths = right - {split(handle)[2] for handle in counted.references}
        return counted.references + indexed_references(
            session, project, self._symbol.name, counted.meant, paths
        )

    def _elsewhere(self, groups: Sequence[Group]) -> Iterator[tuple[str, int]]:
        """Names that declare what the symbol implements: members of bases, or of expected types.

        A project that does not have the symbol's own file may have theirs, and refer to it so.
        """
        for group in groups:
            for handle in group.symbol.declarations[:1] if group.symbol else ():
                node, kind, path = split(handle)
                file = self._view.session.file(self._view.project, path)
                if kind in _RENAMING or path == self._file.tree.path or file is None:
                    continue
                name = file.name_of(node) if node < file.tree.count else None
                if name is not None:
                    yield file.tree.handle(name), file.tree.start(name)

    def _renamed(self, handles: list[str]) -> Iterator[str]:
        """The other names that imports and exports give to the symbol."""
        for handle in handles:
            node, _, path = split(handle)
            file = self._view.session.file(self._view.project, path)
            if file is not None and node < file.tree.count:
                above = file.tree.parent(node)
                if file.tree.kind(above) in _RENAMING:
                    yield from (file.tree.text(child) for child in file.tree.children(above))

    def _exported(self, handles: list[str]) -> list[tuple[str, AbstractSet[str], list[str]]]:
        if self._symbol is None or not self._item.exported:
            return []
        more = exported_references(self._view, self._file, self._symbol, handles)
        return [(project, self._view.files, [handle]) for project, handle in more]

    def _calls(self) -> tuple[Edge, ...]:
        here = [d for d in self._declared if d.file is self._file]
        owners = {d.item for d in here if d.item is not None}
        nodes = [d.node for d in here]
        if self._file.tree.kind(self._declaration) == SyntaxKind.binding_element:
            nodes, owners = self._file.taken_apart(self._declaration)
        try:
            found = calls_of(self._view, self._file, nodes, owners)
            if found.given:
                named = ", ".join(found.given)
                self._gaps.append(Gap((Fact.calls,), f"whatever is passed as {named}"))
            return found.edges
        except ServerRefused as error:
            self._refused(error, Fact.calls)
            return ()

    def _members(self) -> tuple[Member, ...]:
        if self._item.kind in _BODIES:
            return ()
        places = [(d.file, d.item) for d in self._declared if d.item is not None]
        try:
            return members_of(places, self._file.path, self._view.types)
        except ServerRefused as error:
            self._refused(error, Fact.members)
            return ()


def _meaning(own: int, others: Sequence[int]) -> int:
    """What a declaration means, together with those that share a meaning with it."""
    meaning = _MEANINGS.get(own, _VALUE)
    # An interface reaches a namespace through a class: no chain is longer.
    for kind in (*others, *others):
        more = _MEANINGS.get(kind, _VALUE)
        meaning |= more if more & meaning else 0
    return meaning


def _groups(session: CompilerSession, project: str, handle: str, position: int) -> list[Group]:
    """All references in a project, by what they mean."""
    return groups_of(
        session.ask(project, "getReferencedSymbolsForNode", node=handle, position=position)
    )


def _only(
    session: CompilerSession, project: str, groups: Sequence[Group], own: AbstractSet[str]
) -> list[str]:
    """References to a variable that takes a member apart, without those to the member."""
    handles = [handle for group in groups for handle in group.references]
    symbols = session.symbols(project, handles)
    return [
        handle
        for handle, symbol in zip(handles, symbols, strict=True)
        if symbol is not None and not own.isdisjoint(symbol.declarations)
    ]


def _first_answer(
    session: CompilerSession, project: str, asked: Sequence[tuple[str, int]]
) -> list[Group]:
    """The references to the first of some names that a project has; those of none it has."""
    for handle, position in asked:
        with contextlib.suppress(ServerRefused):
            return _groups(session, project, handle, position)
    return []


def _bases_of(view: CompilerView, declared: CompilerDeclaration) -> list[tuple[Edge, bool]]:
    tree = declared.file.tree
    named = heritage_of(tree, declared.node)
    symbols = view.session.symbols(view.project, [tree.handle(base.name) for base in named])
    found = []
    for base, symbol in zip(named, symbols, strict=True):
        lines = (tree.line(base.name),)
        if base.is_argument and not (symbol and symbol.flags & _CLASS_FLAG):
            continue
        is_class = (
            tree.kind(declared.node) != SyntaxKind.interface_declaration and not base.implements
        )
        find = view.places.of if is_class else view.places.of_type
        place = find(symbol) if symbol else None
        if symbol is None or place is None:
            written = SymbolPlace(tree.text(base.name), None)
            edge = Edge(written, Known.by_name, NAME_CONFIDENCE, lines)
        elif is_unresolved(symbol):
            edge = Edge(place, Known.by_name, IMPORT_CONFIDENCE, lines)
        else:
            edge = Edge(place, Known.resolved, lines=lines)
        found.append((edge, base.implements))
    return found
