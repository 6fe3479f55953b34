"""What the catalogue says of the chunk table: its directory and the files of its version."""

from collections.abc import Iterable, Sequence

from asterism.store.database import Database
from asterism.types.catalogue import Stamp, TableFile

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
