"""Which implementation stands behind each protocol, and how an index is opened."""

import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from asterism import __version__
from asterism.analysis.chunks.options import RECIPE_VERSION
from asterism.backends.embed.options import identity_of
from asterism.backends.embed.protocol import Embedder
from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.catalogue_schema import SCHEMA_VERSION
from asterism.backends.store.chunk_table import ChunkTable
from asterism.backends.store.footprint import stay_small
from asterism.config.loading import (
    chunk_options,
    discovery_options,
    embed_options,
    worker_count,
)
from asterism.config.settings import Settings
from asterism.domain.errors import IndexCorrupt, IndexMissing, IndexOutdated, IndexTooNew
from asterism.domain.index import Manifest, ModelIdentity
from asterism.engine.measured import MeasuredEmbedder
from asterism.indexing.cache import Cache
from asterism.indexing.index import Index
from asterism.indexing.options import SyncOptions

# The chunks, in the directory of their project.
_TABLE = "chunks.lance"


class Places(NamedTuple):
    """Where a user's indexes and cached vectors are kept."""

    data: Path
    cache: Path


def sync_options(settings: Settings) -> SyncOptions:
    """How a repository is read, by the user's settings."""
    return SyncOptions(
        discovery=discovery_options(settings),
        chunks=chunk_options(settings),
        workers=worker_count(settings),
        batch_bytes=settings.index.batch_bytes,
    )


def model_identity(settings: Settings) -> ModelIdentity:
    """Which model the settings ask for; nothing is loaded."""
    return identity_of(embed_options(settings))


def open_index(directory: Path, settings: Settings, places: Places, force: bool = False) -> Index:
    """Open an index for writing, and make it if there is none; the caller holds the lock.

    A damaged index, or one of another schema, is replaced if the caller insists; an older schema
    is replaced in any case, because whoever writes wants the present one.
    """
    model = model_identity(settings)
    catalogue = _catalogue(directory, model, force)

    def create_table(dimensions: int) -> ChunkTable:
        from asterism.backends.store.lance_table import LanceTable

        stay_small()
        # Only leftovers of a build that never committed anything can be here.
        shutil.rmtree(directory / _TABLE, ignore_errors=True)
        return LanceTable.create(directory, dimensions)

    def open_table() -> ChunkTable:
        from asterism.backends.store.lance_table import LanceTable

        stay_small()
        return LanceTable.open(directory)

    def make_embedder() -> Embedder:
        from asterism.backends.embed.providers import make_embedder

        return MeasuredEmbedder(make_embedder(embed_options(settings)))

    return Index(
        directory,
        catalogue,
        create_table,
        open_table,
        model,
        make_embedder,
        lambda: cache(settings, places),
    )


def cache(settings: Settings, places: Places) -> Cache:
    """The user's embedding cache, opened when it is first asked."""
    from asterism.backends.embed.cache import EmbeddingCache

    return EmbeddingCache(places.cache, settings.cache.max_bytes)


def wipe(directory: Path) -> None:
    """Remove an index, all its repositories included; locks and records stay.

    So do second vectors: they belong to texts, and most of those come again.
    """
    # The catalogue first: without it there is no index, while a catalogue that has lost its chunks
    # would be damage to whoever comes after a kill in between.
    Catalogue.discard(directory)
    shutil.rmtree(directory / _TABLE, ignore_errors=True)


def table_is_there(directory: Path, catalogue: Catalogue) -> bool:
    """Whether the chunks a catalogue speaks of exist, by a look that loads nothing."""
    version = catalogue.chunks_version()
    # Lance names the manifest of a version by this number less the version.
    manifest = f"{2**64 - 1 - version}.manifest"
    return version == 0 or (directory / _TABLE / "_versions" / manifest).is_file()


def table_bytes(directory: Path) -> int:
    """How much the chunks take on disk, by a look that loads nothing."""
    total = 0
    for file in (directory / _TABLE).rglob("*"):
        # A writer may be tidying up meanwhile.
        with suppress(FileNotFoundError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def _catalogue(directory: Path, model: ModelIdentity, force: bool) -> Catalogue:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        found = Catalogue.open(directory, writable=True)
    except IndexMissing:
        pass
    except IndexOutdated:
        wipe(directory)
    except (IndexCorrupt, IndexTooNew):
        if not force:
            raise
        wipe(directory)
    else:
        if table_is_there(directory, found):
            return found
        found.close()
        if not force:
            raise IndexCorrupt(
                f"The index in {directory} has lost its chunks; build it again with "
                "`asterism index --force`."
            )
        wipe(directory)
    manifest = Manifest(SCHEMA_VERSION, model, RECIPE_VERSION, __version__, time.time())
    return Catalogue.create(directory, manifest)
