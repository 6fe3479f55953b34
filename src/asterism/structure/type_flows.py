"""Types that go into a function and come out of it, as its header names them."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from asterism.analysis.resolve.scopes import FileScope
from asterism.structure.call_sites import CALLABLE
from asterism.types.outline import Reference
from asterism.types.structure import Edge, TypeFlow

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
