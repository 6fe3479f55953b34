"""A second set of questions beside the first, for what is fitted on both."""

import argparse
from pathlib import Path
from typing import Any

from asterism.types.errors import UsageError

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
