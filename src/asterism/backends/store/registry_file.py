"""The registry's SQLite file: opened for one operation, its errors in words for the user."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from asterism.domain.errors import (
    IndexBusy,
    IndexCorrupt,
    IndexTooNew,
    StorageFailed,
    StoreError,
)
from asterism.domain.files import display_path

FILE = "registry.sqlite"

_SCHEMA_VERSION = 1
_PATIENCE_SECONDS = 10.0
"""How long to wait for another process; each operation takes a few milliseconds."""

# Paths are bytes: not every path is text. Names differ by more than case, because they become
# names of files, and not every file system tells `Shop` from `shop`.
_SCHEMA = """
CREATE TABLE projects (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE COLLATE NOCASE,
    name TEXT NOT NULL
);
CREATE TABLE repositories (
    number INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES projects (number),
    id TEXT NOT NULL UNIQUE COLLATE NOCASE,
    name TEXT NOT NULL COLLATE NOCASE,
    root BLOB NOT NULL,
    device TEXT NOT NULL,
    inode TEXT NOT NULL,
    stamp TEXT NOT NULL,
    UNIQUE (project, name),
    UNIQUE (project, root)
);
"""


@contextmanager
def reading(directory: Path) -> Iterator[sqlite3.Connection | None]:
    """The registry as it is, or None if there is none yet."""
    path = directory / FILE
    with _errors_in_words(path):
        if not path.exists():
            yield None
            return
        with closing(_connect(path)) as connection:
            yield connection if _version(connection, path) else None


@contextmanager
def writing(directory: Path) -> Iterator[sqlite3.Connection]:
    """The registry for one change, which is made whole or not at all."""
    path = directory / FILE
    with _errors_in_words(path):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(_connect(path)) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            if not _version(connection, path):
                _create(connection)
            yield connection


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_PATIENCE_SECONDS, isolation_level=None)


def _create(connection: sqlite3.Connection) -> None:
    # One by one: `executescript` would end the transaction, and two processes may be here.
    for statement in filter(str.strip, _SCHEMA.split(";")):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """0 for a file that nothing was written to yet."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > _SCHEMA_VERSION:
        raise IndexTooNew(
            f"{display_path(str(path))} was written by a newer Asterism; update this one."
        )
    return version


@contextmanager
def _errors_in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _in_words(error, display_path(str(path))) from error
    except OSError as error:
        raise StorageFailed(
            f"{display_path(str(path))} cannot be written ({error.strerror}); permit it, or set "
            "ASTERISM_DATA_DIR to another directory."
        ) from error


def _in_words(error: sqlite3.Error, place: str) -> StoreError:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return IndexCorrupt(
                f"{place}, the list of repositories, is damaged; remove it and index again."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return IndexBusy(f"{place} is in use by another process for too long; try again.")
        case _:
            return StorageFailed(
                f"{place} cannot be used ({error}); make room or permit it, or set "
                "ASTERISM_DATA_DIR to another directory."
            )
