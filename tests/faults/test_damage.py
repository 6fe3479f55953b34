"""Damaged indexes and those of other versions: reported, and repaired by the next `index`."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from asterism.store.catalogue.schema import PAGE_SIZE
from asterism.types.errors import IndexCorrupt, IndexTooNew
from asterism.types.index import Staleness
from tests.faults.generated_repository import make_repository
from tests.faults.workplace import Workplace, workplace
from tests.store.spoiling import change_catalogue

_CATALOGUE = "catalogue.sqlite"
_TABLE = "chunks.lance"
_MENDING = "run `asterism index` to build it again"


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """An index of two generations: rows, and rows that replaced others."""
    made = workplace(tmp_path)
    made.index()
    change(made, "first", "second")
    made.index()
    return made


def change(place: Workplace, old: str, new: str) -> None:
    file = place.root / "py/a/m0.py"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def garbage(index: Path) -> None:
    (index / _CATALOGUE).write_bytes(Random(1).randbytes(20_000))


def emptied(index: Path) -> None:
    (index / _CATALOGUE).write_bytes(b"")


def cut_off(index: Path) -> None:
    file = index / _CATALOGUE
    os.truncate(file, file.stat().st_size // 2)


def zeroed(table: str) -> Callable[[Path], None]:
    """Zeroes where a table's rows begin."""

    def hurt(index: Path) -> None:
        database = sqlite3.connect(index / _CATALOGUE)
        sql = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (page,) = database.execute(sql, (table,)).fetchone()
        database.close()
        with (index / _CATALOGUE).open("r+b") as file:
            file.seek((page - 1) * PAGE_SIZE)
            file.write(bytes(PAGE_SIZE))

    return hurt


def without(*parts: str) -> Callable[[Path], None]:
    """A directory of the chunk table is gone."""
    return lambda index: shutil.rmtree(index.joinpath(_TABLE, *parts))


def without_a_data_file(index: Path) -> None:
    min((index / _TABLE / "data").iterdir()).unlink()


def newest_manifest(index: Path) -> Path:
    return min((index / _TABLE / "_versions").glob("*.manifest"))


def manifest_cut_off(index: Path) -> None:
    os.truncate(newest_manifest(index), 20)


def manifest_lost(index: Path) -> None:
    newest_manifest(index).unlink()


# What a status knows without loading the chunk table.
AT_ONCE = {
    "garbage": garbage,
    "empty": emptied,
    "cut off": cut_off,
    "zeroed files": zeroed("files"),
    "zeroed facts": zeroed("facts"),
    "no table": without(),
    "no versions": without("_versions"),
}
# What shows by checksums and lists of files.
AT_ONCE |= {
    "zeroed chunks": zeroed("chunks"),
    "zeroed links": zeroed("links"),
    "no data": without("data"),
    "a data file lost": without_a_data_file,
    "no deletions": without("_deletions"),
    "manifest cut off": manifest_cut_off,
    "manifest lost": manifest_lost,
}


@pytest.mark.parametrize("hurt", AT_ONCE.values(), ids=AT_ONCE)
def test_damage_that_is_seen_at_once(place: Workplace, hurt: Callable[[Path], None]) -> None:
    hurt(place.directory)
    judgement = place.engine().status(place.registered()).verdict
    assert judgement.staleness is Staleness.corrupt
    assert _MENDING in judgement.message
    with pytest.raises(IndexCorrupt, match=_MENDING):
        place.search("total")
    (warning,) = place.index().warnings
    assert "was built again from the files" in warning
    place.check()


@pytest.mark.parametrize("hurt", AT_ONCE.values(), ids=AT_ONCE)
def test_force_reads_nothing_of_what_is_damaged(
    place: Workplace, hurt: Callable[[Path], None]
) -> None:
    hurt(place.directory)
    assert place.index(force=True).warnings == ()
    place.check()


def test_lost_search_indexes_are_built_again(place: Workplace) -> None:
    without("_indices")(place.directory)
    place.index(force=True)
    place.check()


def test_an_index_of_a_newer_version(place: Workplace) -> None:
    change_catalogue(place.directory, "PRAGMA user_version = 99")
    before = (place.directory / _CATALOGUE).read_bytes()
    with pytest.raises(
        IndexTooNew, match=r"schema 99 .* upgrade Asterism, .*`asterism index --force`"
    ):
        place.index()
    judgement = place.engine().status(place.registered()).verdict
    assert judgement.staleness is Staleness.schema
    assert "upgrade Asterism" in judgement.message
    assert (place.directory / _CATALOGUE).read_bytes() == before
    place.index(force=True)
    place.check()


def test_a_repository_that_its_project_does_not_know_yet(place: Workplace) -> None:
    # As after a kill between the making of a catalogue and its first entry.
    other = place.home / "other"
    make_repository(other, 3)
    known = place.registered().project.name
    registered = place.engine().register(other, project=known)
    state = place.engine().status(registered)
    assert (state.verdict.staleness, state.statistics) == (Staleness.missing, None)


def test_a_table_without_a_catalogue_is_no_index(place: Workplace) -> None:
    # What is left where the removal of an index was broken off.
    for file in place.directory.glob(f"{_CATALOGUE}*"):
        file.unlink()
    assert place.engine().status(place.registered()).verdict.staleness is Staleness.missing
    place.index()
    place.check()
