"""Call sites of symbols, and call trees built from them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from posixpath import dirname
from typing import NamedTuple, TypeAlias

from asterism.analysis.resolve.candidates import (
    MAX_CANDIDATES,
    Declaration,
    Meaning,
    family_of,
    index_of,
)
from asterism.analysis.resolve.resolver import Resolver
from asterism.analysis.resolve.scopes import CONTAINERS, FileScope
from asterism.analysis.syntax.language import detect
from asterism.structure.repository import Moment
from asterism.types.deadlines import check_deadline
from asterism.types.outline import Item, Reference
from asterism.types.structure import CALLABLE, CallTree, Edge, Fact, Gap, Known, SymbolPlace

# An opening bracket behind the name, behind type arguments if there are any.
_CALL = re.compile(
    rb"\s*+(?:::)?(?:<[^<>(){};]*+(?:<[^<>(){};]*+>)?[^<>(){};]*+>)?[!?]?\s*+\(|!\s*[\[{]"
)
_BLOCK = re.compile(rb"\s*(?:\{|do\b)")
_NEW = re.compile(rb"\bnew\s+(?:[\w.:\\]+[.:\\])?$")
# In `new Outer.Inner()` it is the inner one that is made.
_OUTER = re.compile(rb"\s*(?:\.|::|\\)")
# `Lid fresh(3);` makes a Lid.
_DECLARED = re.compile(rb"\s+\w+\s*[({]")
# Attributes look like calls.
_ATTRIBUTE = re.compile(rb"@(?:\w+[.:])*$|#!?\[[^\]\n]*$")


def is_call(scope: FileScope, reference: Reference, target: Item | None) -> bool:
    """Whether a reference calls what it means; `target` is None for what is foreign."""
    if target is not None and target.kind == "enum_member":
        return False
    start = scope.offset(reference.line, reference.column)
    end = start + len(reference.name.encode())
    facets = scope.facets.calls
    if not facets.decorators and _is_attribute(scope, reference, start):
        return False
    if facets.behind:
        return re.compile(facets.behind).match(scope.source, end) is not None
    if target is not None and target.kind in CONTAINERS and not facets.of_types:
        # A conversion, or a type among types.
        return False
    made = _NEW.search(scope.source, max(0, start - 80), start)
    if _CALL.match(scope.source, end) or (made and not _OUTER.match(scope.source, end)):
        return True
    is_callable = target is not None and target.kind in CALLABLE
    if facets.by_block and _BLOCK.match(scope.source, end):
        return is_callable or target is None
    if facets.by_declaration and target is not None and target.kind in ("class", "struct"):
        inside = reference.enclosing is not None and _is_function(scope, reference.enclosing)
        return inside and _DECLARED.match(scope.source, end) is not None
    return facets.bare and is_callable


def may_be_call(scope: FileScope, reference: Reference) -> bool:
    """Whether a reference can be a call at all, whatever it means; cheaper than to find that."""
    facets = scope.facets.calls
    if facets.bare or is_call(scope, reference, None):
        return True
    end = scope.offset(reference.line, reference.column) + len(reference.name.encode())
    return facets.by_declaration and _DECLARED.match(scope.source, end) is not None


def _is_function(scope: FileScope, enclosing: int) -> bool:
    item = scope.outline.items[enclosing]
    return item.kind in CALLABLE and item.body is not None


def _is_attribute(scope: FileScope, reference: Reference, start: int) -> bool:
    if _ATTRIBUTE.search(scope.source, max(0, start - 80), start):
        return True
    if not scope.facets.calls.bracket_attributes or reference.enclosing is None:
        return False
    item = scope.outline.items[reference.enclosing]
    before = scope.source[scope.header_span(item)[0] : start]
    # `[Test(3)] void Open()`: in square brackets, before the name.
    return start < item.name_offset and before.count(b"[") > before.count(b"]")


# What cannot be said where files were not read.
OF_USES = (Fact.callers, Fact.references, Fact.subtypes)
# Names of files in a sentence; more would hide it.
_NAMED_FILES = 3


class Use(NamedTuple):
    """A place where a declaration is used."""

    scope: FileScope
    reference: Reference
    meaning: Meaning


class Uses(NamedTuple):
    """Every use that was found, who imports the symbol, and what could not be looked at."""

    uses: tuple[Use, ...] = ()
    importers: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def find_uses(moment: Moment, resolver: Resolver, declaration: Declaration, max_files: int) -> Uses:
    """The uses of a symbol; files near to it come first where there are too many."""
    item = resolver.item(declaration)
    same = same_symbol(moment, declaration, item)
    language = detect(declaration.path).language
    importers = [*_importers(moment, declaration, item)]
    names: dict[str, set[str]] = {}
    for path in moment.repository.mentions(item.name):
        if family_of(detect(path).language) == family_of(language):
            names.setdefault(path, set()).add(item.name)
    for path, local in importers:
        if local != item.name:
            names.setdefault(path, set()).add(local)
    near = sorted(names, key=_Nearness({path for path, _ in importers}, declaration.path))
    wanted = _likely(moment, declaration, item, near)[:max_files]
    found: list[Use] = []
    unread: list[str] = []
    for path in wanted:
        check_deadline()
        scope = moment.scope(path)
        if scope is None:
            unread.append(path)
        else:
            found += _uses_in(scope, resolver, names[path], same)
    gaps = _gaps(moment, item, len(near) - len(wanted), unread)
    taking = dict.fromkeys(path for path, _ in importers if moment.scope(path) is not None)
    return Uses(tuple(found), tuple(taking), tuple(gaps))


def same_symbol(moment: Moment, declaration: Declaration, item: Item) -> frozenset[Declaration]:
    """The declarations that are one symbol: overloads, a header and its source, a type reopened."""
    scope = moment.scope(declaration.path)
    if scope is None:
        return frozenset((declaration,))
    found = {Declaration(declaration.path, n) for n in scope.by_path.get(item.path, ())}
    how = scope.facets.scopes.one_symbol
    if not how:
        return frozenset(found)
    if how == "header" and "static" in item.modifiers and len(item.path) == 1:
        return frozenset(found)
    for candidate in moment.defined(item.name)[:MAX_CANDIDATES]:
        if candidate.qualified_name != item.qualified_name:
            continue
        if family_of(candidate.language) != family_of(scope.language):
            continue
        if how == "folder" and dirname(candidate.path) != dirname(declaration.path):
            continue
        there = moment.scope(candidate.path)
        index = index_of(there, candidate) if there else None
        if there is None or index is None:
            continue
        other = there.outline.items[index]
        if how == "partial" and "partial" not in (*other.modifiers, *item.modifiers):
            continue
        if how == "header" and "static" in other.modifiers and len(item.path) == 1:
            continue
        if how == "actual" and not _is_actual(scope, item, there, other):
            continue
        found.add(Declaration(candidate.path, index))
    return frozenset(found)


def _is_actual(scope: FileScope, item: Item, there: FileScope, other: Item) -> bool:
    """Whether of two declarations one is the other, or what a platform has of it."""
    return scope.package == there.package and "actual" in (*item.modifiers, *other.modifiers)


def _uses_in(
    scope: FileScope, resolver: Resolver, names: set[str], same: frozenset[Declaration]
) -> Iterator[Use]:
    for name in sorted(names):
        for reference in scope.references_to.get(name, ()):
            meaning = resolver.resolve(scope, reference)
            if meaning is not None and meaning.declaration in same:
                yield Use(scope, reference, meaning)


def _importers(moment: Moment, declaration: Declaration, item: Item) -> Iterator[tuple[str, str]]:
    """The files that import the symbol by its name, with the name that they give it."""
    if len(item.path) > 1:
        return
    for path, taken in moment.repository.importers(declaration.path):
        scope = moment.scope(path) if item.name in taken else None
        for local, binding in scope.bindings.items() if scope else ():
            if binding.name == item.name:
                yield path, local


def _likely(moment: Moment, declaration: Declaration, item: Item, near: list[str]) -> list[str]:
    """The files that are worth reading for a symbol.

    Of a member whose name many types have, those that also name its type, and its own folder: in
    others its use could be told from the rest only by luck, and they would be hundreds.
    """
    if len(item.path) < 2 or len(moment.defined(item.name)) <= MAX_CANDIDATES:
        return near
    of_type = {*moment.repository.mentions(item.path[-2])}
    folder = dirname(declaration.path)
    return [path for path in near if path in of_type or dirname(path) == folder]


def _gaps(moment: Moment, item: Item, left: int, unread: list[str]) -> Iterator[Gap]:
    if left:
        yield Gap(OF_USES, f"{left:,} more files mention the name and were not read")
    if unread:
        shown = ", ".join(unread[:_NAMED_FILES])
        more = f" and {len(unread) - _NAMED_FILES:,} more" if len(unread) > _NAMED_FILES else ""
        yield Gap(OF_USES, f"gone since the index was made, or not readable: {shown}{more}")
    if len(moment.defined(item.name)) > MAX_CANDIDATES:
        yield Gap(
            OF_USES,
            f"more than {MAX_CANDIDATES} symbols are called {item.name}: only uses that say which"
            " are counted",
        )


class _Nearness:
    """The file itself, its importers, its folder, then the rest by name."""

    def __init__(self, importers: set[str], path: str) -> None:
        self._importers = importers
        self._path = path

    def __call__(self, path: str) -> tuple[bool, bool, bool, str]:
        return (
            path != self._path,
            path not in self._importers,
            dirname(path) != dirname(self._path),
            path,
        )


EdgesOf: TypeAlias = Callable[[SymbolPlace], Sequence[Edge]]


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """How far a tree goes."""

    depth: int = 1
    """How many calls a path has at most."""
    width: int = 20
    """Calls shown of one symbol; a reader follows no more, and a logger has hundreds of callers."""
    places: int = 400
    """Calls shown in all: twenty of twenty, three deep, would be eight thousand."""


def call_tree(root: SymbolPlace, edges: EdgesOf, options: TreeOptions) -> CallTree:
    """The tree below a symbol; `edges` gives the calls that begin, or end, at a place.

    Each place is asked for once. Nearer calls come before deeper ones where there are too many.
    """
    levels = _Levels(edges, options)
    return levels.tree(Edge(root, Known.resolved), (), levels.shown(root))


class _Levels:
    """Which calls are shown, chosen level by level."""

    def __init__(self, edges: EdgesOf, options: TreeOptions) -> None:
        self._edges = edges
        self._options = options
        self._known: dict[SymbolPlace, Sequence[Edge]] = {}

    def shown(self, root: SymbolPlace) -> dict[tuple[SymbolPlace, ...], int]:
        """How many calls are shown below each way down from the root."""
        counts: dict[tuple[SymbolPlace, ...], int] = {}
        left = self._options.places
        level: list[tuple[SymbolPlace, ...]] = [(root,)]
        for _ in range(self._options.depth):
            following: list[tuple[SymbolPlace, ...]] = []
            for way in level:
                check_deadline()
                found = self._of(way[-1])
                counts[way] = min(len(found), self._options.width, left)
                left -= counts[way]
                following += [
                    (*way, edge.target)
                    for edge in found[: counts[way]]
                    if edge.target.path is not None and edge.target not in way
                ]
            level = following
        return counts

    def tree(
        self, edge: Edge, above: tuple[SymbolPlace, ...], counts: dict[tuple[SymbolPlace, ...], int]
    ) -> CallTree:
        """The chosen calls as a tree."""
        place = edge.target
        if place in above:
            return CallTree(edge, mark="cycle")
        way = (*above, place)
        if way not in counts:
            return CallTree(edge, mark="depth" if place.path is not None else None)
        found = self._of(place)
        children = tuple(self.tree(child, way, counts) for child in found[: counts[way]])
        return CallTree(edge, children, None, len(found) - counts[way])

    def _of(self, place: SymbolPlace) -> Sequence[Edge]:
        if place not in self._known:
            self._known[place] = self._edges(place)
        return self._known[place]
