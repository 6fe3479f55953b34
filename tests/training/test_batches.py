"""Does every example come once, beside others that are easily mistaken for it?"""

import numpy as np
import pytest

from training.models.batches import Numbers, batches

SOURCES = np.repeat(np.arange(12), [40, 7, 64, 1, 30, 90, 12, 33, 20, 8, 55, 24]).astype(np.int64)
# Four languages of three sources each.
LANGUAGES = SOURCES // 3


def made(size: int, group: int, seed: int = 0) -> list[Numbers]:
    return list(batches(SOURCES, LANGUAGES, size, group, np.random.default_rng(seed)))


@pytest.mark.parametrize(("size", "group"), [(32, 8), (64, 16), (384, 64), (10, 64), (1, 1)])
def test_nothing_twice(size: int, group: int) -> None:
    found = np.concatenate(made(size, group))
    assert len(found) == len(np.unique(found)) == len(SOURCES) // size * size


def test_the_same_seed_the_same_order() -> None:
    for one, other in zip(made(32, 8), made(32, 8), strict=True):
        assert (one == other).all()
    assert not (np.concatenate(made(32, 8)) == np.concatenate(made(32, 8, seed=1))).all()


def test_neighbours_are_of_one_source_and_language() -> None:
    order = np.concatenate(made(1, 8))
    same_source = (SOURCES[order][1:] == SOURCES[order][:-1]).mean()
    same_language = (LANGUAGES[order][1:] == LANGUAGES[order][:-1]).mean()
    shuffled = np.random.default_rng(0).permutation(len(SOURCES))
    by_chance = (SOURCES[shuffled][1:] == SOURCES[shuffled][:-1]).mean()
    assert same_source > 0.75 > 3 * by_chance
    assert same_language > same_source


def test_too_few_for_a_batch() -> None:
    assert made(len(SOURCES) + 1, 8) == []
