"""Damage to the files of a chunk table is found, and nothing else is."""

import os
import shutil
from pathlib import Path
from random import Random

import pytest

from asterism.store import table_files
from asterism.store.table_files import (
    BLOCK_BYTES,
    look_at,
    look_by_chance,
    look_deep,
    renewed,
    stamp_of,
    sums_of,
    written,
)
from asterism.types.index import TableFile
from tests.faults.damage import DAMAGES, NOTHING_EARLIER

NAMES = ("data/a.lance", "data/b.lance", "_versions/1.manifest")


@pytest.fixture
def files(tmp_path: Path) -> list[TableFile]:
    chance = Random(1)
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(chance.randbytes(BLOCK_BYTES * 5 // 2))
    return written(tmp_path, NAMES, {})


@pytest.mark.parametrize(
    "damage", [name for name in DAMAGES if name not in ("older", "unreadable")]
)
def test_damage(tmp_path: Path, files: list[TableFile], damage: str) -> None:
    assert look_at(tmp_path, files).damaged == ()
    assert DAMAGES[damage](tmp_path / NAMES[0], NOTHING_EARLIER)
    expected = NAMES[:2] if damage == "swapped" else NAMES[:1]
    assert look_at(tmp_path, files).damaged == expected
    assert look_deep(tmp_path, files) == expected


def test_a_time_that_is_set_back_hides_nothing(tmp_path: Path, files: list[TableFile]) -> None:
    facts = (tmp_path / NAMES[0]).stat()
    DAMAGES["flipped middle"](tmp_path / NAMES[0], NOTHING_EARLIER)
    os.utime(tmp_path / NAMES[0], ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert look_at(tmp_path, files).damaged == NAMES[:1]


def test_a_copy_is_read_once_and_has_its_own_stamps(
    tmp_path: Path, files: list[TableFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    for name in NAMES:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tmp_path / name, copy / name)
    looked = look_at(copy, files)
    assert looked.damaged == ()
    assert {file.name for file in looked.restamped} == {*NAMES}
    read: list[Path] = []
    monkeypatch.setattr(table_files, "sums_of", read.append)
    assert look_at(copy, list(looked.restamped)) == ((), ())
    assert look_at(copy, files, {(file.name, file.stamp) for file in looked.restamped}) == ((), ())
    assert read == []


def test_of_large_copies_blocks_are_read(
    tmp_path: Path, files: list[TableFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "READ_BYTES", 0)
    for name in NAMES:
        os.utime(tmp_path / name)
    assert look_at(tmp_path, files).damaged == ()
    DAMAGES["flipped middle"](tmp_path / NAMES[0], NOTHING_EARLIER)
    assert look_at(tmp_path, files).damaged == NAMES[:1]


def test_chance_finds_what_no_stamp_shows(tmp_path: Path, files: list[TableFile]) -> None:
    """As of a disk that forgets: the stamp is the one that is known."""
    assert look_by_chance(tmp_path, files, Random(1)) == ()
    DAMAGES["flipped middle"](tmp_path / NAMES[0], NOTHING_EARLIER)
    forgotten = [file._replace(stamp=stamp_of(tmp_path / file.name)) for file in files]
    assert look_at(tmp_path, forgotten).damaged == ()
    found = [look_by_chance(tmp_path, forgotten, Random(seed)) for seed in range(200)]
    assert set(found) == {(), NAMES[:1]}
    assert look_deep(tmp_path, forgotten) == NAMES[:1]


@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES, 3 * BLOCK_BYTES + 5])
@pytest.mark.parametrize("now", [0, 7, 2 * BLOCK_BYTES, 3 * BLOCK_BYTES + 5, 5 * BLOCK_BYTES])
def test_sums_are_renewed_by_the_pages_that_were_written(
    tmp_path: Path, size: int, now: int
) -> None:
    place, page = tmp_path / "file", 4096
    content = Random(2).randbytes(max(size, now))
    place.write_bytes(content[:size])
    before = sums_of(place)
    changed = bytearray(content[:now])
    pages = {1, 600} if now > 600 * page else set()
    for number in pages:
        changed[(number - 1) * page] ^= 1
    place.write_bytes(bytes(changed))
    assert renewed(place, before, pages, page) == sums_of(place)
