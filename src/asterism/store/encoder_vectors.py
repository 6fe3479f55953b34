"""Encoder vectors of an index: one for each text, in a file beside the catalogue.

They are kept by the hash of the embedded text, not by chunk: an edit changes only the vectors of
its chunks, a chunk that moves keeps its vector, and writers of the index ignore them. No query
needs them, so a damaged file is begun anew.
"""

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from asterism.store.database import (
    Database,
    Row,
    connect_new,
    connect_reading,
    connect_writing,
    remove_database,
)
from asterism.store.plain_files import make_plain
from asterism.types.errors import IndexBusy, IndexCorrupt, StorageFailed, StoreError
from asterism.types.index import ModelIdentity
from asterism.types.processes import Closable

FILE_NAME = "second.sqlite"

_SCHEMA_VERSION = 2
"""2 added a checksum to each vector; those of version 1 have none."""
_PAGE_BYTES = 16_384
"""A vector of 384 numbers in half precision takes 0.8 KB: twenty in a page."""
_LOOKUP = 500
_MOST_FREE = 0.25
"""Of the file; with more of it free the file is written anew."""
_SCHEMA = (
    "CREATE TABLE facts (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE vectors (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, vector BLOB NOT NULL,"
    " sum INTEGER)",
    "CREATE UNIQUE INDEX vectors_by_hash ON vectors (hash)",
)


class MadeFor(NamedTuple):
    """What tells the vectors of one model from those of another."""

    model: ModelIdentity
    recipe: int
    """Of the texts."""


class Making(NamedTuple):
    """Who makes the vectors, or made them last."""

    pid: int = 0
    """0 if none does."""
    failure: str = ""
    """Why the last attempt ended before its time."""


