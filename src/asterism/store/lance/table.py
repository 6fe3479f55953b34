"""The chunk table of a project as a Lance dataset on disk."""

import os
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakSet

from asterism.store.chunk_table import (
    LIMITS,
    Matrix,
    MemoryLimits,
    check_vectors,
    storable,
    with_shown_paths,
)
from asterism.store.lance import upkeep
from asterism.store.lance.process import REBUILD, lance_errors, not_written_whole
from asterism.store.lance.schema import Dataset, dimensions_of, schema, table_of
from asterism.store.lance.snapshot import LanceSnapshot
from asterism.store.plain_files import remove
from asterism.store.resident import DataFile, data_files, index_folders, version_files
from asterism.store.table_files import FIRST_NAME
from asterism.types.errors import IndexCorrupt, IndexMissing, StorageFailed
from asterism.types.index import Entry

FILE_NAME = FIRST_NAME
"""Where LanceDB looks for a table called `chunks`."""
_DELETED_AT_ONCE = 1_000

Mark: TypeAlias = tuple[int, int, int, int]
"""A version, and the file it is written in: its inode, its size and its time."""


def version_mark(directory: Path, version: int, name: str = FILE_NAME) -> Mark | None:
    """What tells a version from one of the same number in a table that was built anew."""
    try:
        facts = upkeep.manifest_path(Path(directory) / name, version).stat()
    except OSError:
        return None
    return version, facts.st_ino, facts.st_size, facts.st_mtime_ns


