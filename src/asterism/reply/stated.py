"""What a file alone says of one of its items, in the shape of connections."""

from asterism.types.outline import Item, Outline
from asterism.types.structure import Connections, Fact, Gap, Member, SymbolPlace

# What needs other files, or types.
ELSEWHERE = (
    Fact.extends,
    Fact.implements,
    Fact.subtypes,
    Fact.calls,
    Fact.callers,
    Fact.references,
    Fact.types_in,
    Fact.types_out,
)


def stated(outline: Outline, source: bytes, index: int, why: str | None = None) -> Connections:
    """Kind, modifiers, signature and members; the rest is a gap if there is a reason to name.

    For statements without a name, which have no connections, and where nothing else can be asked.
    """
    item = outline.items[index]
    return Connections(
        symbol=SymbolPlace(item.qualified_name, outline.path, _name_line(item, source), item.kind),
        kind=item.kind,
        signature=item.signature if item.is_symbol else "",
        modifiers=item.modifiers,
        is_exported=item.exported,
        members=tuple(
            Member(child.name, child.kind, child.signature, _name_line(child, source))
            for child in (outline.items[at] for at in item.children)
            if child.is_symbol
        ),
        gaps=(Gap(ELSEWHERE, why),) if why and item.is_symbol else (),
    )


def _name_line(item: Item, source: bytes) -> int:
    """The line of the name; of a statement the line it begins on."""
    if not item.is_symbol:
        return item.start_line
    return source.count(b"\n", 0, item.name_offset) + 1
