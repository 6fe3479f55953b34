"""Checksums and stamps of files, and checks of the chunk table's files against them.

Lance never changes a file that it has written. So a file is read whole once, when it is written,
and again only where its stamp says that something else has written to it, or that it was copied.
"""

import os
import stat
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from asterism.store.database import Database
from asterism.types.errors import StorageFailed
from asterism.types.index import Stamp, TableFile
from asterism.types.index_states import damaged, is_refusal, unreadable

BLOCK_BYTES = 1 << 20
"""A block has a CRC-32 of its own, so that single blocks can be looked at. CRC-32 reads 6.9 GiB/s
where SHA-256 reads 2.0 and BLAKE2b 1.4. It finds damage; forgery is not what it is for."""
_SUM_BYTES = 4
_LARGEST = 2**63 - 1


def stamp_of(path: Path) -> Stamp:
    """The stamp of a plain file; anything else raises an OSError."""
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(f"{path} is no plain file")
    # SQL has no numbers beyond 63 bits.
    return Stamp(facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino & _LARGEST)


def sums_of(path: Path) -> bytes:
    """The CRC-32 of every block, four bytes each."""
    return b"".join(_packed(block) for block in _blocks(path))


def renewed(path: Path, sums: bytes, pages: Iterable[int], page_bytes: int) -> bytes:
    """The sums of a file of which only some pages (from 1) were written; others are not read."""
    size = path.stat().st_size
    count = -(-size // BLOCK_BYTES)
    known = len(sums) // _SUM_BYTES
    stale = {(page - 1) * page_bytes // BLOCK_BYTES for page in pages}
    # A file that grew or shrank has another last block.
    stale.update(range(max(0, min(known, count) - 1), count))
    found = bytearray(sums[: count * _SUM_BYTES].ljust(count * _SUM_BYTES, b"\0"))
    with path.open("rb") as file:
        for block in sorted(block for block in stale if block < count):
            file.seek(block * BLOCK_BYTES)
            found[block * _SUM_BYTES : (block + 1) * _SUM_BYTES] = _packed(file.read(BLOCK_BYTES))
    return bytes(found)


def holds(path: Path, sums: bytes, blocks: Iterable[int]) -> bool:
    """Whether some blocks of a file are what they were."""
    with path.open("rb") as file:
        for block in blocks:
            file.seek(block * BLOCK_BYTES)
            expected = sums[block * _SUM_BYTES : (block + 1) * _SUM_BYTES]
            if _packed(file.read(BLOCK_BYTES)) != expected:
                return False
    return True


def some_blocks(sums: bytes, chance: Random, most: int) -> list[int]:
    """Blocks to look at, all of them where they are few."""
    count = len(sums) // _SUM_BYTES
    return sorted(chance.sample(range(count), min(count, most)))


def _blocks(path: Path) -> Iterator[bytes]:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        while block := file.read(BLOCK_BYTES):
            yield block


def _packed(block: bytes) -> bytes:
    return zlib.crc32(block).to_bytes(_SUM_BYTES, "big")


FIRST_NAME = "chunks.lance"
"""Of a table that was not built beside another; LanceDB looks there for a table called `chunks`."""


class TableRecord:
    """The chunk table as the catalogue knows it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def name(self) -> str:
        """The directory of the chunk table, beside the catalogue."""
        row = self._database.one("SELECT value FROM facts WHERE key = 'table'")
        name = FIRST_NAME if row is None else row[0]
        if not isinstance(name, str) or "/" in name or "\\" in name or name[:6] != "chunks":
            raise self._database.damaged("its catalogue names no chunk table")
        return name

    def rename(self, name: str) -> None:
        """Name the directory of the chunk table, before it has rows."""
        self._database.run("INSERT OR REPLACE INTO facts VALUES ('table', ?)", (name,))

    def files(self) -> list[TableFile]:
        """The files of the committed version; none where an older program wrote it."""
        known = self._database.one("SELECT 1 FROM sqlite_master WHERE name = 'table_files'")
        if known is None:
            return []
        rows = self._database.rows(
            "SELECT name, sums, size, mtime_ns, ctime_ns, inode FROM table_files ORDER BY name"
        )
        return [TableFile(name, Stamp(*stamp), sums) for name, sums, *stamp in rows]

    def name_version(self, version: int, files: Sequence[TableFile] | None) -> None:
        """Commit a version of the chunk table; None where its files are those of the last one."""
        with self._database.transaction():
            self._database.run(
                "UPDATE facts SET value = ? WHERE key = 'chunks_version'", (version,)
            )
            if files is None:
                return
            names = {file.name for file in files}
            known = {file.name: file for file in self.files()}
            gone = [(name,) for name in known if name not in names]
            self._database.many("DELETE FROM table_files WHERE name = ?", gone)
            self.restamp(file for file in files if known.get(file.name) != file)

    def restamp(self, files: Iterable[TableFile]) -> None:
        """Record files, or that they have another stamp now, as after a copy."""
        with self._database.transaction():
            self._database.many(
                "INSERT OR REPLACE INTO table_files VALUES (?, ?, ?, ?, ?, ?)",
                [(file.name, *file.stamp, file.sums) for file in files],
            )


READ_BYTES = 256 * 2**20
"""Files with an unknown stamp are read whole up to so many bytes, in 0.04 s here and half a
second on a slow machine; of others, as in a read-only copy of a large index, some blocks are."""
CHANCE_BLOCKS = 2
"""Blocks that each process reads whatever the stamps say: a disk that forgets leaves no trace in
them. 0.3 ms; a hundred commands look at 200 MB."""
LARGE_BLOCKS = 64
"""Blocks of a file beyond `READ_BYTES`."""


DATA = "data/"
"""Where the rows are, in the table's directory."""
_SHOWN = 3


class TableCheck(NamedTuple):
    """What a look at the table's files found."""

    damaged: tuple[str, ...] = ()
    restamped: tuple[TableFile, ...] = ()
    """Files that hold what they should and have another stamp, as after a copy."""


def manifest_name(version: int) -> str:
    """How Lance names a version's manifest: by the largest number less it, in twenty digits."""
    return f"{2**64 - 1 - version:020}.manifest"


def written(table: Path, names: Iterable[str], known: Mapping[str, TableFile]) -> list[TableFile]:
    """Every file of a version with its sums; those that are known already are not read again."""
    return [known.get(name) or _read(table, name) for name in names]


def look_at(
    table: Path, files: Sequence[TableFile], seen: Collection[tuple[str, Stamp]] = ()
) -> TableCheck:
    """Compare every stamp, and read the files whose stamp is another one.

    `seen` names stamps under which a file was found well before.
    """
    hurt: list[str] = []
    restamped: list[TableFile] = []
    left = READ_BYTES
    for file in files:
        place = table / file.name
        try:
            stamp = stamp_of(place)
            if stamp == file.stamp or (file.name, stamp) in seen:
                continue
            left -= stamp.size
            if stamp.size != file.stamp.size or not _is_as_written(place, file, left >= 0):
                hurt.append(file.name)
            else:
                restamped.append(file._replace(stamp=stamp))
        except OSError as error:
            _check_refusal(table, file.name, error)
            hurt.append(file.name)
    return TableCheck(tuple(hurt), tuple(restamped))


def look_by_chance(table: Path, files: Sequence[TableFile], chance: Random) -> tuple[str, ...]:
    """Read a few blocks of a file, each block as likely as any other; files that are damaged."""
    sizes = [file.stamp.size for file in files]
    if not any(sizes):
        return ()
    found = []
    for file in chance.choices(files, weights=sizes, k=CHANCE_BLOCKS):
        try:
            if not holds(table / file.name, file.sums, some_blocks(file.sums, chance, 1)):
                found.append(file.name)
        except OSError as error:
            _check_refusal(table, file.name, error)
            found.append(file.name)
    return tuple(sorted({*found}))


def look_deep(table: Path, files: Sequence[TableFile]) -> tuple[str, ...]:
    """Read every byte of every file; files that are damaged."""
    found = []
    for file in files:
        try:
            stamp = stamp_of(table / file.name)
            is_whole = stamp.size == file.stamp.size and sums_of(table / file.name) == file.sums
        except OSError as error:
            _check_refusal(table, file.name, error)
            is_whole = False
        if not is_whole:
            found.append(file.name)
    return tuple(found)


def damage_sentence(directory: Path, files: Sequence[str], force: bool = False) -> str:
    """What is wrong with an index whose table has damaged files, and what to do.

    `force` is for damage that the stamps of the files do not show.
    """
    shown = ", ".join(files[:_SHOWN]) + (", …" if len(files) > _SHOWN else "")
    count = "1 file" if len(files) == 1 else f"{len(files):,} files"
    return damaged(directory, f"{count}: {shown}", force)


def _check_refusal(table: Path, name: str, error: OSError) -> None:
    """Raise where the system refused to read a file: nothing is known of what it holds."""
    if is_refusal(error):
        raise StorageFailed(unreadable(table.parent, error.errno, name)) from error


def _read(table: Path, name: str) -> TableFile:
    # The stamp first: what is written meanwhile shows in the next comparison.
    stamp = stamp_of(table / name)
    return TableFile(name, stamp, sums_of(table / name))


def _is_as_written(place: Path, file: TableFile, whole: bool) -> bool:
    if whole:
        return sums_of(place) == file.sums
    return holds(place, file.sums, some_blocks(file.sums, Random(), LARGE_BLOCKS))
