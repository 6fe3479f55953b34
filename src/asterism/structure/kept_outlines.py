"""Outlines by path and text: all readers of one text share its outline."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

from asterism.analysis.syntax.outlines import outline
from asterism.structure.positions import SourceUnits
from asterism.structure.targets import Enclosing
from asterism.types.outline import Item, Outline

OutlineOf: TypeAlias = Callable[[str, bytes], Outline]

# Some 50 KB each; a symbol that is used everywhere leads to hundreds of files.
KEPT_OUTLINES = 1000


class KeptOutlines:
    """Makes each outline once while it is kept; any thread may ask."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, bytes], Outline] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, path: str, source: bytes) -> Outline:
        """What a file says."""
        key = (path, hashlib.blake2b(source, digest_size=16).digest())
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = outline(path, source)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > KEPT_OUTLINES:
                self._kept.popitem(last=False)
        return made


class OutlinedFile:
    """A file as a compiler sees it, with our outline of the very same text."""

    def __init__(self, path: str, source: SourceUnits, outline_of: OutlineOf) -> None:
        self.path = path
        """Relative to the repository."""
        self.source = source
        self._outline_of = outline_of

    @cached_property
    def outline(self) -> Outline:
        """What the file says, by our own rules."""
        return self._outline_of(self.path, self.source.decoded)

    @cached_property
    def _enclosing(self) -> Enclosing:
        return Enclosing(self.outline.items)

    @cached_property
    def _named(self) -> dict[int, int]:
        return {item.name_offset: index for index, item in self.outline.symbols()}

    def item(self, index: int) -> Item:
        """An item of the outline."""
        return self.outline.items[index]
