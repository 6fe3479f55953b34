"""Connections found by scopes, imports and names, for languages that no compiler answers for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from asterism.analysis.graph.candidates import GUESS, Declaration, Meaning
from asterism.analysis.graph.resolving import Resolver
from asterism.analysis.graph.scopes import ADDITIONS, CONTAINERS, FileScope
from asterism.analysis.graph.variables import property_text
from asterism.analysis.syntax.catalogue import detect
from asterism.domain.outline import Item, Reference
from asterism.domain.structure import (
    Connections,
    Edge,
    Fact,
    Gap,
    Known,
    Member,
    SymbolPlace,
)
from asterism.structure.call_sites import CALLABLE, is_call
from asterism.structure.repository import IndexedRepository, Moment
from asterism.structure.targets import Target, find_item
from asterism.structure.type_flows import flows_in, flows_out, one_line
from asterism.structure.uses import OF_USES, Use, Uses, find_uses

_CONSTANTS = frozenset({"const", "variable", "property", "enum_member", "static"})
_INTERFACES = frozenset({"interface", "trait", "protocol", "module"})
# What is run when an object is made: its constructor and its fields, not its methods.
_MADE_WITH = frozenset({"constructor", "property", "const", "variable", "enum_member"})
# How the outline names a function after the call that it is passed to.
NAMELESS = " callback"
# Here the type that a function returns stands before its name.
_TYPE_FIRST = frozenset({"c", "cpp", "csharp", "java"})
_CONSTRUCTORS = frozenset({"__init__", "initialize", "__construct"})
# Types that every file of Rust has without an import; a guess at another of that name is wrong, as
# it is at the `Error` of any other type for `S::Error`.
_PRELUDE = frozenset({"Box", "Option", "Result", "String", "Vec"})
# Files whose uses nobody reads, by the home of their language.
_WITHOUT_USES = frozenset({"prose", "text"})

_Found: TypeAlias = defaultdict[SymbolPlace, list[tuple[int, float]]]


@dataclass(frozen=True, slots=True)
class ByNameOptions:
    """How much is read for one symbol."""

    max_files: int = 300
    """Files that are read for one name; a name that more mention says little about any of them."""
    max_value: int = 120
    """Characters of a constant's value; a longer one says little in a list."""


DEFAULTS = ByNameOptions()


class ByName:
    """Answers for one repository at one state of its index; files are read as they are now."""

    def __init__(self, repository: IndexedRepository, options: ByNameOptions = DEFAULTS) -> None:
        self._repository = repository
        self._options = options

    def connections(self, target: Target) -> Connections | None:
        """Everything that is known of a symbol; None where its file has it no more."""
        return self.all_connections([target])[0]

    def all_connections(self, targets: Sequence[Target]) -> list[Connections | None]:
        """The same of several, for which each file is looked at once."""
        question = Question(self._repository, self._options)
        return [question.connections(target) for target in targets]

    def question(self) -> "Question":
        """For several questions at one moment, as a tree of calls asks them."""
        return Question(self._repository, self._options)


