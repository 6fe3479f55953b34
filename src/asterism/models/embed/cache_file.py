"""The cache's SQLite file: made, opened, read, kept small, and put away when it is damaged."""

import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from asterism.types.index import ModelIdentity

_SCHEMA_VERSION = 1
_LOOKUP = 500
"""Hashes per query: 100 cost 6.4 µs a vector, 500 and 2,000 both 5.5; one by one it is 10."""
_PAGE_BYTES = 16_384
"""A vector of 1,024 dimensions takes 2.4 KB in pages of this size, 4.2 KB in SQLite's own."""
_EVICT_TO = 0.9
_EVICT_AT_ONCE = 2_000
"""Rows per transaction of an eviction: 20 ms, which is how long another writer waits for it."""
_ROW_BYTES = 75
"""What a row takes beside its vector, both indexes included."""
_JOURNAL_BYTES = 32_000_000

# The hashes are random. In a table ordered by them every insertion lands in another page of
# vectors (put: 48 µs among 300,000 rows); beside a table in order of arrival only the small index
# is hit at random (10 µs), and the oldest rows lie together when they are evicted.
_SCHEMA = f"""
PRAGMA page_size = {_PAGE_BYTES};
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    provider TEXT NOT NULL, model TEXT NOT NULL, dimensions INTEGER NOT NULL,
    recipe INTEGER NOT NULL,
    UNIQUE (provider, model, dimensions, recipe)
);
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY,
    model INTEGER NOT NULL, hash BLOB NOT NULL, used INTEGER NOT NULL, vector BLOB NOT NULL,
    sum INTEGER
);
CREATE UNIQUE INDEX vectors_by_hash ON vectors (model, hash);
CREATE INDEX vectors_by_use ON vectors (used);
PRAGMA user_version = {_SCHEMA_VERSION};
"""


class _Damaged(sqlite3.DatabaseError):
    """SQLite can open the file, but it is not what was written."""


def create(path: Path) -> None:
    """Make the file complete under another name first, so that no process reads half of it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_orphans(path)
    draft = path.with_name(f"{path.name}.new-{os.getpid()}-{threading.get_ident()}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.executescript(_SCHEMA)
        _publish(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _remove_orphans(path: Path) -> None:
    """The journal of a removed file would be played back into the new one."""
    # Seen before the file is missed, it cannot be the journal of a file that is only just made.
    orphaned = path.with_name(path.name + "-wal").exists()
    if orphaned and not path.exists():
        _remove_journal(path)


def _remove_journal(path: Path) -> None:
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _publish(draft: Path, path: Path) -> None:
    """A link, unlike a new name, does not replace what another process made meanwhile."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:
        # There are file systems without links; there the last one to come wins.
        draft.replace(path)


