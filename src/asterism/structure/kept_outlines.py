"""Outlines by path and text: whoever reads the same text of a file shares its outline."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeAlias

from asterism.analysis.syntax.outlines import outline
from asterism.domain.outline import Outline

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
