"""A real index of two repositories: the example and the Python fixtures."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from asterism.indexing.plan import SyncOptions, options_hash
from asterism.indexing.sync import sync
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkSnapshot
from asterism.types.index import Chunk, Repository
from tests.indexing.workshop import Kind, workshop

PROJECT = Path(__file__).resolve().parents[2]
HARBOR = PROJECT / "examples" / "harbor"
SAMPLES = PROJECT / "tests" / "fixtures" / "python"


class HarborIndex(NamedTuple):
    """What a search reads."""

    catalogue: Catalogue
    snapshot: ChunkSnapshot
    chunks: list[Chunk]
    """Every chunk, in the order of a scan."""


@contextmanager
def harbor_index(directory: Path, kind: Kind = "lance") -> Iterator[HarborIndex]:
    """Index both repositories below a directory; nothing is written into them."""
    options = SyncOptions(workers=1)
    with workshop(directory, kind) as made:
        for name, root in (("harbor", HARBOR), ("samples", SAMPLES)):
            repository = Repository(name, name, str(root))
            made.index.catalogue.add_repository(repository, options_hash(options))
            sync(made.index, repository, options)
        catalogue = made.index.catalogue
        snapshot = made.index.table().snapshot(catalogue.chunks_version())
        yield HarborIndex(catalogue, snapshot, made.chunks())