def open_file(path: Path, patience_seconds: float) -> sqlite3.Connection:
    """Open it for one thread at a time, or raise what sqlite3 raises."""
    connection = sqlite3.connect(
        path, timeout=patience_seconds, isolation_level=None, check_same_thread=False
    )
    try:
        # A crash of the machine may lose the last vectors of a cache, not break it.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {_JOURNAL_BYTES}")
        _check_version(connection)
        _add_sums(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _check_version(connection: sqlite3.Connection) -> None:
    version = _pragma(connection, "user_version")
    if version > _SCHEMA_VERSION:
        raise sqlite3.NotSupportedError("a newer Asterism wrote it")
    if version < _SCHEMA_VERSION:
        raise _Damaged("it is no cache of Asterism")


def _add_sums(connection: sqlite3.Connection) -> None:
    """Give an older cache a place for checksums; programs of before do not mind it."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(vectors)")}
    if columns and "sum" not in columns:
        try:
            connection.execute("ALTER TABLE vectors ADD COLUMN sum INTEGER")
        except sqlite3.OperationalError as error:
            if "duplicate" not in str(error):
                raise


def sum_of(identity: ModelIdentity, recipe: int, text_hash: bytes, vector: bytes) -> int:
    """The CRC-32 of a row: no disk that fails gives a text another vector."""
    return zlib.crc32(vector, zlib.crc32(text_hash, zlib.crc32(repr((*identity, recipe)).encode())))


def rows_of(
    connection: sqlite3.Connection, model: int, hashes: Sequence[bytes]
) -> Iterator[tuple[int, bytes, int, bytes, int | None]]:
    """Id, hash, day of last use, vector and checksum of each hash that is known."""
    for start in range(0, len(hashes), _LOOKUP):
        some = hashes[start : start + _LOOKUP]
        marks = ",".join("?" * len(some))
        yield from connection.execute(
            "SELECT id, hash, used, vector, sum FROM vectors"
            f" WHERE model = ? AND hash IN ({marks})",
            (model, *some),
        )


def look_deep(path: Path) -> tuple[int, int, str]:
    """How many rows are what was written, how many are not, and why none can be read."""
    try:
        return (*_look_deep(path), "")
    except (sqlite3.Error, OSError) as error:
        return 0, 0, reason(error)


def _look_deep(path: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
        _check_version(connection)
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise _Damaged("it is malformed")
        columns = {row[1] for row in connection.execute("PRAGMA table_info(vectors)")}
        if "sum" not in columns:
            return count(connection)[0], 0
        sound = broken = 0
        rows = connection.execute(
            "SELECT provider, m.model, dimensions, recipe, hash, vector, sum"
            " FROM vectors v JOIN models m ON m.id = v.model"
        )
        for provider, model, dimensions, recipe, text_hash, vector, said in rows:
            identity = ModelIdentity(provider, model, dimensions)
            if said is None or said == sum_of(identity, recipe, text_hash, vector):
                sound += 1
            else:
                broken += 1
        return sound, broken


def count(connection: sqlite3.Connection) -> tuple[int, int]:
    """How many vectors there are, and how many bytes are in use."""
    (vectors,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
    return vectors, _bytes_used(connection)


def empty(connection: sqlite3.Connection) -> None:
    """Drop every vector and give the space back to the disk."""
    connection.execute("DELETE FROM vectors")
    _give_back(connection, _pragma(connection, "freelist_count"))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def evict(connection: sqlite3.Connection, max_bytes: int) -> None:
    """Drop the least recently used rows, a few at a time, and keep the file within its limit."""
    if _bytes_used(connection) > max_bytes:
        goal = int(max_bytes * _EVICT_TO)
        while (excess := _bytes_used(connection) - goal) > 0 and _drop_oldest(connection, excess):
            pass
    _give_back(connection, _pragma(connection, "page_count") - max_bytes // _PAGE_BYTES)


def _give_back(connection: sqlite3.Connection, pages: int) -> None:
    """Cut free pages off the file."""
    if pages > 0:
        # As a script, because sqlite3 takes one step of a statement without columns: one page.
        connection.executescript(f"PRAGMA incremental_vacuum({pages})")


def _drop_oldest(connection: sqlite3.Connection, excess: int) -> bool:
    """Drop rows of about so many bytes, never more than a few; False when no row is left."""
    rows = connection.execute(
        "SELECT id, length(vector) FROM vectors ORDER BY used, id LIMIT ?", (_EVICT_AT_ONCE,)
    )
    chosen: list[tuple[int]] = []
    for row, size in rows:
        chosen.append((row,))
        excess -= size + _ROW_BYTES
        if excess <= 0:
            break
    rows.close()
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("DELETE FROM vectors WHERE id = ?", chosen)
    return bool(chosen)


def _bytes_used(connection: sqlite3.Connection) -> int:
    pages = _pragma(connection, "page_count") - _pragma(connection, "freelist_count")
    return pages * _PAGE_BYTES


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    value: int = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value


def is_damage(error: sqlite3.Error | OSError) -> bool:
    """Tell a file that cannot be read from a system that does not let us."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return (
        isinstance(error, _Damaged)
        or code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        or code == sqlite3.SQLITE_IOERR_SHORT_READ
    )


def move_aside(path: Path, inode: int, second: int) -> Path | None:
    """Keep one damaged file to look at; None if another process has put it away already."""
    if not path.exists() or path.stat().st_ino != inode:
        return None
    for older in path.parent.glob(f"{path.name}.broken-*"):
        older.unlink(missing_ok=True)
    aside = path.with_name(f"{path.name}.broken-{second}")
    path.rename(aside)
    _remove_journal(path)
    return aside


def reason(error: sqlite3.Error | OSError) -> str:
    """Why it failed, in the system's words."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
