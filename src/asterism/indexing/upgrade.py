"""Makes the encoder vectors of a complete index, text by text, and embeds an index again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from asterism import __version__
from asterism.analysis.chunks.units import RECIPE_VERSION
from asterism.indexing.index import Cache, EmbeddedText, OpenIndex, VectorSource
from asterism.indexing.report import (
    SILENT,
    Listener,
    Progress,
    SyncAccount,
    SyncStage,
    UpgradeReport,
)
from asterism.models.embed.provider import Embedder, Matrix
from asterism.store.chunk_table import LIMITS, ChunkSnapshot, MemoryLimits
from asterism.store.encoder_vectors import EncoderStore, MadeFor, Making
from asterism.types.errors import AsterismError, Cancelled, StorageFailed
from asterism.types.index import Entry, Manifest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Rows embedded and written at once.
BATCH_ROWS = 4096


def reembed(index: OpenIndex, listener: Listener = SILENT) -> SyncAccount:
    """Write the table anew with vectors of the index's present model, then name it committed.

    Until that last step readers have the old vectors, and a crash leaves them in place; vectors
    made before a crash are in the cache.
    """
    account = SyncAccount()
    table = index.table()
    before = table.snapshot()
    total = before.count()
    source = VectorSource(
        index.identity, RECIPE_VERSION, index.cache(), index.table, index.embedder
    )
    table.reset(index.identity.dimensions)
    done = 0
    for entries in before.entries(BATCH_ROWS):
        table.append(entries, source.vectors(_texts(entries), {}, account))
        done += len(entries)
        listener.report(Progress(SyncStage.writing, 0, 0, done, f"{done:,} of {total:,} chunks"))
    table.maintain(thorough=True)
    manifest = index.catalogue.manifest()
    index.catalogue.set_manifest(
        Manifest(manifest.schema_version, index.identity, RECIPE_VERSION, __version__, time.time()),
        table.version,
        index.table_files(),
    )
    return account


def _texts(entries: list[Entry]) -> list[EmbeddedText]:
    return [
        EmbeddedText(entry.text_hash, entry.chunk.embedding_text, entry.chunk) for entry in entries
    ]


BATCH_TEXTS = 64
"""Texts that are kept at once: what a killed process loses, 0.2 s on two cores."""


def _at_once() -> None:
    """Never waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """The inputs of an upgrade: texts, model, cache and limits."""

    directory: Path
    made_for: MadeFor
    version: Callable[[], int]
    """The committed version of the chunk table; 0 if nothing is committed."""
    chunks: Callable[[int], ChunkSnapshot]
    embedder: Callable[[], Embedder]
    cache: Callable[[], Cache]
    limits: MemoryLimits = LIMITS
    run_texts: int = BATCH_TEXTS
    """Texts that are embedded in one go; between two of them others may go first."""
    give_way: Callable[[], None] = _at_once
    """Returns when no query is in flight."""


def upgrade(work: Upgrade, listener: Listener = SILENT) -> UpgradeReport:
    """Make the missing vectors; the caller holds the upgrader's lock.

    If the index is written meanwhile, missing vectors are looked for again. Each batch is saved,
    so the next upgrade continues after the last batch.
    """
    run = _Run(work, listener)
    try:
        with EncoderStore.open(work.directory, work.made_for) as store:
            store.note(Making(os.getpid()))
            failure = ""
            try:
                return run.until_complete(store)
            except Cancelled:
                raise
            except AsterismError as error:
                failure = str(error)
                raise
            finally:
                store.note(Making(failure=failure))
    except Cancelled:
        return run.report(cancelled=True)
    except StorageFailed as error:
        raise StorageFailed(
            f"Vectors of {work.made_for.model.model} cannot be kept: {error} What was made is "
            "kept, and the built-in model goes on answering."
        ) from error
    finally:
        run.close()


class _Run:
    """One upgrade under way."""

    def __init__(self, work: Upgrade, listener: Listener) -> None:
        self._work = work
        self._listener = listener
        self._began = time.monotonic()
        self._embedder: Embedder | None = None
        self._cache = work.cache()
        self._embedded = self._cached = self._dropped = self._texts = self._too_large = 0

    def until_complete(self, store: EncoderStore) -> UpgradeReport:
        """Go through the versions of the index until one is complete."""
        work = self._work
        version = work.version()
        while version and not self._completed(store, work.chunks(version)):
            version = work.version()
        return self.report()

    def report(self, cancelled: bool = False) -> UpgradeReport:
        """The account of what was done."""
        return UpgradeReport(
            model=self._work.made_for.model.model,
            texts=self._texts,
            embedded=self._embedded,
            cached=self._cached,
            dropped=self._dropped,
            too_large=self._too_large,
            cancelled=cancelled,
            warnings=tuple(self._cache.warnings),
            seconds=time.monotonic() - self._began,
        )

    def close(self) -> None:
        """Close model and cache."""
        self._cache.close()
        if self._embedder is not None:
            self._embedder.close()

    def _completed(self, store: EncoderStore, chunks: ChunkSnapshot) -> bool:
        """Make what this version lacks; False where another has taken its place meanwhile."""
        work = self._work
        hashes = chunks.rows().text_hashes
        if len(hashes) > work.limits.exact_rows(work.made_for.model.dimensions):
            self._too_large = len(hashes)
            store.keep_only(())
            return True
        needed = dict(zip(hashes, range(len(hashes)), strict=True))
        known = store.hashes()
        missing = [(key, at) for key, at in needed.items() if key not in known]
        self._texts, done = len(needed), len(needed) - len(missing)
        self._tell(done)
        for start in range(0, len(missing), BATCH_TEXTS):
            some = missing[start : start + BATCH_TEXTS]
            self._keep(store, [key for key, _ in some], chunks.texts([at for _, at in some]))
            done += len(some)
            self._tell(done)
            if work.version() != chunks.version:
                return False
        self._dropped += store.keep_only(needed)
        return work.version() == chunks.version

    def _keep(self, store: EncoderStore, hashes: Sequence[bytes], texts: Sequence[str]) -> None:
        """Vectors of some texts, from the cache or the model, into both."""
        made_for = self._work.made_for
        found = self._cache.get(made_for.model, made_for.recipe, hashes)
        store.put({key: halves(vector) for key, vector in found.items()})
        self._cached += len(found)
        new = [(key, text) for key, text in zip(hashes, texts, strict=True) if key not in found]
        fresh: dict[bytes, Matrix] = {}
        try:
            for start in range(0, len(new), self._work.run_texts):
                self._work.give_way()
                if self._listener.stop():
                    break
                some = new[start : start + self._work.run_texts]
                rows = self._model().embed_documents([text for _, text in some])
                fresh |= dict(zip((key for key, _ in some), rows, strict=True))
        finally:
            store.put({key: halves(vector) for key, vector in fresh.items()})
            self._cache.put(made_for.model, made_for.recipe, fresh)
            self._embedded += len(fresh)

    def _model(self) -> Embedder:
        if self._embedder is None:
            self._embedder = self._work.embedder()
        return self._embedder

    def _tell(self, done: int) -> None:
        self._listener.report(Progress(SyncStage.upgrading, done, self._texts))


def halves(vector: Matrix) -> bytes:
    """A vector as it is kept."""
    import numpy as np

    return np.asarray(vector, dtype="<f2").tobytes()


def rows_of_halves(vectors: Iterable[bytes], dimensions: int) -> NDArray[np.float16]:
    """The kept vectors as rows, in half precision still."""
    import numpy as np

    return np.frombuffer(b"".join(vectors), dtype="<f2").reshape(-1, dimensions)
