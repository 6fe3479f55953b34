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
