"""Vectors kept by what was embedded, for all indexes of a user and any number of processes."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from asterism.models.embed.cache_file import (
    count,
    create,
    empty,
    evict,
    is_damage,
    move_aside,
    open_file,
    reason,
    rows_of,
    sum_of,
)
from asterism.models.embed.provider import Matrix
from asterism.types.files import display_path
from asterism.types.index import ModelIdentity
from asterism.types.processes import Closable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
"""One unit vector."""

FILE = "embeddings.sqlite"

_DAY = 86_400
_ROUNDING = 0.01
"""Half precision keeps a unit vector's length to a thousandth."""
_Answer = TypeVar("_Answer")


class CacheStatistics(NamedTuple):
    """What the cache holds, and how often it helped this process."""

    vectors: int = 0
    bytes: int = 0
    """What counts against the limit: pages in use, indexes included."""
    hits: int = 0
    misses: int = 0
    limit: int = 0


class EmbeddingCache(Closable):
    """Vectors by model, recipe and hash of the text; what was not used for longest goes first.

    A failing cache never stops its user: vectors are not found or not kept, and `warnings` has one
    sentence about it.
    """

    def __init__(
        self,
        directory: Path,
        max_bytes: int,
        *,
        clock: Callable[[], float] = time.time,
        patience_seconds: float = 5.0,
    ) -> None:
        """Nothing is opened before it is needed; `max_bytes` 0 switches the cache off."""
        self.max_bytes = max_bytes
        self.warnings: list[str] = []
        self._path = directory / FILE
        self._clock = clock
        self._patience = patience_seconds
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._models: dict[tuple[ModelIdentity, int], int] = {}
        self._seen: set[int] = set()
        self._damaged: set[int] = set()
        self._hits = self._misses = 0
        self._readable = self._writable = max_bytes > 0
        self._began_anew = False

    def get(
        self, identity: ModelIdentity, recipe: int, hashes: Sequence[bytes]
    ) -> dict[bytes, Vector]:
        """The vectors that are known, by hash."""
        if not hashes:
            return {}
        found = self._attempt(lambda connection: self._read(connection, identity, recipe, hashes))
        self._hits += len(found or {})
        self._misses += len(set(hashes)) - len(found or {})
        return found or {}

    def put(self, identity: ModelIdentity, recipe: int, vectors: Mapping[bytes, Vector]) -> None:
        """Keep vectors by hash; those already known stay as they are."""
        import numpy as np

        if not vectors:
            return
        matrix = np.stack(list(vectors.values()))
        if matrix.shape[1] != identity.dimensions:
            raise ValueError(
                f"Vectors of {matrix.shape[1]} numbers, not {identity.dimensions}, for {identity}."
            )
        blobs = _halves(matrix)
        # In the order of their hashes neighbours share a page of the index.
        rows = sorted(zip(vectors, blobs, strict=True))
        self._attempt(
            lambda connection: self._write(connection, identity, recipe, rows), writes=True
        )

    def statistics(self) -> CacheStatistics:
        """What is there, counted now."""
        vectors, size = (self._attempt(count) if self._exists() else None) or (0, 0)
        return CacheStatistics(vectors, size, self._hits, self._misses, self.max_bytes)

    def clear(self) -> None:
        """Forget every vector and give the space back."""
        if self._exists():
            self._attempt(empty, writes=True)

    def close(self) -> None:
        """Note which vectors were of use, and let go of the file; a later call opens it again."""
        if self._connection is not None:
            if self._seen:
                self._attempt(self._note_use, writes=True)
            with self._lock:
                self._disconnect()

    def _read(
        self,
        connection: sqlite3.Connection,
        identity: ModelIdentity,
        recipe: int,
        hashes: Sequence[bytes],
    ) -> dict[bytes, Vector]:
        import numpy as np

        model = self._model(connection, identity, recipe)
        if model is None:
            return {}
        width = 2 * identity.dimensions
        found = [*rows_of(connection, model, hashes)]
        rows = [row for row in found if len(row[3]) == width and _is_sound(row, identity, recipe)]
        self._damaged.update({row[0] for row in found} - {row[0] for row in rows})
        today = self._today()
        self._seen.update(row[0] for row in rows if row[2] < today)
        halves = np.frombuffer(b"".join(row[3] for row in rows), dtype="<f2")
        matrix = halves.astype(np.float32).reshape(len(rows), identity.dimensions)
        return {row[1]: vector for row, vector in zip(rows, matrix, strict=True)}

    def _write(
        self,
        connection: sqlite3.Connection,
        identity: ModelIdentity,
        recipe: int,
        rows: Sequence[tuple[bytes, bytes]],
    ) -> None:
        today = self._today()
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "INSERT OR IGNORE INTO models (provider, model, dimensions, recipe)"
                " VALUES (?, ?, ?, ?)",
                (*identity, recipe),
            )
            model = self._model(connection, identity, recipe)
            if self._damaged:
                gone = [(row,) for row in self._damaged]
                connection.executemany("DELETE FROM vectors WHERE id = ?", gone)
            connection.executemany(
                "INSERT OR IGNORE INTO vectors (model, hash, used, vector, sum)"
                " VALUES (?, ?, ?, ?, ?)",
                (
                    (model, hash, today, vector, sum_of(identity, recipe, hash, vector))
                    for hash, vector in rows
                ),
            )
        self._damaged.clear()
        if self._seen:
            self._note_use(connection)
        evict(connection, self.max_bytes)

    def _model(
        self, connection: sqlite3.Connection, identity: ModelIdentity, recipe: int
    ) -> int | None:
        key = (identity, recipe)
        if key not in self._models:
            row = connection.execute(
                "SELECT id FROM models"
                " WHERE provider = ? AND model = ? AND dimensions = ? AND recipe = ?",
                (*identity, recipe),
            ).fetchone()
            if row is None:
                return None
            self._models[key] = row[0]
        return self._models[key]

    def _note_use(self, connection: sqlite3.Connection) -> None:
        """Once a day and row is enough to tell the old from the new, and reading stays reading."""
        today = self._today()
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "UPDATE vectors SET used = ? WHERE id = ?",
                ((today, row) for row in sorted(self._seen)),
            )
        self._seen.clear()

    def _today(self) -> int:
        return int(self._clock() // _DAY)

    def _exists(self) -> bool:
        return self._connection is not None or self._path.exists()

    def _attempt(
        self, action: Callable[[sqlite3.Connection], _Answer], writes: bool = False
    ) -> _Answer | None:
        """Do it if it can be done; a damaged file is put away once, and then it is done anew."""
        with self._lock:
            while self._writable if writes else self._readable:
                try:
                    return action(self._connected())
                except (sqlite3.Error, OSError) as error:
                    self._recover(error, writes)
        return None

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            if not self._path.exists():
                create(self._path)
            self._inode = self._path.stat().st_ino
            self._connection = open_file(self._path, self._patience)
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None
        self._models.clear()
        self._seen.clear()
        self._damaged.clear()

    def _recover(self, error: sqlite3.Error | OSError, writes: bool) -> None:
        """Make the next try possible, or say why it is not."""
        place = display_path(str(self._path))
        opened = self._connection is not None
        if is_damage(error) and not self._began_anew:
            self._began_anew = True
            self._disconnect()
            try:
                aside = move_aside(self._path, self._inode, int(self._clock()))
            except OSError as refusal:
                error, opened = refusal, False
            else:
                if aside is not None:
                    kept = display_path(aside.name)
                    self.warnings.append(
                        f"{place} was damaged: it is now {kept}, and a new cache was begun."
                    )
                return
        self._writable = False
        if writes and opened:
            self.warnings.append(
                f"{place} takes no more vectors ({reason(error)}); they are computed again next "
                "time. Free disk space or permit writing, or set cache.max_bytes to 0."
            )
            return
        self._readable = False
        self._disconnect()
        self.warnings.append(
            f"{place} cannot be used ({reason(error)}); every vector is computed. Permit access "
            "or remove the file, or set cache.max_bytes to 0."
        )


class NoCache(Closable):
    """Keeps nothing."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._misses = 0

    def get(
        self, identity: ModelIdentity, recipe: int, hashes: Sequence[bytes]
    ) -> dict[bytes, Vector]:
        """Nothing is known."""
        self._misses += len(set(hashes))
        return {}

    def put(self, identity: ModelIdentity, recipe: int, vectors: Mapping[bytes, Vector]) -> None:
        """Nothing is kept."""

    def statistics(self) -> CacheStatistics:
        """Nothing is there."""
        return CacheStatistics(misses=self._misses)

    def clear(self) -> None:
        """Nothing is to be forgotten."""

    def close(self) -> None:
        """Nothing is open."""


def _is_sound(
    row: tuple[int, bytes, int, bytes, int | None], identity: ModelIdentity, recipe: int
) -> bool:
    """Whether a row is what was written; of a row of an older program its length must do."""
    if row[4] is None:
        import numpy as np

        length = float(np.linalg.norm(np.frombuffer(row[3], dtype="<f2").astype(np.float32)))
        return abs(length - 1) < _ROUNDING
    return sum_of(identity, recipe, row[1], row[3]) == row[4]


def _halves(matrix: Matrix) -> Iterator[bytes]:
    """Embedders round to half precision, so that nothing is lost."""
    content = matrix.astype("<f2").tobytes()
    width = 2 * matrix.shape[1]
    return (content[start : start + width] for start in range(0, len(content), width))
