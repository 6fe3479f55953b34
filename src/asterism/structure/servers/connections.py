"""Everything a language server knows of one symbol, under the names of our index."""

from collections.abc import Iterator
from dataclasses import replace

from asterism.analysis.resolve.candidates import Declaration
from asterism.analysis.resolve.scopes import ADDITIONS, CONTAINERS, FileScope
from asterism.structure.facts import Facts
from asterism.structure.positions import Target, find_item, unknown
from asterism.structure.servers.names import ServerSense
from asterism.structure.shapes import makers_of, place_of
from asterism.structure.uses import CALLABLE, OF_USES
from asterism.types.files import display_path
from asterism.types.outline import Item
from asterism.types.structure import Connections, Edge, Fact, Gap, Known, SymbolPlace

MOST_VALUE = 120
"""Characters of a constant's value; a longer one says little in a list."""

_ABSTRACT = frozenset({"interface", "trait", "protocol"})
# Names in a sentence; more would hide it.
_NAMED = 3


def connections_of(sense: ServerSense, target: Target) -> Connections:
    """What is known of a target; whatever is not known is among the gaps."""
    sense.forget()
    scope = sense.scope(target.path)
    if scope is None:
        return unknown(target, f"{display_path(target.path)} is not there any more")
    number = find_item(scope.outline, target)
    found = Facts(sense, MOST_VALUE).connections(target)
    if sense.refusal is not None:
        return unknown(target, sense.refusal)
    if number is None or found is None:
        return unknown(target, f"{display_path(target.path)} no longer declares {target.name}")
    item = scope.outline.items[number]
    found = _with_relatives(found, sense, scope, number)
    if item.kind in CALLABLE:
        found = replace(found, calls=_with_outgoing(found.calls, sense, scope, number))
    gaps = (*found.gaps, *(gap for gap in sense.gaps if gap.facts != OF_USES), *_gaps(sense))
    is_lost = any(gap.facts == OF_USES for gap in sense.gaps)
    return replace(found, references=None if is_lost else found.references, gaps=gaps)


def _gaps(sense: ServerSense) -> Iterator[Gap]:
    """What the server cannot know, and names that mean nothing to it."""
    if sense.limits:
        yield Gap(OF_USES, sense.limits)
    # Headers and packages that are not on this machine leave such names.
    if names := [*sense.unknown]:
        shown = ", ".join(names[:_NAMED])
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        yield Gap((Fact.calls,), f"the language server does not know {shown}{more}")


def _with_relatives(
    found: Connections, sense: ServerSense, scope: FileScope, number: int
) -> Connections:
    """With the types that implement this one, and in Go with those that it implements unsaid."""
    item = scope.outline.items[number]
    if item.kind not in CONTAINERS:
        return found
    below = {edge.target: edge for edge in found.subtypes}
    above = {edge.target: edge for edge in (*found.extends, *found.implements)}
    implements = [*found.implements]
    for other in sense.implementations(Declaration(scope.path, number)):
        edge = _edge(sense, other)
        # What is added to a type is none of its subtypes.
        if edge is None or edge.target in above or edge.target == found.symbol:
            continue
        if _is_above(sense, item, other):
            implements.append(edge)
            above[edge.target] = edge
        else:
            below.setdefault(edge.target, edge)
    return replace(found, subtypes=tuple(below.values()), implements=tuple(implements))


def _is_above(sense: ServerSense, item: Item, other: Declaration) -> bool:
    scope = sense.scope(other.path)
    kind = scope.outline.items[other.number].kind if scope else ""
    return kind in _ABSTRACT and item.kind not in _ABSTRACT


def _edge(sense: ServerSense, declaration: Declaration) -> Edge | None:
    scope = sense.scope(declaration.path)
    if scope is None or scope.outline.items[declaration.number].kind not in CONTAINERS:
        return None
    item = scope.outline.items[declaration.number]
    number = declaration.number
    if item.kind in ADDITIONS:
        number = scope.head(scope.by_path.get(item.path, [number]))
    return Edge(place_of(scope, number), Known.resolved)


def _with_outgoing(
    calls: tuple[Edge, ...], sense: ServerSense, scope: FileScope, number: int
) -> tuple[Edge, ...]:
    """With calls that the server tells of where the outline has no name, as inside a macro."""
    makers = makers_of(scope, number)
    asked = {
        scope.offset(reference.line, reference.column)
        for maker in makers
        for reference in scope.references_in.get(maker, ())
    }
    known = {edge.target: edge for edge in calls}
    for meaning, name, spot in sense.outgoing(Declaration(scope.path, number)):
        if spot.offset in asked:
            continue
        place = SymbolPlace(name, None, module=meaning.module)
        if meaning.declaration is not None:
            there = sense.scope(meaning.declaration.path)
            if there is None:
                continue
            place = place_of(there, meaning.declaration.number)
        edge = known.get(place, Edge(place, Known.resolved))
        known[place] = edge._replace(lines=tuple(sorted({*edge.lines, spot.line})))
    return tuple(sorted(known.values(), key=lambda edge: edge.lines[:1]))
