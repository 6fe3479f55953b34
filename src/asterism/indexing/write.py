"""Rows of read files into the store: quotes bound, vectors found, one commit per batch."""

import hashlib
import os
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import IO, NamedTuple

from asterism import __version__
from asterism.analysis.chunks.embedding_text import bind_quotes
from asterism.analysis.chunks.units import RECIPE_VERSION, ChunkOptions
from asterism.indexing.index import EmbeddedText, OpenIndex, VectorSource, text_hash
from asterism.indexing.links import Neighbours
from asterism.indexing.plan import SyncOptions, options_hash
from asterism.indexing.read import (
    PACKED_CLASSES,
    FileRows,
    Outcome,
    Packet,
    ParsedFile,
    Read,
    unpickled,
)
from asterism.indexing.report import SyncAccount
from asterism.store.chunk_table import ChunkKey
from asterism.store.plain_files import make_plain
from asterism.types.index import Batch, Chunk, Entry, FileState, FileUpdate, Repository

ENDING = ".spool"
_KEY_BYTES = 16
# Lengths of a record's two parts, the source bytes that it was made from, and a digest.
_RECORD = Struct(">QQQ16s")


class SpoolBlock(NamedTuple):
    """Where the rows of one packet are."""

    rows: list[FileRows] | None
    """In memory, or None for rows in the file."""
    offset: int
    length: int
    weight: int
    """Bytes of source, by which batches are measured."""


class Earlier(NamedTuple):
    """What a sync before this one has read: an outcome for each file, and its rows."""

    outcomes: Sequence[Outcome]
    block: SpoolBlock


def spool_file(directory: Path, repo: str) -> Path:
    """Where the packed rows of a repository wait."""
    return directory / f"reading-{repo}{ENDING}"


def spool_of(index: OpenIndex, repository: Repository, options: SyncOptions) -> "Spool":
    """Where rows wait; what a sync before this one left there counts if it would be the same.

    An index that is built anew has a table of another name, and so begins anew.
    """
    table = index.catalogue.table.name
    shape = options_hash(options)
    made_with = (__version__, PACKED_CLASSES, repository.root, shape, table)
    return Spool(spool_file(index.directory, repository.name), repr(made_with))


