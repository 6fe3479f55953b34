"""The members of a class, an interface, an enumeration or a namespace, in source order."""

from collections.abc import Iterator, Sequence

from asterism.structure.typescript.files import SourceFile
from asterism.structure.typescript.signatures import member_signature
from asterism.structure.typescript.types import Types
from asterism.types.outline import Item
from asterism.types.structure import Member

# Members whose missing types are asked for; those of a class of hundreds are given as written.
MOST_INFERRED = 60


def members_of(
    declared: Sequence[tuple[SourceFile, int]], own_path: str, types: Types
) -> tuple[Member, ...]:
    """The members of all of a symbol's declarations, those of its own file first."""
    found: list[Member] = []
    places = {(file.path, index): file for file, index in declared}
    for (path, index), file in sorted(
        places.items(), key=lambda place: (place[0][0] != own_path, place[0])
    ):
        for child in _children(file, file.item(index)):
            item = file.item(child)
            signature = item.signature
            if len(found) < MOST_INFERRED:
                node = file.declaration_of(file.node_of(item))
                signature = member_signature(file, node, signature, types)
            line = 1 + file.tree.source.decoded.count(b"\n", 0, item.name_offset)
            elsewhere = None if path == own_path else path
            found.append(Member(item.name, item.kind, signature, line, elsewhere))
    return tuple(found)


def _children(file: SourceFile, item: Item) -> Iterator[int]:
    """The symbols directly below one; properties that a constructor declares come after it."""
    for child in item.children:
        inner = file.item(child)
        if not inner.is_symbol:
            continue
        yield child
        if inner.kind == "constructor":
            yield from (index for index in inner.children if file.item(index).kind == "property")
