"""Does a catalogue that cannot be used say why, and what to do?"""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from asterism.store import database
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import SCHEMA_VERSION
from asterism.types.errors import (
    IndexBusy,
    IndexCorrupt,
    IndexTooNew,
    StorageFailed,
    StoreError,
)
from asterism.types.index import SymbolQuery
from tests.store.catalogue_samples import (
    MANIFEST,
    commit,
    definition,
    new_catalogue,
    update,
    usage,
)
from tests.store.spoiling import change_catalogue


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A catalogue of some hundred pages."""
    with new_catalogue(tmp_path) as catalogue:
        for n in range(40):
            path = f"m{n}.py"
            used = (usage(path, f"name{k}", k) for k in range(300))
            commit(catalogue, update(path, definition(path, f"f{n}"), *used, chunks=20))
    return tmp_path


def _everything(directory: Path) -> None:
    """Read every table."""
    with Catalogue.open(directory) as catalogue:
        catalogue.manifest()
        catalogue.statistics()
        for n in range(40):
            catalogue.chunk_keys("shop", f"m{n}.py")
            catalogue.links("shop", f"m{n}.py")
            catalogue.find_symbols(SymbolQuery(f"f{n}"))
        for n in range(300):
            catalogue.find_symbols(SymbolQuery(f"name{n}"))


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _cut_inside_header(content: bytes) -> bytes:
    return content[:40]


def _garbage_header(content: bytes) -> bytes:
    return b"what is this?".ljust(100, b"!") + content[100:]


def _zeros_in_the_middle(content: bytes) -> bytes:
    third = len(content) // 3
    return content[:third] + bytes(third) + content[2 * third :]


def _empty(content: bytes) -> bytes:
    return content[:0]


@pytest.mark.parametrize(
    "damage", [_cut, _cut_inside_header, _garbage_header, _zeros_in_the_middle, _empty]
)
def test_a_damaged_file(directory: Path, damage: Callable[[bytes], bytes]) -> None:
    _everything(directory)
    path = directory / "catalogue.sqlite"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(IndexCorrupt) as caught:
        _everything(directory)
    assert str(directory) in str(caught.value)
    assert "is damaged" in str(caught.value)
    assert "to build it again" in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE usages",
        "DELETE FROM facts",
        "DELETE FROM facts WHERE key = 'model_provider'",
        "PRAGMA application_id = 7",
        "UPDATE usages SET places = '[[1,'",
        "UPDATE files SET language = CAST(x'ff' AS TEXT)",
        "ALTER TABLE files RENAME COLUMN problems TO troubles",
    ],
)
def test_a_file_that_another_program_changed(directory: Path, change: str) -> None:
    _change(directory, change)
    with pytest.raises(IndexCorrupt, match="is damaged"):
        _everything(directory)


def test_a_newer_schema(directory: Path) -> None:
    _change(directory, f"PRAGMA user_version = {SCHEMA_VERSION + 3}")
    for writable in (False, True):
        with pytest.raises(IndexTooNew) as caught:
            Catalogue.open(directory, writable)
        assert f"schema {SCHEMA_VERSION + 3}" in str(caught.value)
        assert f"schema {SCHEMA_VERSION}" in str(caught.value)
        assert "--force" in str(caught.value)


def test_an_older_schema_opens_for_reading_only(tmp_path: Path) -> None:
    old = MANIFEST._replace(schema_version=1)
    with new_catalogue(tmp_path) as catalogue:
        catalogue.set_manifest(old)
    with Catalogue.open(tmp_path) as catalogue:
        assert catalogue.manifest() == old
    with pytest.raises(StoreError, match="can be read but not changed"):
        Catalogue.open(tmp_path, writable=True)


def test_a_full_disk(directory: Path) -> None:
    with Catalogue.open(directory, writable=True) as catalogue:
        # The limit of pages simulates a full disk.
        catalogue._database.run("PRAGMA max_page_count = 1")
        big = [usage("new.py", f"word{n}" * 20, n) for n in range(3000)]
        with pytest.raises(StorageFailed, match="disk is full"):
            commit(catalogue, update("new.py", *big))
        assert "new.py" not in catalogue.files("shop")


def test_a_reader_cannot_write(directory: Path) -> None:
    with Catalogue.open(directory) as catalogue, pytest.raises(StorageFailed, match="written"):
        commit(catalogue, update("new.py"))


def test_another_process_writes_for_too_long(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.0)
    other = sqlite3.connect(directory / "catalogue.sqlite", isolation_level=None)
    with Catalogue.open(directory, writable=True) as catalogue:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(IndexBusy, match="Another process"):
            commit(catalogue, update("new.py"))
        assert len(catalogue.files("shop")) == 40
    other.close()


def test_a_directory_that_may_not_be_written(directory: Path) -> None:
    """A log that cannot be made must not keep readers out; the superuser may always write."""
    (directory / "catalogue.sqlite").chmod(0o444)
    directory.chmod(0o555)
    if os.getuid() == 0:
        # The reader gives the superuser's rights up, and has to get here all the same.
        for parent in directory.parents[:3]:
            parent.chmod(parent.stat().st_mode | 0o055)
    read = (
        "import os, sys; from pathlib import Path; "
        "from asterism.store.catalogue.catalogue import Catalogue; "
        "os.getuid() or os.setuid(65534); "
        "print(len(Catalogue.open(Path(sys.argv[1])).files('shop')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", read, str(directory)], capture_output=True, text=True, check=False
    )
    directory.chmod(0o755)
    assert (done.stdout.strip(), done.stderr) == ("40", "")
    names = sorted(path.name for path in directory.iterdir())
    assert names == ["catalogue.lock", "catalogue.sqlite", "catalogue.sums"]


def _change(directory: Path, statement: str) -> None:
    change_catalogue(directory, statement)