class EncoderStore(Closable):
    """Vectors by the hash of their text, each as the bytes of its numbers in half precision."""

    def __init__(self, database: Database, made_for: MadeFor) -> None:
        """Use `open` or `existing`."""
        self._database = database
        self._made_for = made_for
        self._sum = "sum" if _version(database) >= _SCHEMA_VERSION else "NULL"

    @classmethod
    def open(cls, directory: Path, made_for: MadeFor) -> "EncoderStore":
        """For writing; made if it is missing or damaged, and emptied if it is another model's.

        The caller holds the upgrader's lock.
        """
        path = directory / FILE_NAME
        make_plain(path)
        if path.exists():
            try:
                return cls._taken_over(_sound(connect_writing(path)), made_for)
            except IndexCorrupt:
                remove_database(path)
        return cls._taken_over(connect_new(path, _PAGE_BYTES), made_for)

    @classmethod
    def existing(
        cls, directory: Path, made_for: MadeFor, writable: bool = False
    ) -> "EncoderStore | None":
        """The existing store of a model; None if it is missing or of another model.

        For reading it keeps one state of the file: all vectors are that model's, even if an
        upgrade to another model begins meanwhile.
        """
        path = directory / FILE_NAME
        if not path.is_file():
            return None
        database = connect_writing(path) if writable else connect_reading(path)
        try:
            if writable:
                _add_sums(database)
            else:
                database.run("BEGIN")
            if _made_for(database) == made_for:
                return cls(database, made_for)
        except BaseException:
            database.close()
            raise
        database.close()
        return None

    @classmethod
    def _taken_over(cls, database: Database, made_for: MadeFor) -> "EncoderStore":
        """The file for a model; what another model made goes in the same transaction."""
        try:
            with database.transaction():
                _add_sums(database)
                if _made_for(database) != made_for:
                    for table in ("facts", "vectors"):
                        database.run(f"DROP TABLE IF EXISTS {table}")
                    for statement in _SCHEMA:
                        database.run(statement)
                    facts = {**made_for.model._asdict(), "recipe": made_for.recipe}
                    database.many("INSERT INTO facts VALUES (?, ?)", list(facts.items()))
                    database.run(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        except BaseException:
            database.close()
            raise
        return cls(database, made_for)

    def put(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep these, unless the file is another model's by now; known ones stay as they are."""
        with self._database.transaction():
            if _made_for(self._database) == self._made_for:
                self._database.many(
                    "INSERT OR IGNORE INTO vectors (hash, vector, sum) VALUES (?, ?, ?)",
                    [(key, vector, _sum_of(key, vector)) for key, vector in vectors.items()],
                )

    def get(self, hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        """Those of these hashes that are known."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(hashes), _LOOKUP):
            some = hashes[start : start + _LOOKUP]
            marks = ",".join("?" * len(some))
            rows = self._database.rows(
                f"SELECT hash, vector, {self._sum} FROM vectors WHERE hash IN ({marks})", some
            )
            found.update(self._sound(rows))
        return found

    def everything(self, at_once: int = 4_096) -> Iterator[list[tuple[bytes, bytes]]]:
        """Every hash with its vector, in pieces."""
        last = 0
        while rows := self._database.rows(
            f"SELECT hash, vector, {self._sum}, id FROM vectors WHERE id > ? ORDER BY id LIMIT ?",
            (last, at_once),
        ):
            last = rows[-1][3]
            yield self._sound([row[:3] for row in rows])

    def hashes(self) -> set[bytes]:
        """The texts that have vectors."""
        return {text_hash for (text_hash,) in self._database.rows("SELECT hash FROM vectors")}

    def count(self) -> int:
        """How many texts have vectors."""
        row = self._database.one("SELECT count(*) FROM vectors")
        return row[0] if row else 0

    def keep_only(self, needed: Collection[bytes]) -> int:
        """Drop the vectors of all other texts and free the disk space; returns how many."""
        gone = self.hashes().difference(needed)
        if gone:
            with self._database.transaction():
                self._database.many(
                    "DELETE FROM vectors WHERE hash = ?", [(one,) for one in sorted(gone)]
                )
            pages, free = (self._pragma(name) for name in ("page_count", "freelist_count"))
            if free > _MOST_FREE * pages:
                # It needs disk space itself; on a full disk the file stays as large as it is.
                with suppress(StorageFailed, IndexBusy):
                    self._database.run("VACUUM")
                    # Otherwise the space is freed when the last connection closes.
                    self._database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        return len(gone)

    def making(self) -> Making:
        """Who makes the vectors."""
        facts: dict[str, Any] = dict(self._database.rows("SELECT key, value FROM facts"))
        return Making(facts.get("pid", 0), facts.get("failure", ""))

    def note(self, making: Making) -> None:
        """Say who makes the vectors; where even that cannot be written, it stays unsaid."""
        with suppress(StoreError):
            self._database.many(
                "INSERT OR REPLACE INTO facts VALUES (?, ?)", list(making._asdict().items())
            )

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _sound(self, rows: Sequence[Row]) -> list[tuple[bytes, bytes]]:
        """Hashes and vectors; one that is not what was written condemns the file."""
        for text_hash, vector, said in rows:
            if said is not None and said != _sum_of(text_hash, vector):
                raise self._database.damaged("its encoder vectors are not what was written")
        return [(text_hash, vector) for text_hash, vector, _ in rows]

    def _pragma(self, name: str) -> int:
        row = self._database.one(f"PRAGMA {name}")
        return row[0] if row else 0


def remove_encoder_vectors(directory: Path) -> None:
    """Remove the encoder vectors of an index, if it has any."""
    remove_database(directory / FILE_NAME)


def prune_encoder_vectors(directory: Path, needed: Collection[bytes]) -> None:
    """Drop the vectors of all other texts, whichever model they are of.

    The caller holds the upgrader's lock. A damaged file is removed.
    """
    path = directory / FILE_NAME
    if not path.is_file():
        return
    try:
        database = connect_writing(path)
        try:
            made_for = _made_for(database)
            if made_for is None:
                raise database.damaged("its encoder vectors name no model")
            EncoderStore(database, made_for).keep_only(needed)
        finally:
            database.close()
    except IndexCorrupt:
        remove_database(path)


def look_deep_second(directory: Path) -> int:
    """How many vectors there are, each of them read; an error where one is damaged."""
    database = connect_reading(directory / FILE_NAME)
    try:
        if database.one("PRAGMA integrity_check(1)") != ("ok",):
            raise database.damaged("its encoder vectors are malformed")
        made_for = _made_for(database)
        if made_for is None:
            return 0
        return sum(map(len, EncoderStore(database, made_for).everything()))
    finally:
        database.close()


def encoder_bytes(directory: Path) -> int:
    """How much they take on disk, the log that is not yet copied included."""
    total = 0
    for name in (FILE_NAME, f"{FILE_NAME}-wal"):
        with suppress(OSError):
            total += (directory / name).stat().st_size
    return total


def _sound(database: Database) -> Database:
    """The database, every page of which was looked at: 0.6 ms for each MB."""
    try:
        if database.one("PRAGMA quick_check(1)") != ("ok",):
            raise database.damaged("its encoder vectors are malformed")
    except BaseException:
        database.close()
        raise
    return database


def _sum_of(text_hash: bytes, vector: bytes) -> int:
    return zlib.crc32(vector, zlib.crc32(text_hash))


def _version(database: Database) -> int:
    row = database.one("PRAGMA user_version")
    return row[0] if row else 0


def _add_sums(database: Database) -> None:
    """Give a file of version 1 a place for checksums."""
    if _version(database) == 1:
        with database.transaction():
            database.run("ALTER TABLE vectors ADD COLUMN sum INTEGER")
            database.run(f"PRAGMA user_version = {_SCHEMA_VERSION}")


def _made_for(database: Database) -> MadeFor | None:
    if _version(database) not in (1, _SCHEMA_VERSION):
        return None
    facts: dict[str, Any] = dict(database.rows("SELECT key, value FROM facts"))
    try:
        model = ModelIdentity(*(facts[name] for name in ModelIdentity._fields))
        return MadeFor(model, facts["recipe"])
    except KeyError:
        return None
