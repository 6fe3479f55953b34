"""The tables of a catalogue by version, and the checks when it is created or opened."""

from pathlib import Path
from typing import Any, TypeAlias

from asterism.store.catalogue import sums
from asterism.store.database import Database, connect_new, damaged, remove_database
from asterism.store.plain_files import is_plain
from asterism.types.errors import IndexOutdated, IndexTooNew, StorageFailed, StoreError
from asterism.types.index import Manifest, ModelIdentity
from asterism.types.index_states import unreadable

SCHEMA_VERSION = 3

LEDGER: dict[int, str] = {
    1: "The first one: files, chunk keys, symbols, links, skipped paths, jobs. Nothing is older.",
    2: "Links have no keys, and an unfinished sync is remembered. An older index can be read.",
    3: "Files have the time of their last change; the chunk table's files have checksums, and its "
    "directory a name. An index of version 2 is read as it is and changed in place.",
}
"""What each version brought, and what an index of the version before can still do."""

# Marks the file as ours, so that a stranger's database is told apart.
APPLICATION_ID = 0x41535452

# With 8 KiB pages a first build costs a tenth less than with 4 KiB; 16 KiB gains nothing more.
PAGE_SIZE = 8192

TABLES = """
CREATE TABLE facts (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE repositories (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    name TEXT NOT NULL UNIQUE,
    root NOT NULL,
    options_hash TEXT NOT NULL,
    scanned_ns INTEGER NOT NULL DEFAULT 0,
    skipped_digest BLOB
);

-- A path is TEXT, or a BLOB where its bytes are no UTF-8.
CREATE TABLE files (
    number INTEGER PRIMARY KEY,
    repo INTEGER NOT NULL,
    path NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    version INTEGER NOT NULL,
    scanned_ns INTEGER NOT NULL,
    language TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    problems INTEGER NOT NULL,
    definitions INTEGER NOT NULL,
    exports INTEGER NOT NULL,
    imports INTEGER NOT NULL,
    usages INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL DEFAULT 0,
    UNIQUE (repo, path)
);

-- An id is a BLOB where it is 32 hexadecimal digits, else TEXT.
CREATE TABLE chunks (
    file INTEGER, n INTEGER, id NOT NULL, text_hash BLOB NOT NULL,
    PRIMARY KEY (file, n)
) WITHOUT ROWID;

-- Definitions, exports and imports; `chunk` is the number of the chunk in its file, and
-- `qualified_name` is NULL where it is the name. Roles: 0 definition, 1 export, 2 import, 3 usage.
CREATE TABLE declarations (
    file INTEGER, n INTEGER,
    role INTEGER NOT NULL, name TEXT NOT NULL, qualified_name TEXT, kind TEXT NOT NULL,
    line INTEGER NOT NULL, is_exported INTEGER NOT NULL, chunk INTEGER, ordinal INTEGER NOT NULL,
    signature TEXT, module TEXT,
    PRIMARY KEY (file, n)
) WITHOUT ROWID;

-- Words of usages, each once; words without usages may be left over.
CREATE TABLE words (number INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);

-- Most symbols are usages, so those of one name in one file share a row (with a row for each, a
-- first build stores symbols in 0.46 CPU-s instead of 0.25): `places` is JSON, a list of
-- [line, chunk, number of the receiver's word, ordinal], and `count` is its length.
CREATE TABLE usages (
    file INTEGER, name INTEGER, count INTEGER NOT NULL, places TEXT NOT NULL,
    PRIMARY KEY (file, name)
) WITHOUT ROWID;

CREATE TABLE links (
    file INTEGER, n INTEGER,
    module TEXT NOT NULL, target, names TEXT NOT NULL, reexports INTEGER NOT NULL,
    PRIMARY KEY (file, n)
) WITHOUT ROWID;
CREATE INDEX links_by_target ON links (target) WHERE target IS NOT NULL;

CREATE TABLE skipped (
    repo INTEGER, n INTEGER, path NOT NULL, reason TEXT NOT NULL, detail TEXT,
    PRIMARY KEY (repo, n)
) WITHOUT ROWID;

-- What an unfinished sync is writing: its rows may speak of each other and be there in part.
CREATE TABLE pending (
    repo INTEGER, path NOT NULL, content_hash BLOB NOT NULL, version INTEGER NOT NULL,
    PRIMARY KEY (repo, path)
) WITHOUT ROWID;

-- The files of the committed version of the chunk table. A stamp says whether a file was written to
-- since; `sums` has the CRC-32 of each MiB.
CREATE TABLE table_files (
    name TEXT PRIMARY KEY,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL, sums BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE jobs (
    repo TEXT PRIMARY KEY,
    kind TEXT NOT NULL, state TEXT NOT NULL, pid INTEGER NOT NULL,
    started REAL NOT NULL, updated REAL NOT NULL,
    files_done INTEGER NOT NULL, files_total INTEGER NOT NULL, chunks_done INTEGER NOT NULL,
    sentence TEXT NOT NULL, cancel INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- For people who open the file; the program reads the tables.
CREATE VIEW symbols AS
SELECT f.path || '#' || r.role || '#' || coalesce(d.qualified_name, d.name) || '#'
        || iif(d.module IS NULL, '', d.module || '#') || d.ordinal AS id,
    d.name AS name, coalesce(d.qualified_name, d.name) AS qualified_name, d.kind AS kind,
    r.role AS role, f.path AS filepath, d.line AS line, d.is_exported AS is_exported,
    iif(typeof(c.id) = 'blob', lower(hex(c.id)), c.id) AS chunk_id,
    (SELECT name FROM repositories WHERE number = f.repo) AS repo
FROM declarations d
JOIN files f ON f.number = d.file
JOIN (SELECT 0 AS number, 'definition' AS role UNION ALL SELECT 1, 'export'
    UNION ALL SELECT 2, 'import' UNION ALL SELECT 3, 'usage') r ON r.number = d.role
LEFT JOIN chunks c ON c.file = d.file AND c.n = d.chunk
UNION ALL
SELECT f.path || '#usage#' || iif(v.word IS NULL, '', v.word || '.') || w.word || '#' || u.ordinal,
    w.word, iif(v.word IS NULL, '', v.word || '.') || w.word, 'usage',
    'usage', f.path, u.line, 0,
    iif(typeof(c.id) = 'blob', lower(hex(c.id)), c.id),
    (SELECT name FROM repositories WHERE number = f.repo)
FROM (SELECT file, name, json_extract(p.value, '$[0]') AS line,
    json_extract(p.value, '$[1]') AS chunk, json_extract(p.value, '$[2]') AS receiver,
    json_extract(p.value, '$[3]') AS ordinal FROM usages, json_each(places) p) u
JOIN files f ON f.number = u.file
JOIN words w ON w.number = u.name
LEFT JOIN words v ON v.number = u.receiver
LEFT JOIN chunks c ON c.file = u.file AND c.n = u.chunk;
"""

