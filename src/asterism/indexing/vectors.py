"""A vector for each text: from the cache, from the index itself, or from the model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from asterism.disclosure.places import MaskedPlace, places_of_part
from asterism.disclosure.tokens import masked
from asterism.indexing.cache import Cache
from asterism.indexing.read import text_hash
from asterism.indexing.report import Account
from asterism.models.embed.options import REMOTE
from asterism.models.embed.provider import Embedder, Matrix
from asterism.store.chunk_table import ChunkKey, ChunkTable
from asterism.types.chunk import Chunk
from asterism.types.index import ModelIdentity


class Text(NamedTuple):
    """A text that needs a vector."""

    hash: bytes
    text: str
    chunk: Chunk | None = None
    """What it was made from; None where it has no place in a file."""


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
        import numpy as np

        if not texts:
            return np.zeros((0, self.identity.dimensions), np.float32)
        wanted = {entry.hash: self._sent(entry) for entry in texts}
        known = self.cache.get(self.identity, self.recipe, [sent.key for sent in wanted.values()])
        found = {key: known[sent.key] for key, sent in wanted.items() if sent.key in known}
        account.cached += len(found)
        kept = {key: stored[key] for key in wanted if key not in found and key in stored}
        if kept:
            rows = self.table().snapshot().vectors(list(kept.values()))
            again = {key: rows[chunk] for key, chunk in kept.items() if chunk in rows}
            account.reused += len(again)
            found.update(again)
        missing = [key for key in wanted if key not in found]
        if missing:
            made = self.embedder().embed_documents([wanted[key].text for key in missing])
            fresh = dict(zip(missing, made, strict=True))
            self.cache.put(
                self.identity, self.recipe, {wanted[key].key: fresh[key] for key in missing}
            )
            account.embedded += len(missing)
            for key in missing:
                account.masked.add(wanted[key].masked, wanted[key].places())
            found.update(fresh)
        return np.stack([found[entry.hash] for entry in texts])

    def _sent(self, entry: Text) -> "_Sent":
        """What the model reads: on a server, the text without its tokens.

        The cache knows a vector by the text that it was made from.
        """
        if self.identity.provider in REMOTE:
            result = masked(entry.text)
            if result.tokens:
                return _Sent(text_hash(result.text), result.text, result.counts, entry.chunk)
        return _Sent(entry.hash, entry.text, {})


class _Sent(NamedTuple):
    """A text as the model reads it, and the tokens that are masked in it."""

    key: bytes
    text: str
    masked: Mapping[str, int]
    chunk: Chunk | None = None

    def places(self) -> list[MaskedPlace]:
        """Where the tokens are in the file."""
        if self.chunk is None:
            return []
        chunk = self.chunk
        return places_of_part(chunk.relative_path, chunk.start_line, chunk.full_source)
