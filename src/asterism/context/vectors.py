"""Items made comparable: their pieces, vectors and words, each made once and then remembered."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from asterism.context.items import index_text, pieces_of
from asterism.context.words import Numbers, Scale, WordIndex, curve_of, stems_of
from asterism.models.embed.provider import Embedder, Matrix
from asterism.types.context import Item, Tool
from asterism.types.index import ModelIdentity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


RECIPE = 1_000
"""The number under which the cache keeps pieces of items, apart from those of code."""

REMEMBERED_PIECES = 20_000
"""Pieces that stay in memory: some 2,000 tools and a few long references, about 30 MB."""
REMEMBERED_SETS = 8
"""Sets of candidates that stay together; sessions of a few agents ask in turn."""


class PieceCache(Protocol):
    """Where vectors are kept between processes; `EmbeddingCache` and `NoCache` are such."""

    def get(
        self, identity: ModelIdentity, recipe: int, hashes: Sequence[bytes]
    ) -> Mapping[bytes, NDArray[np.float32]]:
        """The vectors that are known, by hash."""
        ...

    def put(
        self, identity: ModelIdentity, recipe: int, vectors: Mapping[bytes, NDArray[np.float32]]
    ) -> None:
        """Keep vectors by hash."""
        ...


class _Known(NamedTuple):
    """What is remembered of one item."""

    pieces: tuple[str, ...]
    vectors: Matrix
    says: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class PreparedItems:
    """A set of items, ready to be compared; each has one or more pieces, which stand together."""

    items: tuple[Item, ...]
    pieces: tuple[str, ...]
    owners: NDArray[np.intp]
    """For each piece the number of its item."""
    starts: NDArray[np.intp]
    """For each item the number of its first piece."""
    vectors: Matrix
    words: WordIndex

    def best(self, by_piece: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each item the highest value of its pieces, which are the last dimension."""
        import numpy as np

        if not self.items:
            return by_piece
        return np.asarray(np.maximum.reduceat(by_piece, self.starts, axis=-1))

    def piece_number(self, piece: int) -> int:
        """Which piece of its item it is, from 0."""
        return int(piece - self.starts[self.owners[piece]])


