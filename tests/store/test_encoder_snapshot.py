"""A version of the chunk table compared by encoder vectors: only the vectors differ."""

import numpy as np
import pytest

from asterism.store.chunk_table import ChunkKey
from asterism.store.exact_search import EncoderSnapshot
from asterism.types.search import NO_FILTER, Filter
from tests.store.chunk_samples import DIMENSIONS, chunk, entry, unit
from tests.store.memory_table import MemorySnapshot, MemoryTable

ROWS = [
    chunk("a.py", "one"),
    chunk("b.py", "two"),
    chunk("c.ts", "three", language="typescript", repo="pier"),
]
KEYS = [ChunkKey(row.repo, row.id) for row in ROWS]
OWN = np.stack([unit(1), unit(0, 1), unit(0, 0, 1)])
SECOND = np.eye(6, dtype=np.float32)[[5, 4, 3]]


@pytest.fixture
def inner() -> MemorySnapshot:
    table = MemoryTable(DIMENSIONS)
    table.append([entry(row, terms=row.name) for row in ROWS], OWN)
    return table.snapshot()


def test_the_nearest_are_those_by_encoder_vectors(inner: MemorySnapshot) -> None:
    second = EncoderSnapshot(inner, SECOND)
    found = second.nearest(SECOND[1], 2)
    assert (found[0].key, found[0].path) == (KEYS[1], "b.py")
    assert [match.score for match in found] == [0.0, 2.0]
    assert second.nearest(SECOND[1], 0) == []


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (NO_FILTER, {0, 1, 2}),
        (Filter(repos=("harbor",)), {0, 1}),
        (Filter(languages=("typescript",)), {2}),
        (Filter(repos=("nowhere",)), set()),
    ],
)
def test_the_filter_is_applied_first(inner: MemorySnapshot, where: Filter, found: set[int]) -> None:
    second = EncoderSnapshot(inner, SECOND)
    assert {match.key for match in second.nearest(SECOND[0], 3, where)} == {KEYS[n] for n in found}


def test_vectors_are_the_second_ones(inner: MemorySnapshot) -> None:
    found = EncoderSnapshot(inner, SECOND).vectors([KEYS[2], ChunkKey("harbor", "none")])
    assert list(found) == [KEYS[2]]
    assert np.array_equal(found[KEYS[2]], SECOND[2])


def test_everything_else_is_the_tables_own(inner: MemorySnapshot) -> None:
    second = EncoderSnapshot(inner, SECOND)
    assert second.version == inner.version
    assert second.count(Filter(repos=("pier",))) == 1
    assert second.matching(["two"], 5) == inner.matching(["two"], 5)
    assert second.chunks(KEYS) == inner.chunks(KEYS)
    assert list(second.scan()) == list(inner.scan())
    assert list(second.sources()) == list(inner.sources())
    assert list(second.entries(2)) == list(inner.entries(2))
    assert second.rows() == inner.rows()
    assert second.passing(NO_FILTER) is None
    assert second.texts([2, 0]) == [ROWS[2].embedding_text, ROWS[0].embedding_text]
