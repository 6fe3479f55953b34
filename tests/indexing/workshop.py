"""A repository, an index over it, and counts of what each sync did; for the tests of this folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from asterism.analysis.chunks.units import RECIPE_VERSION
from asterism.indexing.index import Cache, OpenIndex
from asterism.indexing.plan import SyncOptions, options_hash
from asterism.indexing.report import SILENT, Listener, SyncReport
from asterism.indexing.sync import sync
from asterism.models.embed.cache import NoCache
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import SCHEMA_VERSION
from asterism.store.chunk_table import ChunkTable
from asterism.store.lance.table import LanceTable
from asterism.types.index import Chunk, Manifest, Repository
from tests.models.embed.counting_embedder import CountingEmbedder
from tests.store.memory_table import MemoryTable

Kind = Literal["memory", "lance"]

# Far enough back that no file's time is in doubt.
LONG_AGO_NS = 1_700_000_000_000_000_000


@dataclass
class Workshop:
    """One repository and its index."""

    root: Path
    index: OpenIndex
    embedder: CountingEmbedder
    repository: Repository
    options: SyncOptions = field(default_factory=SyncOptions)
    first: SyncReport | None = None
    """What the first sync did, where a fixture has run it."""
    _tick: int = 0

    def put(self, path: str, text: str) -> None:
        """Write a file with a time of its own, long past."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.touch(path)

    def touch(self, path: str) -> None:
        """Give a file another time, and nothing else."""
        self._tick += 1
        moment = LONG_AGO_NS + self._tick * 1_000_000_000
        os.utime(self.root / path, ns=(moment, moment))

    def sync(self, listener: Listener = SILENT, anew: bool = False) -> SyncReport:
        """One sync; the embedder starts counting anew."""
        self.embedder.documents.clear()
        return sync(self.index, self.repository, self.options, listener, anew)

    def chunks(self) -> list[Chunk]:
        """Every chunk that a reader of the committed version sees."""
        version = self.index.catalogue.chunks_version()
        return list(self.index.table().snapshot(version).scan()) if version else []

    def names(self, path: str) -> list[str]:
        """The names of a file's chunks."""
        return [chunk.name for chunk in self.chunks() if chunk.relative_path == path]


@contextmanager
def workshop(
    directory: Path, kind: Kind = "memory", cache: Cache | None = None
) -> Iterator[Workshop]:
    """A fresh workshop below a directory."""
    root = directory / "repository"
    root.mkdir(parents=True)
    store = directory / "store"
    store.mkdir()
    embedder = CountingEmbedder()
    manifest = Manifest(SCHEMA_VERSION, embedder.identity, RECIPE_VERSION, "test", 0.0)
    if kind == "memory":
        catalogue = Catalogue.in_memory(manifest)
        table = MemoryTable(embedder.identity.dimensions)

        def create(dimensions: int) -> ChunkTable:
            assert dimensions == embedder.identity.dimensions
            return table

        def reopen() -> ChunkTable:
            return table

    else:
        catalogue = Catalogue.create(store, manifest)

        def create(dimensions: int) -> ChunkTable:
            return LanceTable.create(store, dimensions)

        def reopen() -> ChunkTable:
            return LanceTable.open(store)

    index = OpenIndex(
        store,
        catalogue,
        create,
        reopen,
        embedder.identity,
        lambda: embedder,
        lambda: cache or NoCache(),
    )
    repository = Repository("id", "repository", str(root))
    made = Workshop(root, index, embedder, repository)
    catalogue.add_repository(repository, options_hash(made.options))
    try:
        yield made
    finally:
        index.close()