class Spool:
    """Blocks of rows, returned in the order they came.

    `key` says what the rows were made with: a file of another key is begun anew.
    """

    def __init__(self, place: Path, key: str) -> None:
        self._place = place
        self._key = hashlib.blake2b(key.encode(), digest_size=_KEY_BYTES).digest()
        self._file: IO[bytes] | None = None
        self._end = _KEY_BYTES
        self._blocks: list[SpoolBlock] = []

    def put(self, packet: Packet) -> None:
        """Keep the rows of a packet."""
        if isinstance(packet.rows, list):
            self._blocks.append(SpoolBlock(packet.rows, 0, 0, packet.source_bytes))
            return
        outcomes = pickle.dumps(packet.outcomes, pickle.HIGHEST_PROTOCOL)
        file = self._file or self._begun()
        file.seek(self._end)
        sizes = (len(outcomes), len(packet.rows), packet.source_bytes)
        file.write(_RECORD.pack(*sizes, _digest(sizes, outcomes, packet.rows)))
        file.write(outcomes)
        file.write(packet.rows)
        # A process that is killed leaves what the system has, not what is in its own buffer.
        file.flush()
        offset = self._end + _RECORD.size + len(outcomes)
        self._end = offset + len(packet.rows)
        self._blocks.append(SpoolBlock(None, offset, len(packet.rows), packet.source_bytes))

    def earlier(self) -> Iterator[Earlier]:
        """What is in the file of a sync that was stopped; `take` keeps a block of it."""
        with suppress(OSError):
            make_plain(self._place)
            self._file = self._place.open("r+b")
        if self._file is None:
            return
        if self._file.read(_KEY_BYTES) != self._key:
            self._file.close()
            self._file = None
            return
        while (found := self._next()) is not None:
            yield found

    def take(self, block: SpoolBlock) -> None:
        """Keep rows that were in the file already."""
        self._blocks.append(block)

    def batches(self, weight: int) -> Iterator[list[list[FileRows] | bytes]]:
        """Every block, first come first served, in batches of about that weight."""
        batch: list[list[FileRows] | bytes] = []
        held = 0
        # Removed from the list as they are returned: rows that are written need no memory.
        self._blocks.reverse()
        while self._blocks:
            block = self._blocks.pop()
            batch.append(self._rows(block) if block.rows is None else block.rows)
            held += block.weight
            if held >= weight:
                yield batch
                batch, held = [], 0
        if batch:
            yield batch

    def close(self) -> None:
        """Close the file, and leave it for the next sync."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def remove(self) -> None:
        """Remove the file: everything in it is written, or there is no space for it."""
        self.close()
        with suppress(OSError):
            self._place.unlink(missing_ok=True)

    def _begun(self) -> IO[bytes]:
        make_plain(self._place)
        number = os.open(self._place, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        self._file = os.fdopen(number, "w+b")
        self._file.write(self._key)
        return self._file

    def _next(self) -> Earlier | None:
        """The record at the end of those that are whole."""
        assert self._file is not None
        self._file.seek(self._end)
        head = self._file.read(_RECORD.size)
        if len(head) < _RECORD.size:
            return None
        *sizes, digest = _RECORD.unpack(head)
        if sum(sizes[:2]) > os.fstat(self._file.fileno()).st_size:
            return None
        outcomes, rows = self._file.read(sizes[0]), self._file.read(sizes[1])
        if digest != _digest(sizes, outcomes, rows):
            return None
        offset = self._end + _RECORD.size + len(outcomes)
        self._end = offset + len(rows)
        return Earlier(unpickled(outcomes), SpoolBlock(None, offset, len(rows), sizes[2]))

    def _rows(self, block: SpoolBlock) -> bytes:
        assert self._file is not None
        self._file.seek(block.offset)
        return self._file.read(block.length)


def _digest(sizes: Sequence[int], *parts: bytes) -> bytes:
    """Of the whole record, sizes included."""
    digest = hashlib.blake2b(repr(tuple(sizes)).encode(), digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.digest()


class _Bound(NamedTuple):
    """A file's rows with their final texts."""

    read: Read
    rows: FileRows
    chunks: list[Chunk]
    hashes: list[bytes]

    @property
    def keys(self) -> list[tuple[str, bytes]]:
        return [(chunk.id, key) for chunk, key in zip(self.chunks, self.hashes, strict=True)]


@dataclass
class Writer:
    """Writes batches of files; after each the index is whole again."""

    index: OpenIndex
    repo: str
    known: Mapping[str, FileState]
    around: Neighbours
    options: ChunkOptions
    anew: bool = False
    """Whether rows are written even where the index seems to hold them already."""
    account: SyncAccount = field(default_factory=SyncAccount)

    def write(
        self,
        readings: Sequence[ParsedFile],
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

    def _bind(self, reading: ParsedFile) -> _Bound:
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
        """Add new rows and delete old ones; readers see it once the catalogue is committed."""
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
                EmbeddedText(entry.text_hash, entry.chunk.embedding_text, entry.chunk)
                for entry in entries
            ]
            table.append(entries, source.vectors(texts, self._stored(bound), self.account))
        if stale:
            table.delete(stale)
        return table.version

    def _entries(self, bound: Sequence[_Bound], first: int) -> Iterator[Entry]:
        for number, file in enumerate(bound):
            for terms, chunk, key in zip(file.rows.chunks, file.chunks, file.hashes, strict=True):
                yield Entry(
                    chunk, first + number, key, terms.terms, terms.name_terms, file.rows.path_terms
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