class ItemIndex:
    """Prepares items for one model; a piece is embedded once, and found again by what it says."""

    def __init__(
        self,
        embedder: Embedder,
        cache: PieceCache,
        told: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Nothing is embedded before the first set of items is prepared.

        `told` is what the model's own description says of its cosines.
        """
        self.embedder = embedder
        self._curve = curve_of(embedder.identity, told)
        self._cache = cache
        self._lock = Lock()
        self._known: OrderedDict[Item, _Known] = OrderedDict()
        self._sets: OrderedDict[tuple[Item, ...], PreparedItems] = OrderedDict()

    @property
    def identity(self) -> ModelIdentity:
        """The model's."""
        return self.embedder.identity

    def scale(self, *, hybrid: bool = True) -> Scale:
        """What turns this model's cosines into scores."""
        return Scale(self._curve, hybrid=hybrid)

    def prepare(self, items: Sequence[Item]) -> PreparedItems:
        """The items made comparable; all that is not known yet is embedded in one batch.

        An edited item is another item to the index, so nothing of its old text is ever used.
        """
        key = tuple(items)
        with self._lock:
            prepared = self._sets.get(key)
            if prepared is None:
                prepared = self._sets[key] = _joined(key, self._known_of(key))
                while len(self._sets) > REMEMBERED_SETS:
                    self._sets.popitem(last=False)
            self._sets.move_to_end(key)
        return prepared

    def _known_of(self, items: tuple[Item, ...]) -> list[_Known]:
        """What is known of each item, in their order."""
        import numpy as np

        found = {item: known for item in items if (known := self._known.get(item)) is not None}
        new = [item for item in items if item not in found]
        texts = [index_text(item) for item in new]
        # A server may list a tool without a name; it is similar to nothing and never chosen.
        pieces = [pieces_of(text) or ("",) for text in texts]
        vectors = self.embedded(list(dict.fromkeys(p for some in pieces for p in some)))
        for item, text, some in zip(new, texts, pieces, strict=True):
            found[item] = self._known[item] = _Known(
                some,
                np.array([vectors[piece] for piece in some]),
                stems_of(f"{text} {item.server}" if isinstance(item, Tool) else text),
            )
        for item in items:
            self._known.move_to_end(item)
        self._forget()
        return [found[item] for item in items]

    def embedded(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """A vector for each text, from the cache where it is known there."""
        hashes = {text: _hash(text) for text in texts}
        found = dict(self._cache.get(self.identity, RECIPE, list(hashes.values())))
        missing = [text for text in texts if hashes[text] not in found]
        if missing:
            rows = self.embedder.embed_documents(missing)
            made = {hashes[text]: row for text, row in zip(missing, rows, strict=True)}
            self._cache.put(self.identity, RECIPE, made)
            found |= made
        return {text: found[hashes[text]] for text in texts}

    def _forget(self) -> None:
        """Let go of what was not used for longest, when there is too much."""
        size = sum(len(known.pieces) for known in self._known.values())
        while size > REMEMBERED_PIECES and len(self._known) > 1:
            size -= len(self._known.popitem(last=False)[1].pieces)


def _joined(items: tuple[Item, ...], known: Sequence[_Known]) -> PreparedItems:
    import numpy as np

    sizes = np.array([len(entry.pieces) for entry in known], dtype=np.intp)
    return PreparedItems(
        items=items,
        pieces=tuple(_all_pieces(known)),
        owners=np.repeat(np.arange(len(items), dtype=np.intp), sizes),
        starts=np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.intp),
        vectors=np.concatenate([entry.vectors for entry in known])
        if known
        else np.zeros((0, 0), dtype=np.float32),
        words=WordIndex([entry.says for entry in known]),
    )


def _all_pieces(known: Sequence[_Known]) -> Iterator[str]:
    for entry in known:
        yield from entry.pieces


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


_MOST_SHARED = 0.99
"""Beyond this, differences of rounding would count as differences of meaning."""


def likeness(prepared: PreparedItems, pieces: Sequence[int] | slice) -> Numbers:
    """For each of some pieces how near every item is to it, by the item's nearest piece."""
    import numpy as np

    near = prepared.best(prepared.vectors[pieces] @ prepared.vectors.T)
    servers = _servers(prepared)
    pairs, total = _within(prepared, servers)
    # Two tools have no others to be compared with.
    many = pairs[servers] > 2
    same = (servers[prepared.owners[pieces]][:, None] == servers[None, :]) & many[None, :]
    if not same.any():
        return near
    others = (total[servers][None, :] - 2.0 * near) / np.maximum(pairs[servers][None, :] - 2.0, 1.0)
    shared = np.clip(others, 0.0, _MOST_SHARED)
    return np.asarray(np.where(same, (near - shared) / (1.0 - shared), near), dtype=np.float32)


def _servers(prepared: PreparedItems) -> NDArray[np.intp]:
    """For each item the number of its server; rules and references have number 0."""
    import numpy as np

    numbers: dict[str, int] = {}
    return np.array(
        [
            numbers.setdefault(item.server, len(numbers) + 1) if isinstance(item, Tool) else 0
            for item in prepared.items
        ],
        dtype=np.intp,
    )


def _within(prepared: PreparedItems, servers: NDArray[np.intp]) -> tuple[Numbers, Numbers]:
    """For each server how many ordered pairs of tools it has, and the sum of their cosines."""
    import numpy as np

    heads = prepared.vectors[prepared.starts]
    count = int(servers.max(initial=0)) + 1
    pairs, total = np.zeros(count, dtype=np.float32), np.zeros(count, dtype=np.float32)
    for server in range(1, count):
        mine = heads[servers == server]
        pairs[server] = len(mine) * (len(mine) - 1)
        together = mine.sum(axis=0)
        total[server] = together @ together - np.square(mine).sum()
    return pairs, total
