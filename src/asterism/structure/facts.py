"""A symbol's connections, from outlines and a name resolver."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from asterism.analysis.resolve.candidates import GUESS, Declaration, Meaning
from asterism.analysis.resolve.receivers import bases_of
from asterism.analysis.resolve.resolver import Resolver
from asterism.analysis.resolve.scopes import ADDITIONS, CONTAINERS, FileScope
from asterism.structure.positions import SymbolTarget, find_item
from asterism.structure.repository import IndexedRepository, Moment
from asterism.structure.shapes import (
    flows_in,
    flows_out,
    gaps_of,
    is_lambda,
    makers_of,
    members_of,
    one_line,
    place_of,
    type_of,
    value_of,
)
from asterism.structure.uses import Use, Uses, find_uses, is_call, may_be_call
from asterism.types.outline import Item, Reference
from asterism.types.structure import CALLABLE, Connections, Edge, Fact, Gap, Known, SymbolPlace

_INTERFACES = frozenset({"interface", "trait", "protocol", "module"})


# How many types above a method are looked at for the one that it overrides.
_MOST_BASES = 20

_Found: TypeAlias = defaultdict[SymbolPlace, list[tuple[int, float]]]
_Base: TypeAlias = tuple[Meaning | None, Reference, bool]


class Sense(Protocol):
    """Who knows what names mean at one moment: the resolver, or a language server."""

    @property
    def known(self) -> Known:
        """How whatever it says is known."""
        ...

    def scope(self, path: str) -> FileScope | None:
        """A file as it is now."""
        ...

    def resolve(self, scope: FileScope, reference: Reference) -> Meaning | None:
        """What a name means where it stands."""
        ...

    def bases(self, declaration: Declaration) -> list[_Base]:
        """What a type extends and implements: meaning, the name as written, and which of both."""
        ...

    def uses(self, declaration: Declaration) -> Uses:
        """Who uses a symbol."""
        ...


class Facts:
    """Puts together what a sense knows of symbols."""

    def __init__(self, sense: Sense, max_value: int) -> None:
        """`max_value` is how many characters of a constant's value are shown."""
        self._sense = sense
        self._max_value = max_value

    def connections(self, target: SymbolTarget) -> Connections | None:
        """Everything that is known of a symbol; None where its file has it no more."""
        declaration = self._declaration(target)
        scope = self._sense.scope(target.path)
        if declaration is None or scope is None:
            return None
        item = scope.outline.items[declaration.number]
        uses = self._sense.uses(declaration)
        uses = uses._replace(uses=self._meant(scope, item, uses.uses))
        bases = [*self._bases(scope, item, declaration)]
        number = declaration.number
        paths = {use.scope.path for use in uses.uses} | {*uses.importers}
        return Connections(
            symbol=place_of(scope, number),
            kind=item.kind,
            signature=item.signature,
            modifiers=item.modifiers,
            is_exported=item.exported,
            extends=tuple(self._heritage(bases, implements=False)),
            implements=tuple(self._heritage(bases, implements=True)),
            subtypes=self._subtypes(uses.uses),
            calls=self._calls(scope, number),
            callers=self._callers(uses.uses, calls=True),
            users=self._callers(uses.uses, calls=False),
            references=tuple(sorted(paths - {declaration.path})),
            types_in=flows_in(scope, number, self._origin),
            types_out=() if is_lambda(scope, item) else flows_out(scope, number, self._origin),
            members=members_of(scope, item),
            type=type_of(scope, item),
            value=value_of(scope, item, self._max_value),
            gaps=(*uses.gaps, *gaps_of(scope, item), *self._inherited(scope, declaration, uses)),
        )

    def _inherited(self, scope: FileScope, method: Declaration, uses: Uses) -> Iterator[Gap]:
        """A method without callers may be called through the type whose method it overrides."""
        item = scope.outline.items[method.number]
        container = scope.by_path.get(item.path[:-1], ()) if item.kind == "method" else ()
        if uses.uses or not container:
            return
        types = [Declaration(scope.path, container[0])]
        for _ in range(_MOST_BASES):
            if not types:
                return
            around = types.pop(0)
            for meaning, _, _ in self._bases(scope, self._item(around), around):
                base = meaning.declaration if meaning else None
                there = self._sense.scope(base.path) if base else None
                if base is None or there is None:
                    continue
                if there.member(there.outline.items[base.number].path, item.name) is not None:
                    name = f"{self._item(base).qualified_name}.{item.name}"
                    yield Gap((Fact.callers,), f"calls through {name}, which it overrides")
                    return
                types.append(base)

    def _declaration(self, target: SymbolTarget) -> Declaration | None:
        scope = self._sense.scope(target.path)
        number = find_item(scope.outline, target) if scope else None
        return None if number is None else Declaration(target.path, number)

    def _calls(self, scope: FileScope, number: int) -> tuple[Edge, ...]:
        found: _Found = defaultdict(list)
        inside = [
            reference
            for index in makers_of(scope, number)
            for reference in scope.references_in.get(index, ())
        ]
        for reference in sorted(inside, key=lambda reference: (reference.line, reference.column)):
            if not may_be_call(scope, reference):
                continue
            meaning = self._sense.resolve(scope, reference)
            place = self._called(scope, reference, meaning) if meaning else None
            if place is not None and meaning is not None:
                found[place].append((reference.line, meaning.confidence))
        return self._edges(found)

    def _called(
        self, scope: FileScope, reference: Reference, meaning: Meaning
    ) -> SymbolPlace | None:
        if meaning.declaration is None:
            if not is_call(scope, reference, None):
                return None
            receiver = one_line(reference.receiver or "")
            name = f"{receiver}.{reference.name}" if receiver else reference.name
            return SymbolPlace(name, None, module=meaning.module)
        target = self._item(meaning.declaration)
        if not is_call(scope, reference, target):
            return None
        return self._head(self._callable(meaning.declaration))

    def _callable(self, declaration: Declaration) -> Declaration:
        """What a call means where a field and a method have one name."""
        scope = self._sense.scope(declaration.path)
        item = self._item(declaration)
        if scope is None or item.kind in CALLABLE or item.kind in CONTAINERS:
            return declaration
        same = scope.by_path.get(item.path, ())
        called = (number for number in same if scope.outline.items[number].kind in CALLABLE)
        return Declaration(declaration.path, next(called, declaration.number))

    def _meant(self, scope: FileScope, item: Item, uses: tuple[Use, ...]) -> tuple[Use, ...]:
        """The uses of an item itself: calls are of the method where a field has its name."""
        same = [scope.outline.items[index] for index in scope.by_path.get(item.path, ())]
        kinds = {other.kind in CALLABLE for other in same if other.kind not in CONTAINERS}
        if item.kind in CONTAINERS or len(kinds) == 1:
            return uses
        wanted = item.kind in CALLABLE
        return tuple(use for use in uses if is_call(use.scope, use.reference, item) is wanted)

    def _callers(self, uses: Iterable[Use], calls: bool) -> tuple[Edge, ...]:
        """The symbols that call, or those that mention without calling."""
        found: _Found = defaultdict(list)
        for use in uses:
            target = use.meaning.declaration
            item = self._item(target) if target else None
            if is_call(use.scope, use.reference, item) is calls and (
                calls or not self._is_base(use)
            ):
                caller = self._enclosing(use)
                found[caller].append((use.reference.line, use.meaning.confidence))
        return self._edges(found)

    def _enclosing(self, use: Use) -> SymbolPlace:
        """The symbol that makes a use; the file itself where no symbol does."""
        at = use.reference.enclosing
        while at is not None and not use.scope.outline.items[at].is_symbol:
            at = use.scope.outline.items[at].parent
        if at is None:
            return SymbolPlace(use.scope.path, use.scope.path, None, "file")
        item = use.scope.outline.items[at]
        same = (use.scope.outline.items[number] for number in use.scope.by_path.get(item.path, ()))
        if (
            item.body
            and sum(other.kind in CALLABLE and other.body is not None for other in same) > 1
        ):
            # Of several functions of one name the one that contains the use.
            return place_of(use.scope, at)
        return self._head(Declaration(use.scope.path, at))

    def _is_base(self, use: Use) -> bool:
        at = use.reference.enclosing
        if at is None or use.scope.outline.items[at].kind not in CONTAINERS:
            return False
        return any(base.reference == use.reference for base in bases_of(use.scope, at))

    def _subtypes(self, uses: Iterable[Use]) -> tuple[Edge, ...]:
        found: _Found = defaultdict(list)
        for use in uses:
            if use.reference.enclosing is not None and self._is_base(use):
                child = self._head(Declaration(use.scope.path, use.reference.enclosing))
                found[child].append((use.reference.line, use.meaning.confidence))
        return self._edges(found)

    def _bases(self, scope: FileScope, item: Item, declaration: Declaration) -> Iterator[_Base]:
        """The bases of a type and of what its file adds to it."""
        for number in scope.by_path.get(item.path, (declaration.number,)):
            if number == declaration.number or scope.outline.items[number].kind in ADDITIONS:
                yield from self._sense.bases(Declaration(declaration.path, number))

    def _heritage(self, bases: Iterable[_Base], implements: bool) -> Iterator[Edge]:
        for meaning, reference, is_interface in bases:
            if self._is_interface(meaning, is_interface) != implements:
                continue
            if meaning is None or meaning.declaration is None:
                module = meaning.module if meaning else None
                place = SymbolPlace(reference.name, None, module=module)
                yield Edge(place, Known.by_name, 1.0, (reference.line,))
            else:
                place = self._head(meaning.declaration)
                yield Edge(place, self._sense.known, meaning.confidence, (reference.line,))

    def _is_interface(self, meaning: Meaning | None, said: bool) -> bool:
        """What the declaration itself is decides, where it was found."""
        if meaning is None or meaning.declaration is None:
            return said
        kind = self._item(meaning.declaration).kind
        return kind in _INTERFACES or (said and kind != "class")

    def _origin(self, scope: FileScope, reference: Reference) -> Edge | None:
        """Where a type in a header is declared; None for what is no type of the repository."""
        meaning = self._sense.resolve(scope, reference)
        if meaning is None or meaning.declaration is None:
            return None
        prelude = scope.facets.scopes.prelude
        is_loose = reference.name in prelude or reference.receiver is not None
        if prelude and is_loose and meaning.confidence <= GUESS:
            # A guess at another type of that name is wrong, as it is at the `Error` of any other
            # type for `S::Error`.
            return None
        target = self._head(meaning.declaration)
        # What is added to a type parameter, as by `impl Sink for &mut S`, declares no type.
        if target.kind not in CONTAINERS or target.kind in ADDITIONS:
            return None
        return Edge(target, self._sense.known, meaning.confidence, (reference.line,))

    def _head(self, declaration: Declaration) -> SymbolPlace:
        """The symbol of a declaration: overloads and additions to a type are one symbol.

        A field and a method of one name are two.
        """
        scope = self._sense.scope(declaration.path)
        if scope is None:
            raise LookupError(declaration.path)
        item = scope.outline.items[declaration.number]
        same = [
            number
            for number in scope.by_path.get(item.path, ())
            if (scope.outline.items[number].kind in CALLABLE) is (item.kind in CALLABLE)
        ]
        return place_of(scope, scope.head(same) if same else declaration.number)

    def _item(self, declaration: Declaration) -> Item:
        scope = self._sense.scope(declaration.path)
        if scope is None:
            raise LookupError(declaration.path)
        return scope.outline.items[declaration.number]

    def _edges(self, found: _Found) -> tuple[Edge, ...]:
        return tuple(
            Edge(
                place,
                self._sense.known,
                max(confidence for _, confidence in uses),
                tuple(sorted({line for line, _ in uses})),
            )
            for place, uses in found.items()
        )


