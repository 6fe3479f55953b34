"""Which other symbols of the file a chunk mentions, so that their signatures can be quoted."""

from collections.abc import Iterator, Mapping, Sequence

from asterism.domain.outline import Outline

# Receivers that mean "the object this code belongs to".
_SELVES = frozenset({"this", "self", "cls", "@", "$this", "super"})


class Quotes:
    """Signatures by name: the file's own top-level symbols, members through `this`, imports."""

    def __init__(self, outline: Outline, imported: Mapping[str, str]) -> None:
        self._items = outline.items
        self._imported = imported
        # Backwards, so that of two symbols with one name the first is kept.
        self._top = {
            item.name: index
            for index, item in reversed(list(enumerate(outline.items)))
            if len(item.path) == 1 and item.is_symbol
        }
        self._members: dict[int, dict[str, int]] = {}
        self._mentions: list[list[tuple[str, str | None]] | None] = [None] * len(outline.items)
        wanted = self._top.keys() | imported.keys()
        for name, _line, _column, receiver, enclosing, local in outline.references:
            if enclosing is None or local:
                continue
            if (receiver is None and name in wanted) or receiver in _SELVES:
                mentions = self._mentions[enclosing]
                if mentions is None:
                    mentions = self._mentions[enclosing] = []
                mentions.append((name, receiver))

    def of(self, members: Sequence[int], limit: int) -> list[tuple[str, str]]:
        """Name and signature of what the items themselves mention, in order of first mention."""
        found: dict[str, str] = {}
        for index in members:
            for name, receiver in self._mentions[index] or ():
                if len(found) >= limit:
                    return list(found.items())
                if name in found:
                    continue
                text = self._signature(index, name, receiver)
                if text is not None:
                    found[name] = text
        return list(found.items())

    def _signature(self, index: int, name: str, receiver: str | None) -> str | None:
        if receiver is not None:
            target = self._sibling(index, name)
        else:
            target = self._top.get(name)
            if target is None:
                return self._imported.get(name)
        if target is None or target in self._around(index):
            return None
        return self._items[target].signature

    def _sibling(self, index: int, name: str) -> int | None:
        """The member of the enclosing class that `this.name` means."""
        for ancestor in self._around(index):
            members = self._members.get(ancestor)
            if members is None:
                # Here, too, the first of two with one name is kept.
                below = reversed(self._items[ancestor].children)
                members = {self._items[child].name: child for child in below}
                self._members[ancestor] = members
            if name in members:
                return members[name]
        return None

    def _around(self, index: int) -> Iterator[int]:
        """The item itself and what it stands in: nobody needs to be told of those."""
        at: int | None = index
        while at is not None:
            yield at
            at = self._items[at].parent
