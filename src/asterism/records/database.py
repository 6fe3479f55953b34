"""The one database of conversations and sessions: opened, migrated, read and written."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from asterism.records.failures import failure
from asterism.records.options import RecordsOptions
from asterism.telemetry.notices import notify
from asterism.types.errors import (
    RecordsCorrupt,
    RecordsTooNew,
    RecordsUnreachable,
    SettingError,
    StorageFailed,
)
from asterism.types.files import display_path

REVISIONS = ("0001",)
"""Every schema there was, oldest first: 0001 conversations, turns, events and sessions."""

_LEDGER = "alembic_version"
# Any number will do, as long as no other program uses it for the same database.
_LOCK = 4_732_011_590


def upgrade(
    reading: Callable[[], AbstractContextManager[Connection]],
    writing: Callable[[], AbstractContextManager[Connection]],
    place: str,
) -> None:
    """Make or change the tables if they are not those of this version.

    All steps are one transaction, and only one process takes it at a time: a kill in the middle
    leaves the database as it was.
    """
    with reading() as connection:
        if is_current(connection, place):
            return
    with writing() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        if not is_current(connection, place):
            _run(connection)


def is_current(connection: Connection, place: str) -> bool:
    """Whether the tables are those of this version; those of a newer one are refused."""
    if not inspect(connection).has_table(_LEDGER):
        return False
    revision = connection.execute(text(f"SELECT version_num FROM {_LEDGER}")).scalar()
    if revision is not None and revision not in REVISIONS:
        raise RecordsTooNew(
            f"The conversations in {place} were written by a newer Asterism (schema {revision}; "
            f"this one knows {REVISIONS[-1]}); update Asterism, or name another database with "
            "records.url."
        )
    return bool(revision == REVISIONS[-1])


def _run(connection: Connection) -> None:
    # Alembic takes a fifth of a second to load, and is needed once for each schema.
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "asterism.records:migrations")
    config.set_main_option("path_separator", "os")
    command.upgrade(config, "head")


_KNOWN = ".known"
"""Ends the name of an empty file that says that there were conversations."""


def damaged(place: str, why: str) -> RecordsCorrupt:
    """The error for a file that is not what was written."""
    return RecordsCorrupt(
        f"The conversations in {place} are damaged ({why}); restore the file from a backup, or "
        "move it away to begin anew."
    )


def put_aside(path: Path, inode: int) -> None:
    """Give a damaged file another name, its journal too, and say which.

    It is known by its inode: another process may have begun a new one meanwhile.
    """
    if path.stat().st_ino != inode:
        return
    aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
    path.rename(aside)
    for ending in ("-wal", "-shm"):
        with suppress(OSError):
            shutil.move(f"{path}{ending}", f"{aside}{ending}")
    note_lost(path)
    notify(
        f"The conversations in {display_path(str(path))} were damaged. They are kept as "
        f"{display_path(aside.name)}, and a new file was begun; to get them back, restore a "
        f"backup, or try `sqlite3 {display_path(aside.name)} .recover`."
    )


def tell_loss(path: Path) -> None:
    """Say that a file is gone or empty that had conversations; an empty one is well-formed."""
    with suppress(OSError):
        known = _known(path).exists()
        if known and not (path.exists() and path.stat().st_size):
            note_lost(path)
            notify(
                f"The conversations that were in {display_path(str(path))} are gone: the file was "
                "removed or emptied by something else. A new one was begun; restore a backup to "
                "get them back."
            )


def is_known(path: Path) -> bool:
    """Whether the file once held Asterism's conversations."""
    return _known(path).exists()


def note_known(path: Path) -> None:
    """Remember that there are conversations."""
    with suppress(OSError):
        _known(path).touch(mode=0o600)


def note_lost(path: Path) -> None:
    """Forget it: it was told."""
    with suppress(OSError):
        _known(path).unlink(missing_ok=True)


def _known(path: Path) -> Path:
    return path.with_name(f"{path.name}{_KNOWN}")


_PATIENCE_SECONDS = 20.0
"""How long a process waits for another that is writing; a write takes milliseconds."""

_LOOKED_THROUGH_BYTES = 64_000_000
"""Larger files are looked through by `asterism doctor --deep` alone."""
_POSTGRES = ("postgres", "postgresql")
_WRITING = {"asterism_writing": True}


