"""A connection to SQLite whose errors are mapped to AsterismError.

Durability: in WAL mode with `synchronous=NORMAL` a killed process loses nothing that was committed.
A power failure may lose the newest commits, never the database's consistency. The chunk table's
files are not synced to the disk either, so after a power failure the catalogue may name a version
of the chunk table that the disk never saw; the code that opens both treats that as damage.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from asterism.store.plain_files import remove
from asterism.types import index_states
from asterism.types.deadlines import check_deadline, current_deadline
from asterism.types.errors import AsterismError, IndexBusy, IndexCorrupt, StorageFailed

Stored: TypeAlias = str | bytes

_ID_LENGTH = 32


def stored_path(path: str) -> Stored:
    """The path itself, or its bytes where they are no UTF-8."""
    return path if path.isascii() or _is_encodable(path) else os.fsencode(path)


def loaded_path(value: Stored) -> str:
    """What `stored_path` was given."""
    return value if isinstance(value, str) else os.fsdecode(value)


def stored_id(chunk_id: str) -> Stored:
    """Half the size for the ids that chunks have; any other id as it is."""
    if len(chunk_id) != _ID_LENGTH:
        return chunk_id
    try:
        data = bytes.fromhex(chunk_id)
    except ValueError:
        return chunk_id
    return data if data.hex() == chunk_id else chunk_id


def loaded_id(value: Stored) -> str:
    """What `stored_id` was given."""
    return value if isinstance(value, str) else value.hex()


def clean(text: str) -> str:
    """The text with every half of a surrogate pair replaced by a question mark."""
    if text.isascii() or _is_encodable(text):
        return text
    return text.encode("utf-8", "replace").decode()


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


Row: TypeAlias = tuple[Any, ...]

# A commit of a large batch takes about half a second; ten times that is a process that hangs.
BUSY_SECONDS = 5.0
# In KiB: a batch of 200 files fits, so no page is written twice in a transaction.
_WRITER_CACHE = 32 * 1024
# The log is cut to this size when it has been copied into the database.
_LOG_BYTES = 16 * 1024 * 1024
# How much of a database's header is looked at, and where it keeps its sizes.
_HEADER = 100
_MAGIC = b"SQLite format 3\x00"

# Some 2 ms of SQLite's work.
_STEPS_BETWEEN_LOOKS = 20_000

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_STORAGE = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it may not be written to",
    sqlite3.SQLITE_PERM: "it may not be opened",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_IOERR: "reading or writing failed",
}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class Database:
    """One connection; in use by one thread at a time."""

    def __init__(self, path: Path | None, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._depth = 0

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Everything a query answers."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self.translated(error) from error

    def one(self, sql: str, values: Sequence[object] = ()) -> Row | None:
        """The first row of an answer."""
        try:
            row: Row | None = self._connection.execute(sql, values).fetchone()
        except sqlite3.Error as error:
            raise self.translated(error) from error
        return row

    def run(self, sql: str, values: Sequence[object] = ()) -> int:
        """Carry out one statement; how many rows it changed."""
        try:
            return self._connection.execute(sql, values).rowcount
        except sqlite3.Error as error:
            raise self.translated(error) from error

    def many(self, sql: str, values: Iterable[Sequence[object]]) -> None:
        """Carry out one statement for each row of values."""
        try:
            self._connection.executemany(sql, values)
        except sqlite3.Error as error:
            raise self.translated(error) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside becomes visible at its end, or nothing; readers go on meanwhile."""
        yield from self._bracket("BEGIN IMMEDIATE")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything inside is read from one state."""
        yield from self._bracket("BEGIN")

    def unpacked(self, text: str) -> list[Any]:
        """A list that was stored as JSON."""
        try:
            value: list[Any] = json.loads(text)
        except ValueError as error:
            raise self.damaged("its catalogue holds broken lists") from error
        return value

    def close(self) -> None:
        """Close the connection."""
        try:
            self._connection.close()
        except sqlite3.Error as error:
            raise self.translated(error) from error

    def damaged(self, what: str) -> IndexCorrupt:
        """The error for content that no version of the program writes."""
        return damaged(_place(self.path), what)

    def translated(self, error: sqlite3.Error) -> Exception:
        """Maps an SQLite error to AsterismError; programming errors stay as they are."""
        return _translated(error, self.path)

    def _bracket(self, begin: str) -> Iterator[None]:
        if self._depth:
            # Already inside: the outermost bracket decides.
            yield
            return
        self.run(begin)
        self._depth = 1
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.rollback()
            raise
        finally:
            self._depth = 0


def connect_memory() -> Database:
    """A private database in memory."""
    return Database(None, _connect(":memory:"))


def connect_new(path: Path, page_size: int) -> Database:
    """An empty database for writing."""
    return _prepared(
        _open(path, "rwc"), f"PRAGMA page_size = {page_size}", "PRAGMA journal_mode = WAL"
    )


def connect_writing(path: Path) -> Database:
    """An existing database for writing."""
    _check_header(path)
    return _prepared(_open(path, "rw"))


def connect_reading(path: Path) -> Database:
    """An existing database for reading, also where nothing may be written beside it."""
    _check_header(path)
    database = _open(path, "ro")
    try:
        database.one("PRAGMA schema_version")
    except StorageFailed:
        # The log's index cannot be created here. Without a log no process is writing; a writer
        # with more permissions that begins later is not seen until the next opening.
        database.close()
        return _copied(path) if _size(log_of(path)) else _open(path, "ro&immutable=1")
    except AsterismError:
        database.close()
        raise
    return database


def _copied(path: Path) -> Database:
    """A database whose log cannot be read where it is, as on a full or read-only disk."""
    from tempfile import TemporaryDirectory

    try:
        with TemporaryDirectory(ignore_cleanup_errors=True) as place:
            copy = Path(place) / path.name
            for source, target in ((path, copy), (log_of(path), log_of(copy))):
                # The log last: what a writer adds meanwhile is not part of the copy's state.
                shutil.copyfile(source, target)
            database = Database(path, _connect(f"file:{quote(str(copy))}?mode=rw"))
            database.run("PRAGMA query_only = ON")
            database.rows("SELECT name FROM sqlite_schema")
            return database
    except (OSError, sqlite3.Error) as error:
        raise StorageFailed(
            f"The catalogue in {path.parent} has a log that cannot be read there, nor copied to "
            f"another place ({error}); free some disk space, or permit writing."
        ) from error


def remove_database(path: Path) -> None:
    """Delete a database with its log, if it exists."""
    try:
        for name in (path, log_of(path), path.with_name(f"{path.name}-shm")):
            remove(name)
    except OSError as error:
        raise StorageFailed(f"{path} cannot be removed: {error.strerror}.") from error


def damaged(directory: object, what: str, force: bool = False) -> IndexCorrupt:
    """The error for an index that has to be built again."""
    return IndexCorrupt(index_states.damaged(directory, what, force))


def _open(path: Path, mode: str) -> Database:
    try:
        return Database(path, _connect(f"file:{quote(str(path))}?mode={mode}"))
    except sqlite3.Error as error:
        raise _translated(error, path) from error


def _connect(name: str) -> sqlite3.Connection:
    # Threads take turns, which the caller sees to; SQLite itself would allow more.
    connection = sqlite3.connect(
        name, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.set_progress_handler(_has_to_end, _STEPS_BETWEEN_LOOKS)
    return connection


def _has_to_end() -> bool:
    """Whether a statement is interrupted, because the query that it belongs to has to end."""
    deadline = current_deadline()
    return deadline is not None and deadline.is_over()


def _prepared(database: Database, *first: str) -> Database:
    """The database with what a writer sets."""
    settings = (
        *first,
        "PRAGMA synchronous = NORMAL",
        f"PRAGMA cache_size = -{_WRITER_CACHE}",
        f"PRAGMA journal_size_limit = {_LOG_BYTES}",
    )
    try:
        for statement in settings:
            database.run(statement)
    except BaseException:
        database.close()
        raise
    return database


def _check_header(path: Path) -> None:
    """Find what SQLite would only notice when it reads the missing pages, for 20 microseconds."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
        size = _size(path)
    except OSError as error:
        raise StorageFailed(index_states.unreadable(path.parent, error.errno, path.name)) from error
    if not header.startswith(_MAGIC) or len(header) < _HEADER:
        raise damaged(path.parent, "its catalogue is no database")
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    # While a log exists the file may rightly be shorter than it says.
    if size < pages * (65536 if page == 1 else page) and not _size(log_of(path)):
        raise damaged(path.parent, "its catalogue was cut off")


