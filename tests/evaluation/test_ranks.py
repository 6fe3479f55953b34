"""Has the ranking changed? The first five places of questions about two small repositories."""

from pathlib import Path

import pytest

from tests.evaluation.golden_ranks import changed_ranks
from tests.evaluation.ranked_repositories import GOLDEN, REPOSITORIES, copied, searcher


@pytest.mark.parametrize(("name", "jobs"), [("harbor", 1), ("languages", 2)])
def test_ranks_are_the_golden_ones(name: str, jobs: int, tmp_path: Path) -> None:
    changes = changed_ranks(
        GOLDEN / f"{name}.txt", searcher(tmp_path, jobs), copied(name, tmp_path)
    )
    assert not changes, "\n".join(
        [
            "The ranking has changed. Where it is better now, accept it:",
            "    python -m tests.evaluation.ranked_repositories",
            *changes,
        ]
    )


def test_every_repository_has_its_golden_ranks() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == REPOSITORIES.keys()
