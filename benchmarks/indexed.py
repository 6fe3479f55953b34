"""A checkout of a dataset, indexed, and open to be asked again and again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asterism.engine.engine import Engine
from asterism.evaluation.datasets import Checkout
from asterism.search.recall import Sources
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.lance.table import LanceTable
from asterism.types.search import Filter


@contextmanager
def indexed(checkout: Checkout, repos_dir: Path, engine: Engine) -> Iterator[Sources]:
    """What can be asked of it, in one state, as long as it is open."""
    registered = engine.register((repos_dir / checkout.name / checkout.root).resolve())
    engine.index(registered)
    directory = registered.project.directory
    with Catalogue.open(directory) as catalogue, catalogue.snapshot():
        snapshot = LanceTable.open(directory, name=catalogue.table.name).snapshot(
            catalogue.chunks_version()
        )
        yield Sources(snapshot, catalogue, Filter(repos=(registered.repository.name,)))