def log_of(path: Path) -> Path:
    """The write-ahead log of a database."""
    return path.with_name(f"{path.name}-wal")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _place(path: Path | None) -> object:
    return path.parent if path else "memory"


def _translated(error: sqlite3.Error, path: Path | None) -> Exception:
    place = _place(path)
    # Text that is no UTF-8 comes without a code.
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        if isinstance(error, sqlite3.OperationalError):
            return damaged(place, "its catalogue holds broken text")
        return error
    kind = code & 0xFF
    if kind == sqlite3.SQLITE_INTERRUPT:
        return _interrupted(error)
    if kind in _BUSY:
        return IndexBusy(
            f"Another process is writing to the index in {place} and did not finish within "
            f"{BUSY_SECONDS:.0f} seconds; try again, or see `asterism status`."
        )
    if kind in _CORRUPT or code == sqlite3.SQLITE_IOERR_SHORT_READ:
        # Opening reads every page whose file has changed, so a change shows only in these pages.
        return damaged(place, "its catalogue is malformed", force=True)
    if kind == sqlite3.SQLITE_ERROR and "no such" in str(error):
        return damaged(place, f"its catalogue is incomplete: {error}")
    if kind in _STORAGE:
        return StorageFailed(
            f"The catalogue in {place} failed: {_STORAGE[kind]} ({error}); "
            "check the free space and the permissions there."
        )
    return error


def _interrupted(error: sqlite3.Error) -> Exception:
    """Why a query had to end."""
    try:
        check_deadline()
    except AsterismError as why:
        return why
    return error
