"""A draw that depends on what is drawn and a seed, and not on the order or the number of things."""

import hashlib
import heapq
from typing import Generic, TypeVar

_Item = TypeVar("_Item")


def rank_of(seed: str, key: str) -> int:
    """A number between 0 and 2^64 that looks random and is always the same."""
    text = f"{seed}\0{key}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


class Draw(Generic[_Item]):
    """Keeps the items of the smallest ranks, one of each key."""

    def __init__(self, size: int, seed: str) -> None:
        self._size = size
        self._seed = seed
        self._kept: dict[str, _Item] = {}
        # The largest rank first, as a heap gives the smallest.
        self._heap: list[tuple[int, str]] = []

    def offer(self, key: str, item: _Item) -> None:
        """Take part in the draw; of equal keys the first item counts."""
        if key in self._kept:
            return
        entry = (-rank_of(self._seed, key), key)
        if len(self._heap) < self._size:
            heapq.heappush(self._heap, entry)
        else:
            dropped = heapq.heappushpop(self._heap, entry)
            self._kept.pop(dropped[1], None)
            if dropped == entry:
                return
        self._kept[key] = item

    def drawn(self) -> list[_Item]:
        """The items, in the order of their ranks."""
        return [self._kept[key] for _, key in sorted(self._heap, reverse=True)]
