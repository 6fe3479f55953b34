"""A symbol's parts, members, type and value, as the outline of its file has them."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TypeAlias

from asterism.analysis.resolve.candidates import GUESS
from asterism.analysis.resolve.scopes import CONTAINERS, FileScope
from asterism.analysis.resolve.variables import property_text
from asterism.analysis.syntax.language import detect
from asterism.structure.positions import is_returned
from asterism.structure.uses import OF_USES
from asterism.types.outline import Item, Reference
from asterism.types.structure import (
    CALLABLE,
    Connections,
    Edge,
    Fact,
    Gap,
    Member,
    SymbolPlace,
    TypeFlow,
)

OriginOf: TypeAlias = Callable[[FileScope, Reference], Edge | None]


def flows_in(scope: FileScope, number: int, origin: OriginOf) -> tuple[TypeFlow, ...]:
    """The parameters that have a type; `origin` tells where a type is declared."""
    if scope.outline.items[number].kind not in CALLABLE:
        return ()
    return tuple(
        TypeFlow(
            _text(parameter.name) or None,
            one_line(_text(parameter.type)),
            _origins(scope, number, parameter.start, parameter.end, origin),
        )
        for parameter in scope.header(number).parameters
        if parameter.type and not parameter.is_receiver
    )


def flows_out(scope: FileScope, number: int, origin: OriginOf) -> tuple[TypeFlow, ...]:
    """What a function returns, where its header says so."""
    if scope.outline.items[number].kind not in CALLABLE:
        return ()
    header = scope.header(number)
    if not header.returns.strip():
        return ()
    origins = _origins(scope, number, header.start, header.end, origin)
    return (TypeFlow(None, one_line(_text(header.returns)), origins),)


def one_line(text: str) -> str:
    """Text without line breaks."""
    return " ".join(text.split())


def _origins(
    scope: FileScope, number: int, start: int, end: int, origin: OriginOf
) -> tuple[Edge, ...]:
    base = scope.header_span(scope.outline.items[number])[0]
    found = [
        edge
        for reference in _between(scope, number, base + start, base + end)
        if (edge := origin(scope, reference)) is not None
    ]
    return tuple({edge.target: edge for edge in found}.values())


def _between(scope: FileScope, number: int, start: int, end: int) -> Iterator[Reference]:
    for reference in scope.references_in.get(number, ()):
        if start <= scope.offset(reference.line, reference.column) < end:
            yield reference


def _text(latin: str) -> str:
    """Headers are read byte for character; this makes characters of them."""
    return latin.encode("latin-1").decode("utf-8", "replace")


_CONSTANTS = frozenset({"const", "variable", "property", "enum_member", "static"})
# What is run when an object is made: its constructor and its fields, not its methods.
_MADE_WITH = frozenset({"constructor", "property", "const", "variable", "enum_member"})
# How the outline names a function after the call that it is passed to.
NAMELESS = " callback"
_CONSTRUCTORS = frozenset({"__init__", "initialize", "__construct"})


def place_of(scope: FileScope, number: int) -> SymbolPlace:
    """Where a symbol is declared."""
    item = scope.outline.items[number]
    return SymbolPlace(item.qualified_name, scope.path, item.start_line, item.kind)


def makers_of(scope: FileScope, number: int) -> list[int]:
    """The items whose calls are a symbol's own: also of functions without names or returned."""
    items = scope.outline.items
    found: list[int] = []
    waiting = [number]
    while waiting:
        at = waiting.pop()
        found.append(at)
        children = items[at].children
        waiting += [
            child
            for child in children
            if _is_part(items[at], items[child])
            or is_returned(scope.source, items[at], items[child])
        ]
    return found


def _is_part(around: Item, inner: Item) -> bool:
    """Whether what an item calls is called by the one around it."""
    if not inner.is_symbol:
        return True
    if around.kind in CONTAINERS:
        # A property with a body runs when it is read.
        is_field = inner.kind in _MADE_WITH and (inner.kind != "property" or inner.body is None)
        return is_field or inner.name in _CONSTRUCTORS
    if inner.kind in CALLABLE:
        return inner.name.endswith(NAMELESS)
    return inner.kind not in CONTAINERS


def members_of(scope: FileScope, item: Item) -> tuple[Member, ...]:
    """The members of a type, in source order, those declared outside of it in the file included."""
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


def is_lambda(scope: FileScope, item: Item) -> bool:
    """Whether what stands before a function is no type, but the call that it is passed to."""
    return item.name.endswith(NAMELESS) and scope.facets.types.returns_first


def type_of(scope: FileScope, item: Item) -> str | None:
    """The type of a constant or variable, as written."""
    if item.kind not in _CONSTANTS or item.body is not None:
        return None
    found = property_text(item.name.lstrip("@$"), item.signature, scope.language)
    return one_line(found) if found else None


def value_of(scope: FileScope, item: Item, limit: int) -> str | None:
    """What a constant is set to, where that is short."""
    if item.kind not in _CONSTANTS:
        return None
    text = scope.source[item.name_offset : item.span.end].decode("utf-8", "replace")
    _, mark, value = text.partition("=")
    value = value.strip().rstrip(";,").strip()
    return value if mark and value and len(value) <= limit and "\n" not in value else None


# Files whose uses are not read, by the rules of their language.
_WITHOUT_USES = frozenset({"prose", "text"})


def gaps_of(scope: FileScope, item: Item) -> Iterator[Gap]:
    """What cannot be told of a symbol from its file."""
    same = [scope.outline.items[index] for index in scope.by_path.get(item.path, ())]
    bodies = [other for other in same if other.kind in CALLABLE and other.body is not None]
    if item.kind in CALLABLE and len(bodies) > 1:
        why = f"{len(bodies)} declarations share this name in the file; uses are not told apart"
        yield Gap(OF_USES, why)
    if detect(scope.path).home in _WITHOUT_USES:
        yield Gap((Fact.calls, *OF_USES), f"uses are not read in {scope.language} files")


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


NONE_BY_NAME = "none found by name, which does not see calls through interfaces or values"
NO_FILES_BY_NAME = "no other file found by name, which does not follow every import"


def honest(found: Connections) -> Connections:
    """Marks empty callers and references as unknown, because names cannot prove absence."""
    known = {fact for gap in found.gaps for fact in gap.facts}
    is_uncalled = found.kind in CALLABLE and not found.callers
    # What no other file can see has no references there; nothing else is sure to have none.
    is_alone = not found.references and (is_uncalled or found.is_exported)
    missing = [
        *([Fact.callers] if is_uncalled and Fact.callers not in known else []),
        *([Fact.references] if is_alone and Fact.references not in known else []),
    ]
    why = NONE_BY_NAME if is_uncalled else NO_FILES_BY_NAME
    gaps = (*found.gaps, Gap(tuple(missing), why)) if missing else found.gaps
    return replace(found, references=None if is_alone else found.references, gaps=gaps)
