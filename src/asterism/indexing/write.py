"""Rows of read files into the store: quotes bound, vectors found, one commit per batch."""

import hashlib
import os
import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import IO, NamedTuple

from asterism import __version__
from asterism.analysis.chunks.embedding_text import bind_quotes
from asterism.analysis.chunks.units import RECIPE_VERSION, ChunkOptions
from asterism.disclosure.places import MaskedPlace, places_of_part
from asterism.disclosure.tokens import masked
from asterism.indexing.index import Cache, Index
from asterism.indexing.links import Neighbours
from asterism.indexing.plan import SyncOptions, options_hash
from asterism.indexing.read import Outcome, Packet, Read, Reading, Rows, text_hash, unpickled
from asterism.indexing.report import Account
from asterism.models.embed.options import REMOTE
from asterism.models.embed.provider import Embedder, Matrix
from asterism.store.chunk_table import ChunkKey, ChunkTable
from asterism.store.plain_files import make_plain
from asterism.types.chunk import Chunk
from asterism.types.index import Batch, Entry, FileState, FileUpdate, ModelIdentity, Repository


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


ENDING = ".spool"
_KEY_BYTES = 16
# Lengths of the two parts of a record, the source bytes it stands for, and a digest of all that.
_RECORD = Struct(">QQQ16s")


class Block(NamedTuple):
    """Where the rows of one packet are."""

    rows: list[Rows] | None
    """In memory, or None for rows in the file."""
    offset: int
    length: int
    weight: int
    """Bytes of source, by which batches are measured."""


class Earlier(NamedTuple):
    """What a sync before this one has read: an outcome for each file, and its rows."""

    outcomes: Sequence[Outcome]
    block: Block


def spool_file(directory: Path, repo: str) -> Path:
    """Where the packed rows of a repository wait."""
    return directory / f"reading-{repo}{ENDING}"


def spool_of(index: Index, repository: Repository, options: SyncOptions) -> "Spool":
    """Where rows wait; what a sync before this one left there counts if it would be the same.

    An index that is built anew has a table of another name, and so begins anew.
    """
    table = index.catalogue.table.name
    made_with = (__version__, repository.root, options_hash(options), table)
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
        self._blocks: list[Block] = []

    def put(self, packet: Packet) -> None:
        """Keep the rows of a packet."""
        if isinstance(packet.rows, list):
            self._blocks.append(Block(packet.rows, 0, 0, packet.source_bytes))
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
        self._blocks.append(Block(None, offset, len(packet.rows), packet.source_bytes))

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

    def take(self, block: Block) -> None:
        """Keep rows that were in the file already."""
        self._blocks.append(block)

    def batches(self, weight: int) -> Iterator[list[list[Rows] | bytes]]:
        """Every block, first come first served, in batches of about that weight."""
        batch: list[list[Rows] | bytes] = []
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
        return Earlier(unpickled(outcomes), Block(None, offset, len(rows), sizes[2]))

    def _rows(self, block: Block) -> bytes:
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
