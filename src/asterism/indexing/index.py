"""An index that is open for writing: catalogue, chunk table, and where vectors come from."""

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from asterism.models.embed.provider import Embedder
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkTable, Vector
from asterism.store.lance.process import give_back
from asterism.store.table_files import DATA, damage_sentence, look_deep, written
from asterism.types.errors import IndexCorrupt
from asterism.types.index import ModelIdentity, TableFile


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
        """Let go of the file."""
        ...


@dataclass
class Index:
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

        After much was written, building indexes needs the room that reading and embedding needed.
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
        """Let go of everything that was opened."""
        self._close_embedder()
        if self._cache is not None:
            self._cache.close()
        self.catalogue.close()

    def _close_embedder(self) -> None:
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None
