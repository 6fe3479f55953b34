"""Which other symbols a chunk mentions, so that their signatures can be quoted."""

from collections.abc import Iterator, Sequence

from asterism.types.outline import Outline

# Receivers that mean "the object this code belongs to".
_SELVES = frozenset({"this", "self", "cls", "@", "$this", "super"})


class Quotes:
    """Who mentions what: the file's own top-level symbols, members through `this`, imports."""

    def __init__(self, outline: Outline) -> None:
        self._items = outline.items
        # Backwards, so that of two symbols with one name the first is kept.
        self._top = {
            item.name: index
            for index, item in reversed(list(enumerate(outline.items)))
            if len(item.path) == 1 and item.is_symbol
        }
        self._members: dict[int, dict[str, int]] = {}
        self._mentions: list[list[tuple[str, str | None]] | None] = [None] * len(outline.items)
        self._imported = {
            name.local
            for entry in outline.imports
            if entry.binds
            for name in entry.names
            if name.local != "*"
        }
        self._imported -= self._top.keys()
        wanted = self._top.keys() | self._imported
        for name, _line, _column, receiver, enclosing, local in outline.references:
            if enclosing is None or local:
                continue
            if (receiver is None and name in wanted) or receiver in _SELVES:
                mentions = self._mentions[enclosing]
                if mentions is None:
                    mentions = self._mentions[enclosing] = []
                mentions.append((name, receiver))

    def of(self, members: Sequence[int], limit: int) -> tuple[dict[str, str], tuple[str, ...]]:
        """What the items themselves mention, in order of first mention.

        First the signatures of the file's own symbols by name, then the imported names, whose
        signatures stand in other files. Together they are no more than `limit`.
        """
        found: dict[str, str] = {}
        imported: dict[str, None] = {}
        for index in members:
            for name, receiver in self._mentions[index] or ():
                if receiver is None and name in self._imported:
                    imported[name] = None
                elif name not in found and len(found) < limit:
                    text = self._signature(index, name, receiver)
                    if text is not None:
                        found[name] = text
        if not imported:
            return found, ()
        left = [name for name in imported if name not in found]
        return found, tuple(left[: limit - len(found)])

    def _signature(self, index: int, name: str, receiver: str | None) -> str | None:
        target = self._top.get(name) if receiver is None else self._sibling(index, name)
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
