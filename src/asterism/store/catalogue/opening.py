"""Making a catalogue, and deciding at opening whether it can be used."""

from pathlib import Path
from typing import Any, TypeAlias

from asterism.store.catalogue import sums
from asterism.store.catalogue.schema import (
    APPLICATION_ID,
    EXPECTED_TABLES,
    LEDGER,
    MIGRATIONS,
    PAGE_SIZE,
    SCHEMA_VERSION,
    SYMBOL_INDEXES,
    TABLES,
)
from asterism.store.database import Database, connect_new, damaged, remove_database
from asterism.store.plain_files import is_plain
from asterism.types.errors import IndexOutdated, IndexTooNew, StorageFailed, StoreError
from asterism.types.index import Manifest, ModelIdentity
from asterism.types.index_states import unreadable

CATALOGUE = "catalogue.sqlite"
_LOG = "catalogue.sqlite-wal"
_LOG_INDEX = "catalogue.sqlite-shm"

Mark: TypeAlias = tuple[tuple[int, int, int] | None, ...]
"""Which files a catalogue is in, how large they are and when they were written."""


def mark_of(directory: Path) -> Mark:
    """What tells a catalogue from itself after any change, by a look that opens nothing."""
    return tuple(_file_mark(directory / name) for name in (CATALOGUE, _LOG))


def _file_mark(path: Path) -> tuple[int, int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    # Whoever reads may make an empty log, which says nothing.
    return (facts.st_ino, facts.st_size, facts.st_mtime_ns) if facts.st_size else None


def create_database(directory: Path, manifest: Manifest) -> None:
    """Write an empty catalogue into the directory; a crash leaves a whole one or none."""
    path = directory / CATALOGUE
    if path.exists():
        raise StoreError(
            f"There is an index in {directory} already; "
            "build it again with `asterism index --force`."
        )
    draft = path.with_name(f"{CATALOGUE}.new")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageFailed(f"{directory} cannot be made: {error.strerror}.") from error
    # A log without its database would be taken for the new one's.
    remove_database(path)
    remove_database(draft)
    database = connect_new(draft, PAGE_SIZE)
    try:
        fill(database, manifest)
        # Closing copies the log too, but says nothing where the disk is too full for it.
        database.one("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        database.close()
    try:
        # Sums of a catalogue that is gone would speak of the new one.
        sums.forget(directory)
        draft.replace(path)
    except OSError as error:
        raise StorageFailed(f"{path} cannot be written: {error.strerror}.") from error


def fill(database: Database, manifest: Manifest) -> None:
    """Make the tables of an empty catalogue."""
    with database.transaction():
        database.run(f"PRAGMA application_id = {APPLICATION_ID}")
        for statement in TABLES.split(";\n"):
            database.run(statement)
        for statement in SYMBOL_INDEXES.values():
            database.run(statement)
        database.many(
            "INSERT INTO facts VALUES (?, ?)", [("chunks_version", 0), ("next_file_version", 1)]
        )
        save_manifest(database, manifest)


def save_manifest(database: Database, manifest: Manifest) -> None:
    """Write the manifest; its schema version also marks the file."""
    values = manifest._asdict()
    del values["model"]
    values |= {f"model_{name}": value for name, value in manifest.model._asdict().items()}
    database.many("INSERT OR REPLACE INTO facts VALUES (?, ?)", list(values.items()))
    database.run(f"PRAGMA user_version = {manifest.schema_version:d}")


def load_manifest(database: Database) -> Manifest:
    """The manifest as it was saved."""
    facts: dict[str, Any] = dict(database.rows("SELECT key, value FROM facts"))
    try:
        model = ModelIdentity(*(facts[f"model_{name}"] for name in ModelIdentity._fields))
        return Manifest(
            facts["schema_version"], model, facts["recipe"], facts["program"], facts["created"]
        )
    except KeyError as error:
        raise database.damaged(f"its catalogue has no {error.args[0]}") from error


def check_files(path: Path) -> None:
    """Refuse files that are none, and a catalogue that something else has changed."""
    for name in (CATALOGUE, _LOG, _LOG_INDEX):
        if not is_plain(path.with_name(name)):
            raise damaged(path.parent, f"{name} is no file")
    try:
        sums.check(path)
    except OSError as error:
        raise StorageFailed(unreadable(path.parent, error.errno, path.name)) from error


def log_bytes(database: Database) -> int:
    """How long the log is that waits to be copied."""
    try:
        return 0 if database.path is None else database.path.with_name(_LOG).stat().st_size
    except OSError:
        return 0


def check_readable(database: Database, directory: Path) -> None:
    """Refuse what a newer program wrote, and what is no catalogue."""
    version = _version(database)
    mark = database.one("PRAGMA application_id")
    if mark != (APPLICATION_ID,):
        raise damaged(directory, "its catalogue is another program's database")
    if version > SCHEMA_VERSION:
        raise IndexTooNew(
            f"The index in {directory} has schema {version} and this Asterism knows schema "
            f"{SCHEMA_VERSION}; upgrade Asterism, or build the index again with "
            "`asterism index --force`."
        )
    present = {name for (name,) in database.rows("SELECT name FROM sqlite_master")}
    missing = EXPECTED_TABLES - present if version == SCHEMA_VERSION else {"facts"} - present
    if missing:
        raise damaged(directory, f"its catalogue has no {', '.join(sorted(missing))}")


def check_writable(database: Database, directory: Path) -> None:
    """Refuse an older schema, and make the indexes that a killed first build left out."""
    version = _version(database)
    if version < SCHEMA_VERSION:
        version = _migrated(database, version)
    if version < SCHEMA_VERSION:
        raise IndexOutdated(
            f"The index in {directory} has schema {version}, which can be read but not changed "
            f"(now {SCHEMA_VERSION}: {LEDGER[SCHEMA_VERSION]}); `asterism index` builds it again."
        )
    present = {name for (name,) in database.rows("SELECT name FROM sqlite_master")}
    for name, statement in SYMBOL_INDEXES.items():
        if name not in present:
            database.run(statement)


def _migrated(database: Database, version: int) -> int:
    """Change an older catalogue in place as far as that is possible; the version it has then."""
    while version + 1 in MIGRATIONS:
        version += 1
        with database.transaction():
            for statement in MIGRATIONS[version]:
                database.run(statement)
    return version


def _version(database: Database) -> int:
    row = database.one("PRAGMA user_version")
    return row[0] if row else 0
