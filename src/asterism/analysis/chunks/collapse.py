"""A symbol's source with each body-bearing child reduced to its signature."""

from collections.abc import Iterable, Iterator, Sequence

from asterism.types.outline import Item, Span


def collapse(source: bytes, span: Span, items: Sequence[Item], children: Iterable[int]) -> str:
    """The text of `span`, children's bodies left out; comments above a child go with its body."""
    pieces, at = [], span.start
    for index in folded(items, children):
        child = items[index]
        if child.span.start < at or child.span.end > span.end:
            continue
        pieces.append(source[at : child.span.start].decode("utf-8", "replace"))
        pieces.append(child.signature)
        at = child.span.end
    pieces.append(source[at : span.end].decode("utf-8", "replace"))
    return "".join(pieces)


def may_fold(child: Item) -> bool:
    """Whether the child has a body, or members that may have one; fields and constants do not."""
    return child.body is not None or bool(child.children)


def folded(items: Sequence[Item], children: Iterable[int]) -> Iterator[int]:
    """The descendants that are collapsed: bodies directly below, or below what has none.

    In broken code siblings may overlap; the first of them stands for the others.
    """
    end = 0
    pending = sorted(children, key=lambda index: items[index].span, reverse=True)
    while pending:
        index = pending.pop()
        child = items[index]
        if child.body is not None:
            if child.span.start >= end:
                yield index
                end = child.span.end
        elif child.children:
            pending.extend(sorted(child.children, key=lambda i: items[i].span, reverse=True))
