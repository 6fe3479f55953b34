"""A vector for each text: from the cache, from the index itself, or from the model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from asterism.backends.embed.protocol import Embedder, Matrix
from asterism.backends.store.chunk_table import ChunkKey, ChunkTable
from asterism.domain.index import ModelIdentity
from asterism.indexing.cache import Cache
from asterism.indexing.report import Account


class Text(NamedTuple):
    """A text that needs a vector."""

    hash: bytes
    text: str


@dataclass(frozen=True, slots=True)
class VectorSource:
    """Everything a vector may come from, the cheapest first."""

    identity: ModelIdentity
    recipe: int
    cache: Cache
    table: Callable[[], ChunkTable]
    embedder: Callable[[], Embedder]

    def vectors(
        self, texts: Sequence[Text], stored: Mapping[bytes, ChunkKey], account: Account
    ) -> Matrix:
        """A row for each text; `stored` says which texts already have rows in the index."""
        if not texts:
            return np.zeros((0, self.identity.dimensions), np.float32)
        wanted = {entry.hash: entry.text for entry in texts}
        found = self.cache.get(self.identity, self.recipe, list(wanted))
        account.cached += len(found)
        kept = {key: stored[key] for key in wanted if key not in found and key in stored}
        if kept:
            rows = self.table().snapshot().vectors(list(kept.values()))
            again = {key: rows[chunk] for key, chunk in kept.items() if chunk in rows}
            account.reused += len(again)
            found.update(again)
        missing = [key for key in wanted if key not in found]
        if missing:
            made = self.embedder().embed_documents([wanted[key] for key in missing])
            fresh = dict(zip(missing, made, strict=True))
            self.cache.put(self.identity, self.recipe, fresh)
            account.embedded += len(missing)
            found.update(fresh)
        return np.stack([found[entry.hash] for entry in texts])
