"""The registry's SQLite file: opened for one operation, its errors in words for the user."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from asterism.store import project_copy
from asterism.store.plain_files import alone, remove
from asterism.telemetry.notices import notify
from asterism.types.errors import IndexBusy, IndexCorrupt, IndexTooNew, StorageFailed, StoreError
from asterism.types.files import display_path
from asterism.types.index_states import is_refusal, refusal

FILE = "registry.sqlite"

_SCHEMA_VERSION = 2
"""2 added the digest of the content; the next write changes a registry of version 1 in place."""
_LOCK = "registry.lock"
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
CREATE TABLE checks (digest BLOB NOT NULL);
"""
_CHECKS = "CREATE TABLE checks (digest BLOB NOT NULL)"


class _Damaged(sqlite3.DatabaseError):
    """SQLite can open the file, but it is not what was written."""


@contextmanager
def reading(directory: Path) -> Iterator[sqlite3.Connection | None]:
    """The registry for reading, None before the first one; a damaged one is restored."""
    path = directory / FILE
    with _errors_in_words(path):
        connection = _sound(path) if path.exists() or path.is_symlink() else None
        if connection is None or not _version(connection, path):
            if connection is not None:
                connection.close()
            if not project_copy.are_there(directory):
                yield None
                return
            # It was lost; the projects' own copies have what was in it.
            with writing(directory):
                pass
            connection = _sound(path)
        with closing(connection):
            yield connection


@contextmanager
def writing(directory: Path) -> Iterator[sqlite3.Connection]:
    """The registry for one change, which is made whole or not at all."""
    path = directory / FILE
    with _errors_in_words(path):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_symlink() and not path.exists():
            _put_aside(path)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(_sound(path)) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            if not _version(connection, path):
                _create(connection)
                _restore(directory, connection)
            elif _version(connection, path) < _SCHEMA_VERSION:
                connection.execute(_CHECKS)
                connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
            before = project_copy.all_of(connection)
            yield connection
            now = project_copy.all_of(connection)
            connection.execute("DELETE FROM checks")
            connection.execute("INSERT INTO checks VALUES (?)", [project_copy.digest_of(now)])
            project_copy.keep(directory, before, now)


def is_whole(directory: Path) -> bool:
    """Whether the file is what was written; nothing is repaired."""
    path = directory / FILE
    if not path.exists():
        return not project_copy.are_there(directory)
    with _errors_in_words(path):
        try:
            _checked(path).close()
        except sqlite3.Error as error:
            if _is_damage(error):
                return False
            raise
    return True


def _sound(path: Path) -> sqlite3.Connection:
    """The file opened, after it was looked through; one that is damaged is put aside first."""
    try:
        return _checked(path)
    except sqlite3.Error as error:
        if not _is_damage(error):
            raise
    with alone(path.with_name(_LOCK)):
        try:
            # Another process may have been quicker.
            return _checked(path)
        except sqlite3.Error as error:
            if not _is_damage(error):
                raise
        aside = _put_aside(path)
        draft = path.with_name(f"{FILE}.new")
        remove(draft)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(_connect(draft)) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            _create(connection)
            _restore(path.parent, connection, aside)
            digest = project_copy.digest_of(project_copy.all_of(connection))
            connection.execute("INSERT INTO checks VALUES (?)", [digest])
        draft.replace(path)
        return _checked(path)


def _restore(directory: Path, connection: sqlite3.Connection, aside: Path | None = None) -> None:
    """Fill an empty registry from the projects' own copies, and say so."""
    count = project_copy.restore(directory, connection)
    if not count and aside is None:
        return
    projects = "1 project" if count == 1 else f"{count:,} projects"
    what = "was missing" if aside is None else f"was damaged (it is kept as {aside.name})"
    notify(
        f"The list of repositories in {display_path(str(directory))} {what}; it was made again "
        f"from the directories of {projects}."
    )


def _put_aside(path: Path) -> Path:
    """Keep what is damaged to look at, and not the journal that belongs to it."""
    aside = path.with_name(f"{FILE}.damaged-{time.time_ns()}")
    path.rename(aside)
    remove(path.with_name(f"{FILE}-journal"))
    return aside


def _checked(path: Path) -> sqlite3.Connection:
    """The file opened, and found to be what was written; 0.2 ms for ten repositories."""
    if not path.is_file():
        raise _Damaged("it is no file")
    connection = _connect(path)
    try:
        if _version(connection, path) == _SCHEMA_VERSION:
            # One transaction: another process may be writing.
            connection.execute("BEGIN")
            found = connection.execute("SELECT digest FROM checks").fetchone()
            digest = project_copy.digest_of(project_copy.all_of(connection))
            whole = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            connection.execute("COMMIT")
            if found != (digest,) or not whole:
                raise _Damaged("its content is not what was written")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_damage(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return (
        isinstance(error, _Damaged)
        or code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        or code == sqlite3.SQLITE_IOERR_SHORT_READ
        or (code & 0xFF == sqlite3.SQLITE_ERROR and "no such" in str(error))
        # Text that is no UTF-8 comes without a code.
        or (code == sqlite3.SQLITE_OK and "UTF-8" in str(error))
    )


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
        raise _in_words(error, path) from error
    except OSError as error:
        said = _refused(path, error.errno) if is_refusal(error) else _unusable(path, error.strerror)
        raise StorageFailed(said) from error


def _refused(path: Path, number: int | None) -> str:
    return (
        f"{display_path(str(path))}, the list of repositories, cannot be used ({refusal(number)} "
        "Or set ASTERISM_DATA_DIR to another directory."
    )


def _unusable(path: Path, why: object) -> str:
    return (
        f"{display_path(str(path))} cannot be used ({why}); free disk space, fix the permissions, "
        "or set ASTERISM_DATA_DIR to another directory."
    )


def _refusal_of(path: Path) -> int | None:
    """The error number if the system refuses to open a file that is there; SQLite has none."""
    try:
        path.open("rb").close()
    except OSError as error:
        return error.errno if is_refusal(error) else None
    return None


def _in_words(error: sqlite3.Error, path: Path) -> StoreError:
    place = display_path(str(path))
    if _is_damage(error):
        return IndexCorrupt(
            f"{place}, the list of repositories, is damaged; remove it and index again."
        )
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return IndexBusy(f"{place} is in use by another process for too long; try again.")
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM if number := _refusal_of(path):
            return StorageFailed(_refused(path, number))
        case _:
            return StorageFailed(_unusable(path, error))