@dataclass(frozen=True, slots=True)
class ByNameOptions:
    """How much is read for one symbol."""

    max_files: int = 300
    """Files that are read for one name; a name that more mention says little about any of them."""
    max_value: int = 120
    """Characters of a constant's value; a longer one says little in a list."""


DEFAULTS = ByNameOptions()


class ByName:
    """Answers by names at one moment of a repository; what was found once is not looked for again.

    Files are read as they are now.
    """

    def __init__(self, repository: IndexedRepository, options: ByNameOptions = DEFAULTS) -> None:
        self._facts = Facts(_ByNames(repository, options), options.max_value)

    def connections(self, target: SymbolTarget) -> Connections | None:
        """Everything that is known of a symbol; None where its file has it no more."""
        return self._facts.connections(target)


class _ByNames:
    """What names mean by scopes and imports, at one moment."""

    known = Known.by_name

    def __init__(self, repository: IndexedRepository, options: ByNameOptions) -> None:
        self._moment = Moment(repository)
        self._resolver = Resolver(self._moment)
        self._options = options

    def scope(self, path: str) -> FileScope | None:
        """A file as it is now."""
        return self._moment.scope(path)

    def resolve(self, scope: FileScope, reference: Reference) -> Meaning | None:
        """What a name means where it stands."""
        return self._resolver.resolve(scope, reference)

    def bases(self, declaration: Declaration) -> list[tuple[Meaning | None, Reference, bool]]:
        """What a type extends and implements."""
        return self._resolver.bases(declaration)

    def uses(self, declaration: Declaration) -> Uses:
        """Who uses a symbol."""
        return find_uses(self._moment, self._resolver, declaration, self._options.max_files)
