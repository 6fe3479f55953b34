"""Rows of read files into the store: quotes bound, vectors found, one commit per batch."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from asterism.analysis.chunks.binding import bind_quotes
from asterism.analysis.chunks.options import RECIPE_VERSION, ChunkOptions
from asterism.indexing.index import Index
from asterism.indexing.links import Neighbours
from asterism.indexing.read import Read, Reading, Rows, text_hash
from asterism.indexing.report import Account
from asterism.indexing.vectors import Text, VectorSource
from asterism.store.chunk_table import ChunkKey
from asterism.types.catalogue import Batch
from asterism.types.chunk import Chunk
from asterism.types.index import Entry, FileState, FileUpdate


class _Bound(NamedTuple):
    """A file's rows with their final texts."""

    read: Read
    rows: Rows
    chunks: list[Chunk]
    hashes: list[bytes]

    @property
    def keys(self) -> list[tuple[str, bytes]]:
        return [(chunk.id, key) for chunk, key in zip(self.chunks, self.hashes, strict=True)]


@dataclass
class Writer:
    """Writes batches of files; after each the index is whole again."""

    index: Index
    repo: str
    known: Mapping[str, FileState]
    around: Neighbours
    options: ChunkOptions
    anew: bool = False
    """Whether rows are written even where the index seems to hold them already."""
    account: Account = field(default_factory=Account)

    def write(
        self,
        readings: Sequence[Reading],
        removed: Sequence[str] = (),
        touched: Sequence[FileState] = (),
    ) -> None:
        """Replace the rows of the files read, drop those of the removed; all or nothing."""
        catalogue = self.index.catalogue
        bound = [entry for entry in map(self._bind, readings) if not self._is_written(entry)]
        first = catalogue.next_file_version(len(bound)) if bound else 0
        gone = [*removed, *(entry.read.path for entry in bound)]
        stale = [self.known[path].version for path in gone if path in self.known]
        version, table_files = catalogue.chunks_version(), None
        if bound or stale:
            self.account.wrote = True
            version = self._replace(bound, first, stale)
            table_files = self.index.table_files()
        if bound or removed or touched:
            catalogue.commit(
                Batch(
                    repo=self.repo,
                    chunks_version=version,
                    updates=[self._update(entry, first + n) for n, entry in enumerate(bound)],
                    removed=list(removed),
                    touched=list(touched),
                    scanned_ns=time.time_ns(),
                    table_files=table_files,
                )
            )
        self.account.chunks += sum(len(entry.chunks) for entry in bound)

    def _bind(self, reading: Reading) -> _Bound:
        read, rows = reading
        chunks = [terms.chunk for terms in rows.chunks]
        mentioned = {name for chunk in chunks for name in chunk.mentions}
        if mentioned:
            signatures = self.around.imported(read.path, read.wants, mentioned)
            if signatures:
                chunks = [bind_quotes(chunk, signatures, self.options) for chunk in chunks]
        hashes = [text_hash(chunk.embedding_text) for chunk in chunks]
        return _Bound(read, rows, chunks, hashes)

    def _is_written(self, bound: _Bound) -> bool:
        """Whether the index holds exactly this: the same content, texts and imported files."""
        state = self.known.get(bound.read.path)
        if self.anew or state is None or state.content_hash != bound.read.content_hash:
            return False
        catalogue, path = self.index.catalogue, bound.read.path
        return catalogue.chunk_keys(self.repo, path) == bound.keys and catalogue.links(
            self.repo, path
        ) == self.around.links(bound.read)

    def _replace(self, bound: Sequence[_Bound], first: int, stale: Sequence[int]) -> int:
        """New rows in, old rows out; nobody reads this version until the catalogue names it."""
        table = self.index.table()
        entries = list(self._entries(bound, first))
        if entries:
            source = VectorSource(
                self.index.identity,
                RECIPE_VERSION,
                self.index.cache(),
                self.index.table,
                self.index.embedder,
            )
            texts = [
                Text(entry.text_hash, entry.chunk.embedding_text, entry.chunk) for entry in entries
            ]
            table.append(entries, source.vectors(texts, self._stored(bound), self.account))
        if stale:
            table.delete(stale)
        return table.version

    def _entries(self, bound: Sequence[_Bound], first: int) -> Iterator[Entry]:
        for number, file in enumerate(bound):
            for terms, chunk, key in zip(file.rows.chunks, file.chunks, file.hashes, strict=True):
                yield Entry(
                    chunk,
                    first + number,
                    key,
                    terms.terms,
                    terms.name_terms,
                    file.rows.path_terms,
                )

    def _stored(self, bound: Sequence[_Bound]) -> dict[bytes, ChunkKey]:
        """Texts that have rows in the index, from the readings that are about to be replaced."""
        return {
            key: ChunkKey(self.repo, chunk)
            for file in bound
            if file.read.path in self.known
            for chunk, key in self.index.catalogue.chunk_keys(self.repo, file.read.path)
        }

    def _update(self, bound: _Bound, version: int) -> FileUpdate:
        read = bound.read
        state = FileState(
            read.path,
            read.size,
            read.mtime_ns,
            read.content_hash,
            version,
            read.scanned_ns,
            read.language,
            len(bound.chunks),
            read.problems,
            read.ctime_ns,
        )
        return FileUpdate(state, bound.keys, bound.rows.symbols, self.around.links(read))