class Question:
    """One moment of a repository; what was found once is not looked for again."""

    def __init__(self, repository: IndexedRepository, options: ByNameOptions) -> None:
        self._moment = Moment(repository)
        self._resolver = Resolver(self._moment)
        self._options = options

    def connections(self, target: Target) -> Connections | None:
        """Everything that is known of a symbol."""
        declaration = self._declaration(target)
        scope = self._moment.scope(target.path)
        if declaration is None or scope is None:
            return None
        item = scope.outline.items[declaration.number]
        uses = self._uses(declaration)
        uses = uses._replace(uses=self._meant(scope, item, uses.uses))
        bases = [*self._bases(scope, item, declaration)]
        number = declaration.number
        paths = {use.scope.path for use in uses.uses} | {*uses.importers}
        return Connections(
            symbol=_place(scope, number),
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
            types_out=() if _is_lambda(scope, item) else flows_out(scope, number, self._origin),
            members=_members(scope, item),
            type=_type(scope, item),
            value=_value(scope, item, self._options.max_value),
            gaps=(*uses.gaps, *_gaps(scope, item)),
        )

    def calls(self, place: SymbolPlace) -> tuple[Edge, ...]:
        """What a symbol calls, in the order of its first calls."""
        declaration = self._declaration(_target(place)) if place.path else None
        scope = self._moment.scope(declaration.path) if declaration else None
        return self._calls(scope, declaration.number) if scope and declaration else ()

    def callers(self, place: SymbolPlace) -> tuple[Edge, ...]:
        """Who calls a symbol."""
        declaration = self._declaration(_target(place)) if place.path else None
        if declaration is None:
            return ()
        return self._callers(self._uses(declaration).uses, calls=True)

    def _declaration(self, target: Target) -> Declaration | None:
        scope = self._moment.scope(target.path)
        number = find_item(scope.outline, target) if scope else None
        return None if number is None else Declaration(target.path, number)

    def _uses(self, declaration: Declaration) -> Uses:
        return find_uses(self._moment, self._resolver, declaration, self._options.max_files)

    def _calls(self, scope: FileScope, number: int) -> tuple[Edge, ...]:
        found: _Found = defaultdict(list)
        inside = [
            reference
            for index in _makers(scope, number)
            for reference in scope.references_in.get(index, ())
        ]
        for reference in sorted(inside, key=lambda reference: (reference.line, reference.column)):
            meaning = self._resolver.resolve(scope, reference)
            place = self._called(scope, reference, meaning) if meaning else None
            if place is not None and meaning is not None:
                found[place].append((reference.line, meaning.confidence))
        return _edges(found)

    def _called(
        self, scope: FileScope, reference: Reference, meaning: Meaning
    ) -> SymbolPlace | None:
        if meaning.declaration is None:
            if not is_call(scope, reference, None):
                return None
            receiver = one_line(reference.receiver or "")
            name = f"{receiver}.{reference.name}" if receiver else reference.name
            return SymbolPlace(name, None, module=meaning.module)
        target = self._resolver.item(meaning.declaration)
        if not is_call(scope, reference, target):
            return None
        return self._head(self._callable(meaning.declaration))

    def _callable(self, declaration: Declaration) -> Declaration:
        """What a call means where a field and a method have one name."""
        scope = self._moment.scope(declaration.path)
        item = self._resolver.item(declaration)
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
            item = self._resolver.item(target) if target else None
            if is_call(use.scope, use.reference, item) is calls and (
                calls or not self._is_base(use)
            ):
                caller = self._enclosing(use)
                found[caller].append((use.reference.line, use.meaning.confidence))
        return _edges(found)

    def _enclosing(self, use: Use) -> SymbolPlace:
        """The symbol that makes a use; the file itself where no symbol does."""
        at = use.reference.enclosing
        while at is not None and not use.scope.outline.items[at].is_symbol:
            at = use.scope.outline.items[at].parent
        if at is None:
            return SymbolPlace(use.scope.path, use.scope.path, None, "file")
        return self._head(Declaration(use.scope.path, at))

    def _is_base(self, use: Use) -> bool:
        at = use.reference.enclosing
        if at is None or use.scope.outline.items[at].kind not in CONTAINERS:
            return False
        bases = self._resolver.bases(Declaration(use.scope.path, at))
        return any(base == use.reference for _, base, _ in bases)

    def _subtypes(self, uses: Iterable[Use]) -> tuple[Edge, ...]:
        found: _Found = defaultdict(list)
        for use in uses:
            if use.reference.enclosing is not None and self._is_base(use):
                child = self._head(Declaration(use.scope.path, use.reference.enclosing))
                found[child].append((use.reference.line, use.meaning.confidence))
        return _edges(found)

    def _bases(
        self, scope: FileScope, item: Item, declaration: Declaration
    ) -> Iterator[tuple[Meaning | None, Reference, bool]]:
        """The bases of a type and of what its file adds to it."""
        for number in scope.by_path.get(item.path, (declaration.number,)):
            if number == declaration.number or scope.outline.items[number].kind in ADDITIONS:
                yield from self._resolver.bases(Declaration(declaration.path, number))

    def _heritage(
        self, bases: Iterable[tuple[Meaning | None, Reference, bool]], implements: bool
    ) -> Iterator[Edge]:
        for meaning, reference, is_interface in bases:
            if self._is_interface(meaning, is_interface) != implements:
                continue
            if meaning is None or meaning.declaration is None:
                module = meaning.module if meaning else None
                place = SymbolPlace(reference.name, None, module=module)
                yield Edge(place, Known.by_name, 1.0, (reference.line,))
            else:
                place = self._head(meaning.declaration)
                yield Edge(place, Known.by_name, meaning.confidence, (reference.line,))

    def _is_interface(self, meaning: Meaning | None, said: bool) -> bool:
        """What the declaration itself is decides, where it was found."""
        if meaning is None or meaning.declaration is None:
            return said
        kind = self._resolver.item(meaning.declaration).kind
        return kind in _INTERFACES or (said and kind != "class")

    def _origin(self, scope: FileScope, reference: Reference) -> Edge | None:
        """Where a type in a header is declared; None for what is no type of the repository."""
        meaning = self._resolver.resolve(scope, reference)
        if meaning is None or meaning.declaration is None:
            return None
        is_loose = reference.name in _PRELUDE or reference.receiver is not None
        if scope.language == "rust" and is_loose and meaning.confidence <= GUESS:
            return None
        target = self._head(meaning.declaration)
        # What is added to a type parameter, as by `impl Sink for &mut S`, declares no type.
        if target.kind not in CONTAINERS or target.kind in ADDITIONS:
            return None
        return Edge(target, Known.by_name, meaning.confidence, (reference.line,))

    def _head(self, declaration: Declaration) -> SymbolPlace:
        """The symbol of a declaration: overloads and additions to a type are one symbol.

        A field and a method of one name are two.
        """
        scope = self._moment.scope(declaration.path)
        if scope is None:
            raise LookupError(declaration.path)
        item = scope.outline.items[declaration.number]
        same = [
            number
            for number in scope.by_path.get(item.path, ())
            if (scope.outline.items[number].kind in CALLABLE) is (item.kind in CALLABLE)
        ]
        return _place(scope, scope.head(same) if same else declaration.number)


