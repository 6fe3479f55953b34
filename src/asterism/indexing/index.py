"""An index that is open for writing: catalogue, chunk table, and where vectors come from."""

import gc
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from asterism.disclosure.places import MaskedPlace, places_of_part
from asterism.disclosure.tokens import masked
from asterism.indexing.report import SyncAccount
from asterism.models.embed.options import REMOTE
from asterism.models.embed.provider import Embedder, Matrix
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkKey, ChunkTable, Vector
from asterism.store.lance.process import give_back
from asterism.store.table_files import DATA, damage_sentence, look_deep, written
from asterism.types.errors import IndexCorrupt
from asterism.types.index import Chunk, ModelIdentity, TableFile


class Cache(Protocol):
    """Vectors by text hash, outside any one index; it never stops a sync."""

    @property
    def warnings(self) -> list[str]:
        """What went wrong, a sentence each."""
        ...

    def get(
        self, identity: ModelIdentity, recipe: int, hashes: Sequence[bytes]
    ) -> dict[bytes, Vector]:
        """Those that are there."""
        ...

    def put(self, identity: ModelIdentity, recipe: int, vectors: Mapping[bytes, Vector]) -> None:
        """Keep these."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


def text_hash(text: str) -> bytes:
    """What tells two embedding texts apart, within a model and a recipe."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class EmbeddedText(NamedTuple):
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
        self, texts: Sequence[EmbeddedText], stored: Mapping[bytes, ChunkKey], account: SyncAccount
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

    def _sent(self, entry: EmbeddedText) -> "_Sent":
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


@dataclass
class OpenIndex:
    """What a sync writes to. Table and model are opened when the first row needs them."""

    directory: Path
    catalogue: Catalogue
    create_table: Callable[[int], ChunkTable]
    """Makes an empty table for vectors of that many dimensions, in place of any other."""
    open_table: Callable[[], ChunkTable]
    identity: ModelIdentity
    make_embedder: Callable[[], Embedder]
    make_cache: Callable[[], Cache]
    _table: ChunkTable | None = field(default=None, init=False)
    _embedder: Embedder | None = field(default=None, init=False)
    _cache: Cache | None = field(default=None, init=False)

    def table(self) -> ChunkTable:
        """The table at its committed version: what a killed writer left behind is undone first."""
        if self._table is None:
            committed = self.catalogue.chunks_version()
            if committed == 0:
                self._table = self.create_table(self.identity.dimensions)
                self._name_version()
            else:
                self._table = self.open_table()
                if self._table.version != committed:
                    self._table.restore(committed)
                    self._name_version()
        return self._table

    def table_files(self) -> Sequence[TableFile]:
        """The files of the table's newest version; each is read once, after it was written."""
        table = self.table()
        if table.place is None:
            return ()
        return written(table.place, table.files(), self._known_files())

    def adopt(self) -> None:
        """Give checksums to a table that an older program wrote."""
        if self.catalogue.chunks_version() and not self.catalogue.table.files():
            self.table()
            self._name_version()

    def _name_version(self) -> None:
        """Commit the newest version of the table."""
        if self._table is not None:
            self.catalogue.set_chunks_version(self._table.version, self.table_files())

    def _known_files(self) -> dict[str, TableFile]:
        return {file.name: file for file in self.catalogue.table.files()}

    def embedder(self) -> Embedder:
        """The model, loaded once."""
        if self._embedder is None:
            self._embedder = self.make_embedder()
        return self._embedder

    def cache(self) -> Cache:
        """The user's embedding cache."""
        if self._cache is None:
            self._cache = self.make_cache()
        return self._cache

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong and was put up with."""
        return tuple(self._cache.warnings) if self._cache is not None else ()

    def maintain(self, thorough: bool = False, make_room: bool = False) -> None:
        """Keep queries quick; what it does is committed like any other change.

        After large writes, free memory is returned first, because building indexes needs it.
        """
        if self._table is None and self.catalogue.chunks_version() == 0:
            return
        table = self.table()
        if make_room:
            self._close_embedder()
            gc.collect()
            give_back()
        before = self._known_files()
        table.maintain(thorough)
        self._check_merged(table, before)
        self._name_version()

    def _check_merged(self, table: ChunkTable, before: Mapping[str, TableFile]) -> None:
        """Refuse rows that were merged out of damaged files: they would get good checksums."""
        if table.place is None:
            return
        now = {*table.files()}
        merged = [
            file
            for name, file in before.items()
            if name not in now and name.startswith(DATA) and (table.place / name).exists()
        ]
        if damaged := look_deep(table.place, merged):
            raise IndexCorrupt(damage_sentence(self.directory, damaged, force=True))

    def close(self) -> None:
        """Close everything that was opened."""
        self._close_embedder()
        if self._cache is not None:
            self._cache.close()
        self.catalogue.close()

    def _close_embedder(self) -> None:
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None
