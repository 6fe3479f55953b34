"""A symbol's parts, members, type and value, as the outline of its file has them."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from asterism.analysis.resolve.scopes import CONTAINERS, FileScope
from asterism.analysis.resolve.variables import property_text
from asterism.structure.uses import CALLABLE
from asterism.types.outline import Item, Reference
from asterism.types.structure import Edge, Member, SymbolPlace, TypeFlow

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
