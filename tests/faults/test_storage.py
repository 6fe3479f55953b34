"""Disks that are full or read-only, files that refuse or vanish, clocks that go backwards."""

import os
import sys
import time
from pathlib import Path

import pytest

from asterism.indexing.report import Listener, Progress, SyncStage
from tests.faults.generated_repository import files_of
from tests.faults.privileges import on_read_only_disk, on_small_disk, permissions_count
from tests.faults.whole_index import violations
from tests.faults.workplace import Workplace, workplace
from tests.store.spoiling import change_catalogue

_FAR_NS = 4_000_000_000 * 10**9

# Sets the greatest size of a file, then becomes the command that follows.
_LIMITED = (
    "import os, resource, sys; size = int(sys.argv[1]) * 1024;"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)); os.execvp(sys.argv[2], sys.argv[2:])"
)


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return workplace(tmp_path)


def rewrite_everything(place: Workplace) -> None:
    for file in files_of(place.root):
        file.write_text(file.read_text().replace("total", "sum"), encoding="utf-8")


# Enough for the registry and not the catalogue; for the catalogue's log and not the chunk table.
@pytest.mark.parametrize(
    ("kilobytes", "reason"),
    [(40, "check the free space"), (64, "larger than this system allows")],
)
def test_files_that_may_not_grow(tmp_path: Path, kilobytes: int, reason: str) -> None:
    place = workplace(tmp_path, 60)
    place.index()
    rewrite_everything(place)
    failed = place.run("index", through=[sys.executable, "-c", _LIMITED, str(kilobytes)])
    assert (failed.code, "Traceback" in failed.err) == (2, False)
    assert reason in failed.err
    assert not violations(place.directory)
    assert place.index().did_something
    place.check()


def test_a_file_whose_last_piece_does_not_fit(tmp_path: Path) -> None:
    """The chunk table's library keeps silent about that, and the rows would be lost."""
    known = workplace(tmp_path / "known", 60)
    assert known.run("index").code == 0
    files = known.directory.glob("chunks.lance/data/*")
    limit = max(file.stat().st_size for file in files) // 1024 - 6
    place = workplace(tmp_path / "limited", 60)
    failed = place.run("index", through=[sys.executable, "-c", _LIMITED, str(limit)])
    assert (failed.code, "Traceback" in failed.err) == (2, False), failed
    assert not violations(place.directory)
    assert place.index().did_something
    place.check()


# Full while the catalogue is made, while the chunk table is written, and when the table is there
# and the catalogue is not.
@pytest.mark.parametrize("kilobytes", [300, 440, 820])
def test_a_full_disk(tmp_path: Path, kilobytes: int) -> None:
    place = workplace(tmp_path, 60)
    place.data.mkdir()
    failed = place.run("index", through=on_small_disk(place.data, kilobytes))
    assert (failed.code, "Traceback" in failed.err) == (2, False), failed
    assert "the disk is full" in failed.err
    assert "free" in failed.err
    place.data.rmdir()
    Path(f"{place.data}.left").rename(place.data)
    if (place.directory / "catalogue.sqlite").exists():
        assert not violations(place.directory)
    assert place.index().did_something
    place.check()


def test_a_data_directory_without_permission(place: Workplace) -> None:
    through = permissions_count()
    place.data.mkdir(mode=0o500)
    failed = place.run("index", through=through)
    assert (failed.code, "Traceback" in failed.err) == (2, False), failed
    assert str(place.data) in failed.err
    assert "fix the permissions" in failed.err


def test_an_index_without_permission(place: Workplace) -> None:
    through = permissions_count()
    place.index()
    rewrite_everything(place)
    mode = place.directory.stat().st_mode
    places = [place.directory, *(path for path in place.directory.rglob("*"))]
    for path in places:
        path.chmod(0o500 if path.is_dir() else 0o400)
    failed = place.run("index", through=through)
    read = place.run("status", through=through)
    for path in places:
        path.chmod(mode if path.is_dir() else 0o600)
    assert (failed.code, "Traceback" in failed.err) == (2, False), failed
    assert "permission" in failed.err.lower()
    assert (read.code, "files are behind" in read.out) == (1, True), read
    place.index()
    place.check()