# Built after the rows of a first build: 0.02 CPU-s for 110,000 rows instead of 0.06.
SYMBOL_INDEXES = {
    "declarations_by_name": "CREATE INDEX IF NOT EXISTS declarations_by_name"
    " ON declarations (name, role)",
    # With the count, so that places are read only for the page that is shown.
    "usages_by_name": "CREATE INDEX IF NOT EXISTS usages_by_name ON usages (name, count)",
}
"""How to make each index that may be missing while a first build runs."""

# Every table that holds rows of a file, by the file's number.
FILE_TABLES = ("chunks", "declarations", "usages", "links")
EXPECTED_TABLES = frozenset(
    {
        *FILE_TABLES,
        *("facts", "repositories", "files", "words", "skipped", "pending", "jobs", "table_files"),
    }
)

# Statements that bring a catalogue of the version before to this one, in one transaction.
MIGRATIONS: dict[int, tuple[str, ...]] = {
    3: (
        "ALTER TABLE files ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE table_files (name TEXT PRIMARY KEY, size INTEGER NOT NULL,"
        " mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,"
        " sums BLOB NOT NULL) WITHOUT ROWID",
        "UPDATE facts SET value = 3 WHERE key = 'schema_version'",
        "PRAGMA user_version = 3",
    )
}
"""By the version that they lead to; an index from before them is built again."""


def changes_in_place(version: int) -> bool:
    """Whether a catalogue of that version is this one's, or is made so by the next writer."""
    return all(step in MIGRATIONS for step in range(version + 1, SCHEMA_VERSION + 1))


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
    # A reader may make an empty log, which means nothing.
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
    """Refuse directories, pipes and links, and a catalogue that another program has changed."""
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
