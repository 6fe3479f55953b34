"""Datasets for fitting: their options on the command line, and their indexed checkouts."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asterism.engine.engine import Engine
from asterism.evaluation.datasets import DatasetRepository
from asterism.search.recall import Sources
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.lance.table import LanceTable
from asterism.types.errors import UsageError
from asterism.types.search import Filter

# What a second set counts beside the first: each knows of half of what people ask.
SHARE = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The two sets, where their repositories are, and what the second counts."""
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--repos-dir", type=Path, required=True)
    parser.add_argument("--beside", type=Path, help="a second set of questions")
    parser.add_argument("--beside-repos-dir", type=Path)
    parser.add_argument("--share", type=float, default=SHARE, help="what that counts")


def given_sets(given: Any) -> list[tuple[Path, Path]]:
    """Each set with where its repositories are."""
    if (given.beside is None) != (given.beside_repos_dir is None):
        raise UsageError("--beside and --beside-repos-dir belong together; give both.")
    second = [(given.beside, given.beside_repos_dir)] if given.beside else []
    return [(given.dataset, given.repos_dir), *second]


def count_of(first: int, own: int, share: float) -> float:
    """What each of its own questions counts, if all together count so much beside the first."""
    return share * first / own if first and own else 1.0


@contextmanager
def indexed(checkout: DatasetRepository, repos_dir: Path, engine: Engine) -> Iterator[Sources]:
    """What can be asked of it, in one state, as long as it is open."""
    registered = engine.register((repos_dir / checkout.name / checkout.root).resolve())
    engine.index(registered)
    directory = registered.project.directory
    with Catalogue.open(directory) as catalogue, catalogue.snapshot():
        snapshot = LanceTable.open(directory, name=catalogue.table.name).snapshot(
            catalogue.chunks_version()
        )
        yield Sources(snapshot, catalogue, Filter(repos=(registered.repository.name,)))
