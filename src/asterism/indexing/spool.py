"""What was read and waits to be written: blocks in memory and, packed ones, in a file.

The file outlives a process that is killed, so the next sync takes over what was read. Each record
carries a checksum: what was written by halves, or damaged since, is read from the repository again.
"""

import hashlib
import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import IO, NamedTuple

from asterism import __version__
from asterism.indexing.index import Index
from asterism.indexing.options import SyncOptions, options_hash
from asterism.indexing.read import Outcome, Packet, Rows, unpickled
from asterism.store.plain_files import make_plain
from asterism.types.index import Repository

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
