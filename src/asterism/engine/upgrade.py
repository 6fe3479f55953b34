"""Second vectors made at once, for whoever waits for them, and what it takes to make them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from asterism.config.settings import Settings
from asterism.engine.measured import MeasuredEmbedder
from asterism.engine.upgrade_state import wanted_upgrade
from asterism.engine.wiring import Places, cache
from asterism.indexing.lock import upgrader
from asterism.indexing.progress import SILENT, Listener, Progress, Stage
from asterism.indexing.upgrade import Upgrade, upgrade
from asterism.indexing.upgrade_report import UpgradeReport
from asterism.models.embed.provider import Embedder
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkSnapshot
from asterism.store.lance.footprint import stay_small
from asterism.store.registry import Registered

POLITE_TEXTS = 2
"""Texts between two looks at who else needs the processor, side by side: 10 to 20 ms of two cores,
and never more than two."""


def upgrade_index(
    registered: Registered,
    settings: Settings,
    places: Places,
    listener: Listener = SILENT,
    wait_seconds: float = -1,
    give_way: Callable[[], None] | None = None,
) -> UpgradeReport:
    """Make the second vectors that an index lacks; −1 waits for whoever is making them.

    With `give_way` texts are embedded a few at a time, and it is called before each few.
    """
    options, wanted = wanted_upgrade(settings)
    directory = registered.project.directory
    # Without an index nothing is left behind, not even a lock.
    _version(directory)
    stay_small()

    def make_embedder() -> Embedder:
        from asterism.models.embed.encoder import EncoderEmbedder

        return MeasuredEmbedder(EncoderEmbedder(options))

    work = Upgrade(
        directory=directory,
        made_for=wanted,
        version=lambda: _version(directory),
        chunks=lambda version: _chunks(directory, version),
        embedder=make_embedder,
        cache=lambda: cache(settings, places),
    )
    if give_way is not None:
        work = replace(work, run_texts=POLITE_TEXTS, give_way=give_way)

    def waiting(holder: str) -> None:
        listener.report(Progress(Stage.waiting, detail=holder))

    with upgrader(directory, wait_seconds, waiting):
        return upgrade(work, listener)


def _version(directory: Path) -> int:
    with Catalogue.open(directory) as catalogue:
        return catalogue.chunks_version()


def _chunks(directory: Path, version: int) -> ChunkSnapshot:
    from asterism.store.lance.table import LanceTable

    with Catalogue.open(directory) as catalogue:
        name = catalogue.table.name
    return LanceTable.open(directory, name=name).snapshot(version)
