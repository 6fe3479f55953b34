"""Opens indexes, the embedding cache and the records with what the settings name."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from asterism import __version__
from asterism.analysis.chunks.units import RECIPE_VERSION
from asterism.config.load import chunk_options, discovery_options, embed_options, worker_count
from asterism.config.settings import Settings
from asterism.disclosure.places import MaskingReport
from asterism.engine.metrics import MeasuredEmbedder
from asterism.indexing.index import Cache, OpenIndex
from asterism.indexing.plan import SyncOptions
from asterism.models.embed.options import identity_of
from asterism.models.embed.provider import Embedder
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import SCHEMA_VERSION
from asterism.store.chunk_table import ChunkTable
from asterism.store.lance.process import stay_small
from asterism.store.table_files import (
    TableCheck,
    damage_sentence,
    look_at,
    look_by_chance,
    manifest_name,
)
from asterism.types.errors import IndexCorrupt, IndexMissing, StorageFailed
from asterism.types.index import Manifest, ModelIdentity, Stamp
from asterism.types.index_states import damaged, unreadable

if TYPE_CHECKING:
    # They import SQLAlchemy, which takes a tenth of a second to load.
    from asterism.records.conversations import Conversations
    from asterism.records.database import RecordsDatabase
    from asterism.records.sessions import SessionStore
    from asterism.records.turns import Turns


class DataDirectories(NamedTuple):
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
        masking_report=MaskingReport(settings.masking.report),
    )


def model_identity(settings: Settings) -> ModelIdentity:
    """Which model the settings ask for; nothing is loaded."""
    return identity_of(embed_options(settings))


def open_index(directory: Path, settings: Settings, places: DataDirectories) -> OpenIndex:
    """Open an index for writing, or create it; the caller holds the lock.

    One that is damaged, or of a schema that cannot be changed in place, is refused.
    """
    model = model_identity(settings)
    return _index(directory, _catalogue(directory, model), settings, places)


def begin_index(directory: Path, settings: Settings, places: DataDirectories) -> OpenIndex:
    """Begin a new index beside the existing one, which is not read.

    Close it, then `take_place` puts it there; the caller holds the lock.
    """
    from asterism.store.replacement import begin, new_table_name

    catalogue = Catalogue.create(begin(directory), _manifest(model_identity(settings)))
    catalogue.table.rename(new_table_name())
    return _index(directory, catalogue, settings, places)


def _index(
    directory: Path, catalogue: Catalogue, settings: Settings, places: DataDirectories
) -> OpenIndex:
    name = catalogue.table.name

    def create_table(dimensions: int) -> ChunkTable:
        from asterism.store.lance.table import LanceTable

        stay_small()
        # Only leftovers of a build that never committed anything can be here.
        return LanceTable.create(directory, dimensions, name=name)

    def open_table() -> ChunkTable:
        from asterism.store.lance.table import LanceTable

        stay_small()
        return LanceTable.open(directory, name=name)

    def make_embedder() -> Embedder:
        from asterism.models.embed.provider import make_embedder

        return MeasuredEmbedder(make_embedder(embed_options(settings)))

    return OpenIndex(
        directory,
        catalogue,
        create_table,
        open_table,
        model_identity(settings),
        make_embedder,
        lambda: cache(settings, places),
    )


def cache(settings: Settings, places: DataDirectories) -> Cache:
    """The user's embedding cache, opened when it is first asked."""
    from asterism.models.embed.cache import EmbeddingCache

    return EmbeddingCache(places.cache, settings.cache.max_bytes)


def wipe(directory: Path) -> None:
    """Remove an index, all its repositories included; locks and records stay.

    Encoder vectors stay too: they belong to texts, and most texts come again.
    """
    from asterism.store.replacement import remove_leftovers

    # The catalogue first: without it there is no index. A process killed in between would
    # otherwise leave a catalogue without its chunks, which is damage.
    Catalogue.discard(directory)
    remove_leftovers(directory, None)


def damage_of(directory: Path, catalogue: Catalogue) -> str:
    """What is wrong with the chunks a catalogue speaks of, by a look that loads nothing."""
    try:
        checked(directory, catalogue)
    except IndexCorrupt as error:
        return str(error)
    return ""


def checked(
    directory: Path, catalogue: Catalogue, seen: Collection[tuple[str, Stamp]] = ()
) -> TableCheck:
    """Refuse chunks that are lost or damaged; which files are whole and have another stamp.

    `seen` names stamps under which a file was found well before.
    """
    with catalogue.snapshot():
        version = catalogue.chunks_version()
        if version == 0:
            return TableCheck()
        table, files = directory / catalogue.table.name, catalogue.table.files()
    try:
        is_there = (table / "_versions" / manifest_name(version)).is_file()
    except OSError as error:
        raise StorageFailed(unreadable(directory, error.errno, table.name)) from error
    if not is_there:
        raise IndexCorrupt(damaged(directory, "it has lost its chunks"))
    looked = look_at(table, files, seen)
    if looked.damaged:
        raise IndexCorrupt(damage_sentence(directory, looked.damaged))
    return looked


def check_by_chance(directory: Path, catalogue: Catalogue) -> None:
    """Read a few blocks of the chunks that no stamp calls for."""
    table, files = directory / catalogue.table.name, catalogue.table.files()
    if found := look_by_chance(table, files, Random()):
        raise IndexCorrupt(damage_sentence(directory, found, force=True))


def table_bytes(directory: Path, catalogue: Catalogue) -> int:
    """How much the chunks take on disk, by a look that loads nothing."""
    total = 0
    for file in (directory / catalogue.table.name).rglob("*"):
        # A writer may be tidying up meanwhile.
        with suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def _catalogue(directory: Path, model: ModelIdentity) -> Catalogue:
    from asterism.store.replacement import remove_leftovers

    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        found = Catalogue.open(directory, writable=True)
    except IndexMissing:
        remove_leftovers(directory, None)
        return Catalogue.create(directory, _manifest(model))
    try:
        remove_leftovers(directory, found.table.name)
        if restamped := checked(directory, found).restamped:
            found.table.restamp(restamped)
    except BaseException:
        found.close()
        raise
    return found


def _manifest(model: ModelIdentity) -> Manifest:
    return Manifest(SCHEMA_VERSION, model, RECIPE_VERSION, __version__, time.time())


class Records:
    """What is kept of chats; threads may share it."""

    def __init__(self, settings: Settings, places: DataDirectories) -> None:
        from asterism.config.options import records_options

        self._options = records_options(settings, places.data)
        self._database: RecordsDatabase | None = None
        self._lock = Lock()

    def database(self) -> RecordsDatabase:
        """The database, made or brought up to date if need be."""
        from asterism.records.database import open_database

        with self._lock:
            if self._database is None:
                self._database = open_database(self._options)
            return self._database

    def conversations(self) -> Conversations:
        """The conversations."""
        from asterism.records.conversations import Conversations

        return Conversations(self.database())

    def turns(self) -> Turns:
        """Their turns."""
        from asterism.records.turns import Turns

        return Turns(self.database())

    def sessions(self) -> SessionStore:
        """The sessions of agents."""
        from asterism.records.sessions import SessionStore

        return SessionStore(self.database())

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None
