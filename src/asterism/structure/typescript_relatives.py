"""Whose references count for a member: its own, its bases' and its overrides', not its siblings'.

Asked who refers to `Dog.speak`, the compiler also names who refers to `Cat.speak`, because both
are an `Animal.speak`. A call of the base may run the dog's, a call of the cat's never does.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from asterism.structure.typescript_places import split
from asterism.structure.typescript_session import Session, Symbol, to_symbol
from asterism.structure.typescript_tree import Kind
from asterism.structure.typescript_uses import heritage_of

_HOLDERS = frozenset({Kind.class_declaration, Kind.class_expression, Kind.interface_declaration})
_MEMBER = (1 << 2) | (1 << 13) | (1 << 15) | (1 << 16)


class Group(NamedTuple):
    """References that mean one symbol, of the several that a question may lead to."""

    symbol: Symbol | None
    references: Sequence[str]
    """Handles of nodes."""


def groups_of(answer: Any) -> list[Group]:
    """The compiler's answer about references."""
    return [
        Group(to_symbol(entry.get("symbol")), entry.get("references") or ())
        for entry in answer or ()
    ]


def relatives(
    session: Session, project: str, groups: Sequence[Group], declared: AbstractSet[str]
) -> list[Group]:
    """The groups without those of siblings; `declared` are the handles of the member asked for."""
    if len(groups) < 2 or not all(_holder(session, project, one) for one in declared):
        return list(groups)
    hierarchy = _Hierarchy(session, project)
    holders = [hierarchy.holders(one.symbol) for one in groups]
    own = {holder for one in declared if (holder := _holder(session, project, one))}
    hierarchy.climb({*own, *(holder for some in holders for holder in some)})
    above_own = hierarchy.above(own)
    return [
        one
        for one, some in zip(groups, holders, strict=True)
        if not some
        or some & (own | above_own)
        or hierarchy.is_uncertain(own | some)
        or hierarchy.above(some) & own
    ]


def _holder(session: Session, project: str, declaration: str) -> str | None:
    """The class or interface that a declaration is a member of."""
    node, _, path = split(declaration)
    file = session.file(project, path)
    if file is None or node >= file.tree.count:
        return None
    above = file.tree.parent(node)
    return file.tree.handle(above) if file.tree.kind(above) in _HOLDERS else None


class _Hierarchy:
    """Declarations of classes and interfaces, each with those it says it builds on."""

    def __init__(self, session: Session, project: str) -> None:
        self._session = session
        self._project = project
        self._bases: dict[str, set[str]] = {}
        self._uncertain: set[str] = set()

    def holders(self, symbol: Symbol | None) -> frozenset[str]:
        """The declarations that a member stands in; none for what is no member of a class."""
        if symbol is None or not symbol.flags & _MEMBER:
            return frozenset()
        found = (_holder(self._session, self._project, one) for one in symbol.declarations)
        return frozenset(one for one in found if one is not None)

    def climb(self, handles: Iterable[str]) -> None:
        """Find everything above some declarations, a level at a time."""
        level = set(handles)
        while level := level - self._bases.keys():
            named = [pair for handle in sorted(level) for pair in self._named(handle)]
            self._bases |= {handle: set() for handle in level}
            symbols = self._session.symbols(self._project, [name for _, name in named])
            above = set()
            for (handle, _), symbol in zip(named, symbols, strict=True):
                for base in symbol.declarations if symbol else ():
                    if split(base)[1] in _HOLDERS:
                        self._bases[handle].add(base)
                        above.add(base)
                    elif split(base)[1] == Kind.type_alias:
                        # What a type stands for may have any members.
                        self._uncertain.add(handle)
            level = above

    def _named(self, handle: str) -> Iterator[tuple[str, str]]:
        node, _, path = split(handle)
        file = self._session.file(self._project, path)
        if file is not None and node < file.tree.count:
            for base in heritage_of(file.tree, node):
                yield handle, file.tree.handle(base.name)

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

    def is_uncertain(self, handles: AbstractSet[str]) -> bool:
        """Whether something among or above some declarations is not known."""
        return not self._uncertain.isdisjoint({*handles, *self.above(handles)})