class RecordsDatabase:
    """A connection pool, shared by threads; `reading` and `writing` open connections."""

    def __init__(self, engine: Engine, place: str) -> None:
        """Others call `open_database`."""
        self._engine = engine
        self.place = place
        """What messages call it; never with a password."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the database."""
        with self._mapped(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction: committed at the end, and as if it had not been after an error.

        In SQLite there is one at a time. Elsewhere rows that decide something are read for update.
        """
        with self._mapped(), self._engine.connect() as connection:
            writer = connection.execution_options(**_WRITING)
            with writer.begin():
                yield writer

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def look_through(self) -> None:
        """Refuse an SQLite file whose pages are malformed: 0.6 ms for each MB."""
        self._look("quick_check")

    def look_deep(self) -> None:
        """The same with every index compared with its rows."""
        self._look("integrity_check")

    def _look(self, pragma: str) -> None:
        if self._engine.dialect.name != "sqlite":
            return
        with self.reading() as connection:
            verdict = connection.exec_driver_sql(f"PRAGMA {pragma}(1)").scalar()
        if verdict != "ok":
            raise damaged(self.place, str(verdict))

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, PoolTimeout) as error:
            raise failure(error, self.place) from error


def open_database(options: RecordsOptions) -> RecordsDatabase:
    """The user's records, created if missing and migrated to this version."""
    url = _url(options)
    if url.get_backend_name() != "sqlite":
        return _opened(url)
    path = _own_path(url)
    _make_file(path)
    inode = path.stat().st_ino
    try:
        database = _opened(url)
    except RecordsCorrupt:
        if not is_known(path):
            # It was never ours as far as can be told, so it is not ours to put away.
            raise
        put_aside(path, inode)
        _make_file(path)
        database = _opened(url)
    note_known(path)
    return database


def _opened(url: URL) -> RecordsDatabase:
    database = _connected(url)
    try:
        if url.get_backend_name() == "sqlite" and _size(url) < _LOOKED_THROUGH_BYTES:
            database.look_through()
        upgrade(database.reading, database.writing, database.place)
    except BaseException:
        database.close()
        raise
    return database


class RecordsLook(NamedTuple):
    """A database that was opened for a look; nothing was made or changed."""

    database: RecordsDatabase
    is_current: bool
    """Whether its tables are those of this version; else it is not to be used."""


def look_into(options: RecordsOptions) -> RecordsLook | None:
    """The user's records as they are; None if they do not exist."""
    url = _url(options)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        return None
    database = _connected(url)
    try:
        with database.reading() as connection:
            return RecordsLook(database, is_current(connection, database.place))
    except BaseException:
        database.close()
        raise


def _connected(url: URL) -> RecordsDatabase:
    try:
        engine = create_engine(url, **_engine_options(url))
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise RecordsUnreachable(_missing_library(url)) from error
    if engine.dialect.name == "sqlite":
        _listen(engine)
    return RecordsDatabase(engine, _shown(url))


def _url(options: RecordsOptions) -> URL:
    if not options.url:
        return URL.create("sqlite", database=os.fspath(options.file))
    try:
        url = make_url(options.url)
    except ArgumentError as error:
        raise SettingError(
            "records.url is no address of a database; write it like "
            "postgresql://user@host/name or sqlite:////absolute/path, without the password."
        ) from error
    if url.drivername in _POSTGRES:
        url = url.set(drivername="postgresql+psycopg")
    return url.set(password=options.password) if options.password else url


def _engine_options(url: URL) -> dict[str, Any]:
    if url.get_backend_name() == "sqlite":
        return {"connect_args": {"timeout": _PATIENCE_SECONDS}}
    # A server may have been restarted since the last question.
    return {"pool_pre_ping": True}


def _own_path(url: URL) -> Path:
    path = Path(url.database or "")
    if not path.is_absolute():
        raise SettingError(
            "records.url names no absolute path; write sqlite:////absolute/path, or leave it out."
        )
    return path


def _size(url: URL) -> int:
    try:
        return Path(url.database or "").stat().st_size
    except OSError:
        return 0


def _make_file(path: Path) -> None:
    """The file is the user's own before anything is in it; its journal takes the same mode."""
    tell_loss(path)
    if path.is_fifo():
        raise StorageFailed(f"{display_path(str(path))} is a pipe, not a file; remove it.")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        shown = display_path(str(path))
        raise StorageFailed(
            f"The conversations cannot be kept in {shown} ({error.strerror}); free disk space or "
            "fix the permissions, or name another database with records.url."
        ) from error


def _listen(engine: Engine) -> None:
    """SQLite's driver would begin transactions when it thinks fit; we say when."""

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        for pragma in (
            # Readers and the writer do not wait for each other.
            "journal_mode = WAL",
            # A kill of the process loses nothing; of the machine, at most what was said last.
            "synchronous = NORMAL",
            "foreign_keys = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        writing = connection.get_execution_options().get("asterism_writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _shown(url: URL) -> str:
    if url.get_backend_name() == "sqlite":
        return display_path(url.database or "")
    return url.set(password=None, query={}).render_as_string()


def _missing_library(url: URL) -> str:
    if url.get_backend_name() == "postgresql":
        return (
            "Conversations in PostgreSQL need a library that is not installed: install "
            "asterism[postgres]."
        )
    return (
        f"records.url names {url.drivername}, for which no library is installed; install one that "
        "SQLAlchemy knows, or leave records.url out."
    )
