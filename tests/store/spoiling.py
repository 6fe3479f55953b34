"""Damage inside a database that its header does not show."""

import sqlite3
from pathlib import Path


def spoil_vectors(path: Path) -> None:
    """Overwrite the page that the vectors begin on; the list of their texts stays readable."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    [(page,)] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'vectors'")
    [(size,)] = connection.execute("PRAGMA page_size")
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def change_catalogue(directory: Path, *statements: str) -> None:
    """Change a catalogue by hand and drop its checksums, as a program of another version would."""
    connection = sqlite3.connect(directory / "catalogue.sqlite", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()
    (directory / "catalogue.sums").unlink(missing_ok=True)


def make_version_2(directory: Path) -> None:
    """Make a catalogue what the schema of version 2 had: no checksums, no times of changes."""
    change_catalogue(
        directory,
        "DROP TABLE table_files",
        "ALTER TABLE files DROP COLUMN ctime_ns",
        "UPDATE facts SET value = 2 WHERE key = 'schema_version'",
        "PRAGMA user_version = 2",
    )
