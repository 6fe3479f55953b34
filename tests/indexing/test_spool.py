"""What goes into a spool comes out of it, in order and in batches, also after a kill."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from asterism.indexing.read import FileRows, Gone, Packet, unpickled
from asterism.indexing.write import Earlier, Spool

BLOCKS = [b"one", b"two" * 10_000, b"three" * 100, b"four"]
HELD = [FileRows("a.py", "a py", [], [])]


def packet(rows: list[FileRows] | bytes, number: int = 0) -> Packet:
    return Packet([Gone(f"{number}.py")], rows, 1)


def filled(place: Path, key: str = "key") -> Spool:
    spool = Spool(place, key)
    for number, block in enumerate(BLOCKS):
        spool.put(packet(block, number))
    return spool


def earlier(place: Path, key: str) -> list[Earlier]:
    spool = Spool(place, key)
    found = list(spool.earlier())
    spool.close()
    return found


@pytest.mark.parametrize(
    ("weight", "sizes"), [(1, [1, 1, 1, 1, 1]), (2, [2, 2, 1]), (3, [3, 2]), (100, [5])]
)
def test_batches(tmp_path: Path, weight: int, sizes: list[int]) -> None:
    spool = filled(tmp_path / "spool")
    spool.put(packet(HELD))
    batches = list(spool.batches(weight))
    assert [len(batch) for batch in batches] == sizes
    assert [block for batch in batches for block in batch] == [*BLOCKS, HELD]
    spool.remove()
    assert list(tmp_path.iterdir()) == []


def test_rows_in_memory_need_no_file(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", "key")
    spool.put(packet(HELD))
    assert list(tmp_path.iterdir()) == []
    assert list(spool.batches(1)) == [[HELD]]


def test_nothing_at_all(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", "key")
    assert list(spool.earlier()) == []
    assert list(spool.batches(10)) == []
    spool.remove()


def flipped(content: bytes) -> bytes:
    at = len(content) - 300
    return b"%b%c%b" % (content[:at], content[at] ^ 1, content[at + 1 :])


# What happened to the file, and how many of its packets are there afterwards.
HURT: dict[str, tuple[Callable[[bytes], bytes], int]] = {
    "nothing": (lambda content: content, 4),
    "the last record is not whole": (lambda content: content[:-1], 3),
    "only the first head": (lambda content: content[:40], 0),
    "a bit in the third record": (flipped, 2),
    "emptied": (lambda _content: b"", 0),
    "zeroes at the end": (lambda content: content + bytes(1_000), 4),
    "lengths beyond the file": (lambda content: content + b"\x7f" * 100, 4),
}


@pytest.mark.parametrize("how", HURT)
def test_what_a_killed_process_left(tmp_path: Path, how: str) -> None:
    hurt, count = HURT[how]
    place = tmp_path / "spool"
    filled(place).close()
    place.write_bytes(hurt(place.read_bytes()))
    spool = Spool(place, "key")
    found = list(spool.earlier())
    assert [entry.outcomes for entry in found] == [[Gone(f"{n}.py")] for n in range(count)]
    for entry in found:
        spool.take(entry.block)
    spool.put(packet(b"more"))
    assert list(spool.batches(100)) == [[*BLOCKS[:count], b"more"]]
    spool.close()
    assert len(earlier(place, "key")) == count + 1


def test_a_file_of_another_key_is_begun_anew(tmp_path: Path) -> None:
    place = tmp_path / "spool"
    filled(place, "old").close()
    spool = Spool(place, "new")
    assert list(spool.earlier()) == []
    spool.put(packet(b"new"))
    spool.close()
    (found,) = earlier(place, "new")
    assert found.block.length == 3


def test_a_file_that_calls_code_is_refused(tmp_path: Path) -> None:
    """What is unpickled makes records of packets and nothing else."""

    class Call:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "made"),)

    with pytest.raises(pickle.UnpicklingError, match="mkdir is no part of a packet"):
        unpickled(pickle.dumps(Call()))
    assert list(tmp_path.iterdir()) == []