def _target(place: SymbolPlace) -> Target:
    return Target(place.path or "", place.name, place.line or 1)


def _place(scope: FileScope, number: int) -> SymbolPlace:
    item = scope.outline.items[number]
    return SymbolPlace(item.qualified_name, scope.path, item.start_line, item.kind)


def _edges(found: _Found) -> tuple[Edge, ...]:
    return tuple(
        Edge(
            place,
            Known.by_name,
            max(confidence for _, confidence in uses),
            tuple(sorted({line for line, _ in uses})),
        )
        for place, uses in found.items()
    )


def _makers(scope: FileScope, number: int) -> list[int]:
    """The items whose calls are a symbol's own: a function with a name inside makes its own."""
    items = scope.outline.items
    found: list[int] = []
    waiting = [number]
    while waiting:
        at = waiting.pop()
        found.append(at)
        children = items[at].children
        waiting += [child for child in children if _is_part(items[at], items[child])]
    return found


def _is_part(around: Item, inner: Item) -> bool:
    """Whether what an item calls is called by the one around it."""
    if not inner.is_symbol:
        return True
    if around.kind in CONTAINERS:
        # A property with a body is run when somebody asks for it.
        is_field = inner.kind in _MADE_WITH and (inner.kind != "property" or inner.body is None)
        return is_field or inner.name in _CONSTRUCTORS
    if inner.kind in CALLABLE:
        return inner.name.endswith(NAMELESS)
    return inner.kind not in CONTAINERS


def _members(scope: FileScope, item: Item) -> tuple[Member, ...]:
    """What belongs to a type, in source order; also what stands beside it in the same file."""
    if item.kind not in CONTAINERS:
        return ()
    below = [
        scope.outline.items[index]
        for path, indices in scope.by_path.items()
        if path[:-1] == item.path
        for index in indices
    ]
    return tuple(
        Member(member.name, member.kind, member.signature, member.start_line)
        for member in sorted(below, key=lambda member: member.span)
    )


def _is_lambda(scope: FileScope, item: Item) -> bool:
    """Whether what stands before a function is no type, but the call that it is passed to."""
    return item.name.endswith(NAMELESS) and scope.language in _TYPE_FIRST


def _type(scope: FileScope, item: Item) -> str | None:
    """The type of a constant or variable, as written."""
    if item.kind not in _CONSTANTS:
        return None
    found = property_text(item.name.lstrip("@$"), item.signature, scope.language)
    return one_line(found) if found else None


def _value(scope: FileScope, item: Item, limit: int) -> str | None:
    """What a constant is set to, where that is short."""
    if item.kind not in _CONSTANTS:
        return None
    text = scope.source[item.name_offset : item.span.end].decode("utf-8", "replace")
    _, mark, value = text.partition("=")
    value = value.strip().rstrip(";,").strip()
    return value if mark and value and len(value) <= limit and "\n" not in value else None


def _gaps(scope: FileScope, item: Item) -> Iterator[Gap]:
    same = [scope.outline.items[index] for index in scope.by_path.get(item.path, ())]
    bodies = [other for other in same if other.kind in CALLABLE and other.body is not None]
    if item.kind in CALLABLE and len(bodies) > 1:
        why = f"{len(bodies)} declarations share this name in the file; uses are not told apart"
        yield Gap(OF_USES, why)
    if detect(scope.path).home in _WITHOUT_USES:
        yield Gap((Fact.calls, *OF_USES), f"uses are not read in {scope.language} files")
