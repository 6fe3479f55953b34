"""The catalogue of an index: what is known of its files, and what is committed.

A batch is committed by one SQLite transaction, which also records the version of the chunk table
that belongs to it. Whatever the chunk table holds beyond that version was never committed.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from asterism.store.catalogue import files as catalogue_files
from asterism.store.catalogue import sums
from asterism.store.catalogue.batches import Words, remove_files, write_batch
from asterism.store.catalogue.schema import (
    CATALOGUE,
    SYMBOL_INDEXES,
    check_files,
    check_readable,
    check_writable,
    create_database,
    fill,
    load_manifest,
    log_bytes,
    save_manifest,
)
from asterism.store.database import (
    Database,
    clean,
    connect_memory,
    connect_reading,
    connect_writing,
    loaded_path,
    remove_database,
    stored_path,
)
from asterism.store.table_files import TableRecord
from asterism.types.errors import IndexMissing, StorageFailed, UsageError
from asterism.types.index import (
    Batch,
    FileState,
    Job,
    Link,
    Manifest,
    Pending,
    Repository,
    Resolution,
    Role,
    Signatures,
    Skipped,
    Statistics,
    SymbolPage,
    SymbolQuery,
    TableFile,
)
from asterism.types.index_states import unreadable
from asterism.types.processes import Closable


class Catalogue(Closable):
    """One project's catalogue; one process writes, any number read and never wait.

    Each method reads one state; `snapshot` makes several calls read the same. One thread at a time.
    """

    def __init__(self, database: Database, writable: bool) -> None:
        self._database, self._writable = database, writable
        self._words = Words(database)
        self.table = TableRecord(database)

    @classmethod
    def create(cls, directory: Path, manifest: Manifest) -> Self:
        """A new catalogue for writing; it is an error if there is one already."""
        create_database(directory, manifest)
        return cls.open(directory, writable=True)

    @classmethod
    def open(cls, directory: Path, writable: bool = False) -> Self:
        """The catalogue of a project; one that an older program wrote opens for reading only."""
        path = directory / CATALOGUE
        try:
            there = path.exists() or path.is_symlink()
        except OSError as error:
            raise StorageFailed(unreadable(directory, error.errno)) from error
        if not there:
            raise IndexMissing(f"There is no index in {directory}; make one with `asterism index`.")
        check_files(path)
        database = connect_writing(path) if writable else connect_reading(path)
        try:
            if writable:
                # The log is copied by `settle`, which writes down what that changed.
                database.run("PRAGMA wal_autocheckpoint = 0")
            check_readable(database, directory)
            if writable:
                check_writable(database, directory)
        except BaseException:
            database.close()
            raise
        return cls(database, writable)

    @classmethod
    def in_memory(cls, manifest: Manifest) -> Self:
        """A catalogue that ends with its process."""
        database = connect_memory()
        fill(database, manifest)
        return cls(database, writable=True)

    @staticmethod
    def discard(directory: Path) -> None:
        """Delete a project's catalogue, damaged or not."""
        remove_database(directory / CATALOGUE)
        sums.forget(directory)
        (directory / sums.LOCK).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        if self._writable:
            sums.settle(self._database)
        else:
            self._database.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside is of one state, whatever is committed meanwhile."""
        with self._database.snapshot():
            yield

    def manifest(self) -> Manifest:
        """What was true when the index was made."""
        return load_manifest(self._database)

    def set_manifest(
        self,
        manifest: Manifest,
        chunks_version: int | None = None,
        table_files: Sequence[TableFile] | None = None,
    ) -> None:
        """Replace the manifest, and with it the version of the chunk table that it speaks of."""
        with self._database.transaction():
            save_manifest(self._database, manifest)
            if chunks_version is not None:
                self.set_chunks_version(chunks_version, table_files)

    def chunks_version(self) -> int:
        """The committed version of the chunk table."""
        return self._fact("chunks_version")

    def set_chunks_version(
        self, version: int, table_files: Sequence[TableFile] | None = None
    ) -> None:
        """Record another version of the same rows, as after maintenance."""
        self.table.name_version(version, table_files)

    def next_file_version(self, count: int) -> int:
        """Reserve `count` numbers and return the first; none is used twice, even after a crash."""
        with self._database.transaction():
            first = self._fact("next_file_version")
            self._database.run(
                "UPDATE facts SET value = ? WHERE key = 'next_file_version'", (first + count,)
            )
        return first

    def repositories(self) -> list[Repository]:
        """The repositories of the project, by name."""
        rows = self._database.rows("SELECT id, name, root FROM repositories ORDER BY name")
        return [Repository(id_, name, loaded_path(root)) for id_, name, root in rows]

    def add_repository(self, repository: Repository, options_hash: str) -> None:
        """Register a repository; its name must be new."""
        if self._number(repository.name) is not None:
            raise UsageError(
                f"The project has a repository named {repository.name} already; "
                "choose another name with `--name`."
            )
        self._database.run(
            "INSERT INTO repositories (id, name, root, options_hash) VALUES (?, ?, ?, ?)",
            (repository.id, repository.name, stored_path(repository.root), options_hash),
        )

    def remove_repository(
        self,
        name: str,
        chunks_version: int | None = None,
        table_files: Sequence[TableFile] | None = None,
    ) -> list[int]:
        """Forget a repository; the file versions whose chunks are to go from the chunk table.

        Where they are gone already, that version of the chunk table is committed with it.
        """
        with self._database.transaction():
            repo = self._repo(name)
            files = self._database.rows("SELECT number, version FROM files WHERE repo = ?", (repo,))
            remove_files(self._database, (number for number, _ in files))
            self._database.run("DELETE FROM skipped WHERE repo = ?", (repo,))
            self._database.run("DELETE FROM pending WHERE repo = ?", (repo,))
            self._database.run("DELETE FROM jobs WHERE repo = ?", (name,))
            self._database.run("DELETE FROM repositories WHERE number = ?", (repo,))
            if chunks_version is not None:
                self.set_chunks_version(chunks_version, table_files)
        return [version for _, version in files]

    def set_root(self, repo: str, root: str) -> None:
        """Note that a repository is at another place."""
        self._database.run(
            "UPDATE repositories SET root = ? WHERE number = ?",
            (stored_path(root), self._repo(repo)),
        )

    def options_hash(self, repo: str) -> str:
        """Of the options that shaped the repository's rows."""
        number = self._repo(repo)
        sql = "SELECT options_hash FROM repositories WHERE number = ?"
        value: str = self._database.rows(sql, (number,))[0][0]
        return value

    def set_options_hash(self, repo: str, value: str) -> None:
        """Record other options."""
        self._database.run(
            "UPDATE repositories SET options_hash = ? WHERE number = ?", (value, self._repo(repo))
        )

    def files(self, repo: str) -> dict[str, FileState]:
        """Every file of a repository, by path."""
        return catalogue_files.files(self._database, self._repo(repo))

    def file(self, repo: str, path: str) -> FileState | None:
        """One file, if it is known."""
        return catalogue_files.file(self._database, self._repo(repo), path)

    def chunk_keys(self, repo: str, path: str) -> list[tuple[str, bytes]]:
        """Id and text hash of each chunk of a file, in order."""
        return catalogue_files.chunk_keys(self._database, self._repo(repo), path)

    def text_hashes(self, repo: str | None = None) -> list[bytes]:
        """The hash of each chunk's text, of one repository or of all."""
        number = None if repo is None else self._repo(repo)
        return catalogue_files.text_hashes(self._database, number)

    def symbol_counts(self, repo: str, path: str) -> dict[Role, int]:
        """How many symbols of each role a file has."""
        return catalogue_files.symbol_counts(self._database, self._repo(repo), path)

    def commit(self, batch: Batch) -> None:
        """Make a batch visible, all of it at once."""
        try:
            with self._database.transaction():
                repo = self._repo(batch.repo)
                write_batch(self._database, repo, batch, self._words)
                if batch.scanned_ns:
                    self._database.run(
                        "UPDATE repositories SET scanned_ns = ? WHERE number = ?",
                        (batch.scanned_ns, repo),
                    )
                self.set_chunks_version(batch.chunks_version, batch.table_files)
        except BaseException:
            self._words.forget()
            raise
        if log_bytes(self._database) > sums.LOG_BYTES:
            sums.settle(self._database, close=False)

    def begin_bulk(self) -> None:
        """Before a first build: put off the indexes on names; nothing happens if rows exist."""
        with self._database.transaction():
            if self._database.one("SELECT 1 FROM files LIMIT 1") is None:
                for name in SYMBOL_INDEXES:
                    self._database.run(f"DROP INDEX IF EXISTS {name}")

    def end_bulk(self) -> None:
        """After a first build: make the indexes on names. Opening for writing does it as well."""
        with self._database.transaction():
            for statement in SYMBOL_INDEXES.values():
                self._database.run(statement)

    def skipped(self, repo: str) -> list[Skipped]:
        """The paths that are not in the index, with their reasons."""
        return catalogue_files.skipped(self._database, self._repo(repo))

    def skipped_counts(self, repo: str) -> dict[str, int]:
        """How many paths were skipped for each reason, the most frequent first."""
        return catalogue_files.skipped_counts(self._database, self._repo(repo))

    def has_skipped(self, repo: str, entries: Sequence[Skipped]) -> bool:
        """Whether exactly this is recorded as skipped."""
        return catalogue_files.has_skipped(self._database, self._repo(repo), entries)

    def replace_skipped(self, repo: str, entries: Sequence[Skipped]) -> None:
        """Record what is skipped now; nothing is written where it is what it was."""
        catalogue_files.replace_skipped(self._database, self._repo(repo), entries)

    def pending(self, repo: str) -> list[Pending]:
        """The files of a sync that did not finish."""
        return catalogue_files.pending(self._database, self._repo(repo))

    def set_pending(self, repo: str, entries: Sequence[Pending]) -> None:
        """Say what a sync is about to write; nothing, when it has finished."""
        catalogue_files.set_pending(self._database, self._repo(repo), entries)

    def signatures(
        self, repo: str, paths: Collection[str], cut: Callable[[str], str] = str
    ) -> dict[str, Signatures]:
        """What each of the known files offers to others; `cut` shortens signatures."""
        return catalogue_files.signatures(self._database, self._repo(repo), paths, cut)

    def links(self, repo: str, path: str) -> list[Link]:
        """The modules that a file imports, in order."""
        return catalogue_files.links(self._database, self._repo(repo), path)

    def importers(self, repo: str, targets: Collection[str]) -> dict[str, list[tuple[str, Link]]]:
        """For each target that is imported, who imports it and how."""
        return catalogue_files.importers(self._database, self._repo(repo), targets)

    def importing_paths(self, repo: str, targets: Collection[str]) -> dict[str, set[str]]:
        """For each target that is imported, the paths of the files that do."""
        return catalogue_files.importing_paths(self._database, self._repo(repo), targets)

    def resolutions(self, repo: str) -> Iterator[Resolution]:
        """What every import of the repository was found to mean, in no particular order."""
        return catalogue_files.resolutions(self._database, self._repo(repo))

    def statistics(self, repo: str | None = None) -> Statistics:
        """How much is known, of one repository or of all."""
        number = None if repo is None else self._repo(repo)
        return catalogue_files.statistics(self._database, number)

    def job(self, repo: str) -> Job | None:
        """The newest work on a repository."""
        return catalogue_files.job(self._database, repo)

    def save_job(self, repo: str, job: Job) -> None:
        """Record the state of the work; a request to cancel stays until another job begins."""
        catalogue_files.save_job(self._database, repo, job)

    def request_cancel(self, repo: str) -> bool:
        """Ask the running job to stop; false if none runs. Not only the writer may ask.

        Whether the job's process is alive is not known here: a killed one leaves `running` behind.
        """
        path = self._database.path
        if self._writable or path is None:
            return catalogue_files.request_cancel(self._database, repo)
        with type(self).open(path.parent, writable=True) as catalogue:
            return catalogue.request_cancel(repo)

    def cancel_requested(self, repo: str) -> bool:
        """Whether the running job was asked to stop."""
        return catalogue_files.cancel_requested(self._database, repo)

    def find_symbols(self, query: SymbolQuery) -> SymbolPage:
        """A page of the rows that match, definitions first, then by path and line."""
        from asterism.store.catalogue.symbols import find_symbols

        return find_symbols(self._database, query)

    def using_files(self, repo: str, name: str) -> list[str]:
        """The files of a repository that use a name, in order of their paths."""
        from asterism.store.catalogue.symbols import using_files

        return using_files(self._database, self._repo(repo), name)

    def similar_names(self, name: str, limit: int = 5) -> list[str]:
        """Defined names that are spelt like this one, the most similar first."""
        from asterism.store.catalogue.symbols import closest, defined_names, lengths_alike

        wanted = clean(name)
        return closest(wanted, defined_names(self._database, lengths_alike(wanted)), limit)

    def _fact(self, key: str) -> int:
        row = self._database.one("SELECT value FROM facts WHERE key = ?", (key,))
        if row is None:
            raise self._database.damaged(f"its catalogue has no {key}")
        value: int = row[0]
        return value

    def _number(self, repo: str) -> int | None:
        row = self._database.one("SELECT number FROM repositories WHERE name = ?", (repo,))
        return row[0] if row else None

    def _repo(self, repo: str) -> int:
        number = self._number(repo)
        if number is None:
            raise UsageError(
                f"The project has no repository named {repo}; `asterism repos` lists those it has."
            )
        return number
