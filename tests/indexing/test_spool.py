"""What goes into a spool comes out of it, in order and in batches, in memory and in a file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from asterism.indexing import spool as module
from asterism.indexing.spool import Spool

BLOCKS = [b"one", b"", b"three" * 100, b"four"]


@pytest.mark.parametrize("memory", [1_000_000, 1])
@pytest.mark.parametrize(
    ("weight", "sizes"), [(1, [1, 1, 1, 1]), (2, [2, 2]), (3, [3, 1]), (100, [4])]
)
def test_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: int, weight: int, sizes: list[int]
) -> None:
    monkeypatch.setattr(module, "MEMORY_BYTES", memory)
    spool = Spool(str(tmp_path))
    for block in BLOCKS:
        spool.put(block, 1)
    # The file has no name that could be left behind.
    assert list(tmp_path.iterdir()) == []
    batches = list(spool.batches(weight))
    spool.close()
    assert [len(batch) for batch in batches] == sizes
    assert [block for batch in batches for block in batch] == BLOCKS


def empty(spool: Spool) -> None:
    spool.put(b"", 0)


@pytest.mark.parametrize(("fill", "expected"), [(None, []), (empty, [[b""]])])
def test_next_to_nothing(fill: Callable[[Spool], None] | None, expected: list[list[bytes]]) -> None:
    spool = Spool()
    if fill is not None:
        fill(spool)
    assert list(spool.batches(10)) == expected
    spool.close()