def test_a_repository_that_cannot_be_written(place: Workplace) -> None:
    before = listing(place.root)
    done = place.run("index", through=on_read_only_disk(place.root))
    assert done.code == 0, done.err
    assert listing(place.root) == before
    place.check()


def test_indexing_writes_nothing_into_the_repository(place: Workplace) -> None:
    before = listing(place.root)
    place.index()
    assert listing(place.root) == before


def listing(root: Path) -> list[tuple[str, int, int]]:
    """Every name with its time and size, directories included."""
    facts = [(path, path.lstat()) for path in sorted([root, *root.rglob("*")])]
    return [(str(path), fact.st_mtime_ns, fact.st_size) for path, fact in facts]


def test_an_unreadable_file(place: Workplace) -> None:
    through = permissions_count()
    (place.root / "py/a/m0.py").chmod(0)
    done = place.run("index", through=through)
    assert done.code == 0, done.err
    assert "Left out: 1 unreadable" in done.out
    (place.root / "py/a/m0.py").chmod(0o600)
    assert place.index().added == 1
    place.check()


def test_files_that_vanish_between_listing_and_reading(tmp_path: Path) -> None:
    place = workplace(tmp_path, 60)
    place.index()
    vanished: list[str] = []

    def vanish(progress: Progress) -> None:
        # The first packet is read, the others are not.
        if progress.stage is SyncStage.reading and not vanished:
            for file in sorted((place.root / "ts").rglob("*.ts")):
                file.unlink()
                vanished.append(file.name)

    rewrite_everything(place)
    report = place.index(Listener(vanish))
    assert len(vanished) > 5
    assert report.removed == len(vanished)
    assert not place.index().did_something
    place.check()


def test_links_that_lead_in_circles(place: Workplace) -> None:
    files = place.index().files
    (place.root / "again").symlink_to(place.root)
    (place.root / "py" / "up").symlink_to("..")
    (place.root / "one").symlink_to("two")
    (place.root / "two").symlink_to("one")
    (place.root / "nowhere.py").symlink_to("gone.py")
    report = place.index()
    assert (report.files, report.did_something) == (files, False)
    place.check()


def test_times_in_the_future_hide_no_edit(place: Workplace) -> None:
    file = place.root / "py/a/m0.py"
    os.utime(file, ns=(_FAR_NS, _FAR_NS))
    place.index()
    file.write_text(file.read_text().replace("10", "99"))
    os.utime(file, ns=(_FAR_NS, _FAR_NS))
    assert place.index().changed == 1
    place.check()


def test_a_clock_that_was_ahead_hides_no_edit(place: Workplace) -> None:
    place.index()
    change_catalogue(place.directory, f"UPDATE files SET scanned_ns = {_FAR_NS}")
    file = place.root / "py/a/m0.py"
    file.write_text(file.read_text().replace("10", "99"))
    moment = time.time_ns() - 10**13
    os.utime(file, ns=(moment, moment))
    assert place.index().changed == 1
    place.check()


@pytest.mark.parametrize("command", [["status"], ["symbols", "total"], ["index"], ["repos"]])
def test_an_index_that_may_not_be_read(place: Workplace, command: list[str]) -> None:
    through = permissions_count()
    place.index()
    place.directory.chmod(0)
    try:
        done = place.run(*command, through=through)
    finally:
        place.directory.chmod(0o700)
    assert "Traceback" not in done.err
    assert "damaged" not in done.out + done.err
    if command == ["repos"]:
        assert done.code == 0
    elif command == ["status"]:
        assert (done.code, "permissions" in done.out) == (2, True), done
    else:
        assert (done.code, "permissions" in done.err) == (2, True), done


def test_a_directory_that_may_not_be_read_is_not_registered(place: Workplace) -> None:
    through = permissions_count()
    place.root.chmod(0)
    try:
        done = place.run("index", str(place.root), through=through)
    finally:
        place.root.chmod(0o700)
    assert (done.code, done.out) == (2, "")
    assert "cannot be read (Permission denied); check the path" in done.err
    assert "No repositories yet" in place.run("repos").out