class LanceTable:
    """Implements `ChunkTable`; only the process that holds the writer's lock may change it."""

    def __init__(
        self,
        dataset: Dataset,
        path: Path,
        keep_seconds: float = upkeep.KEEP_SECONDS,
        limits: MemoryLimits = LIMITS,
    ) -> None:
        """Wrap an open dataset; `create` and `open` are the ways to get one."""
        self._dataset = dataset
        self._path = path
        self._keep_seconds = keep_seconds
        self._limits = limits
        self._latest: LanceSnapshot | None = None
        self._in_use: WeakSet[LanceSnapshot] = WeakSet()

    @classmethod
    def create(
        cls,
        directory: str | Path,
        dimensions: int,
        limits: MemoryLimits = LIMITS,
        name: str = FILE_NAME,
    ) -> "LanceTable":
        """Make an empty table in a project's directory, in place of whatever is there."""
        path = Path(directory) / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            remove(path)
        except OSError as error:
            message = f"The index at {path} cannot be created: {error.strerror}."
            raise StorageFailed(message) from error
        with lance_errors(str(path)):
            made = cls(_empty(str(path), dimensions, "create"), path, limits=limits)
            made._check_written(made._dataset)
        return made

    @classmethod
    def open(
        cls,
        directory: str | Path,
        keep_seconds: float = upkeep.KEEP_SECONDS,
        limits: MemoryLimits = LIMITS,
        name: str = FILE_NAME,
    ) -> "LanceTable":
        """Open a project's table; `keep_seconds` is how long a replaced version stays readable."""
        path = Path(directory) / name
        if not path.exists():
            message = f"There are no chunks at {path}; run `asterism index`."
            raise IndexMissing(message)
        with lance_errors(str(path)):
            dataset = _lance().dataset(str(path))
        if dimensions_of(dataset.schema) is None:
            message = f"The index at {path} is damaged (it has lost its columns); {REBUILD}."
            raise IndexCorrupt(message)
        return cls(dataset, path, keep_seconds, limits)

    @property
    def path(self) -> Path:
        """Where the dataset is."""
        return self._path

    @property
    def place(self) -> Path | None:
        """The directory of its files."""
        return self._path

    def files(self) -> Sequence[str]:
        """Every file that the newest version needs, relative to that directory, with `/`."""
        with lance_errors(str(self._path)):
            return version_files(self._newest(), self._path)

    @property
    def version(self) -> int:
        """The newest version."""
        with lance_errors(str(self._path)):
            return int(self._dataset.latest_version)

    def append(self, entries: Sequence[Entry], vectors: Matrix) -> None:
        """Add rows; they can be found at once."""
        with lance_errors(str(self._path)):
            newest = self._newest()
        check_vectors(len(entries), vectors, dimensions_of(newest.schema) or 0)
        if entries:
            try:
                rows = table_of([with_shown_paths(entry) for entry in entries], vectors)
            except UnicodeEncodeError:
                # Rare, and a fifth of the time of writing to look for in every row.
                rows = table_of([storable(entry) for entry in entries], vectors)
            with lance_errors(str(self._path)):
                before = self._files_of(newest)
                newest.insert(rows)
                self._check_written(newest, before)

    def delete(self, file_versions: Sequence[int]) -> None:
        """Remove every row that comes from these readings."""
        for start in range(0, len(file_versions), _DELETED_AT_ONCE):
            some = ", ".join(map(str, file_versions[start : start + _DELETED_AT_ONCE]))
            with lance_errors(str(self._path)):
                self._newest().delete(f"file_version IN ({some})")

    def restore(self, version: int) -> None:
        """Make the table what it was at that version; nothing happens if that is the newest.

        Later versions, left by a killed writer, are dropped: no reader has seen them.
        """
        newest = self.version
        if version == newest:
            return
        with lance_errors(str(self._path)):
            self._dataset.checkout_version(version).restore()
            uncommitted = {left for left in upkeep.versions(self._path) if version < left <= newest}
            upkeep.remove_versions(self._newest(), uncommitted, at_once=True)

    def reset(self, dimensions: int) -> None:
        """Go on with an empty table for other vectors; older versions stay readable."""
        with lance_errors(str(self._path)):
            self._dataset = _empty(self._newest(), dimensions, "overwrite")
            self._check_written(self._dataset)

    def maintain(self, thorough: bool = False) -> None:
        """Build or extend indexes, merge small pieces, drop old versions; no-op if not needed."""
        with lance_errors(str(self._path)):
            newest = self._newest()
            exact_rows = self._limits.exact_rows(dimensions_of(newest.schema) or 0)
            before = self._files_of(newest)
            upkeep.maintain(newest, exact_rows, thorough)
            self._check_written(newest, before)
            used = {snapshot.version for snapshot in self._in_use}
            old, crowded = upkeep.outdated_versions(newest, self._path, self._keep_seconds)
            upkeep.remove_versions(newest, old - used, thorough or crowded)

    def snapshot(
        self, version: int | None = None, before: LanceSnapshot | None = None
    ) -> LanceSnapshot:
        """The table as it was at a version, or as it is now.

        What `before` holds in memory of rows that both have is not read again.
        """
        wanted = self.version if version is None else version
        latest = self._latest
        if latest is None or latest.version != wanted:
            with lance_errors(str(self._path)):
                then = self._dataset.checkout_version(wanted)
            latest = LanceSnapshot(then, str(self._path), self._limits, before)
            # A server asks many questions of one version; what was read for one serves the next.
            self._latest = latest
            self._in_use.add(latest)
        return latest

    def size(self) -> int:
        """Bytes on disk, old versions included."""
        return sum(
            (Path(folder) / name).stat().st_size
            for folder, _, names in os.walk(self._path)
            for name in names
        )

    def fragments(self) -> int:
        """In how many pieces the newest version is."""
        return len(self._newest().get_fragments())

    def _files_of(self, dataset: Dataset) -> set[DataFile]:
        """The files of rows and the directories of indexes."""
        rows = [file for files in data_files(dataset).values() for file in files]
        return {*index_folders(dataset), *(DataFile(f"data/{name}", size) for name, size in rows)}

    def _check_written(self, newest: Dataset, before: Set[DataFile] = frozenset()) -> None:
        """Refuse a version whose new files are shorter than it says.

        Lance does not notice when only the last piece of a file cannot be written.
        """
        for name, size in self._files_of(newest) - before:
            place = self._path / name
            files = place.iterdir() if place.is_dir() else (place,)
            there = sum(file.stat().st_size for file in files)
            if there < size:
                raise StorageFailed(not_written_whole(self._path, size - there))

    def _newest(self) -> Dataset:
        """The dataset to write to; another process may have written since the last time."""
        newest = int(self._dataset.latest_version)
        if newest != self._dataset.version:
            self._dataset = self._dataset.checkout_version(newest)
        return self._dataset


def _lance() -> Any:
    """The library, which takes a fifth of a second to import."""
    # Its warnings, about empty partitions and the like, go to the terminal past Python's logging,
    # and it decides about them when it is imported.
    os.environ.setdefault("LANCE_LOG", "error")
    import lance

    return lance


def _empty(place: str | Dataset, dimensions: int, mode: str) -> Dataset:
    """A dataset without rows, new or as the next version of one."""
    rows = schema(dimensions).empty_table()
    dataset = _lance().write_dataset(rows, place, mode=mode)
    upkeep.build_word_indexes(dataset)
    return dataset
