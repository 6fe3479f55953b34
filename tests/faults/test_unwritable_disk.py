"""A read-only data directory and a full disk still answer: readers write nothing."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from asterism.store.catalogue.catalogue import Catalogue
from tests.faults.privileges import on_full_disk, on_read_only_disk, permissions_count
from tests.faults.workplace import Workplace, workplace

Through = Callable[[Workplace], list[str]]


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    made = workplace(tmp_path)
    made.index()
    return made


def read_only(place: Workplace) -> list[str]:
    return on_read_only_disk(place.data, standing_in=place.root)


def full(place: Workplace) -> list[str]:
    return on_full_disk(place.data)


def without_permission(place: Workplace) -> list[str]:
    through = permissions_count()
    for path in (place.data, *place.data.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    return through


WAYS: dict[str, Through] = {
    "read-only": read_only,
    "full": full,
    "without permission": without_permission,
}


def found(out: str) -> list[tuple[str, str]]:
    return [(hit["file_path"], hit["chunk_id"]) for hit in json.loads(out)["results"]]


@pytest.fixture(params=list(WAYS.values()), ids=list(WAYS))
def through(request: pytest.FixtureRequest, place: Workplace) -> Through:
    way: Through = request.param
    return way


def check(place: Workplace, through: Through) -> None:
    """What is asked there is answered as it was before, and nothing was written."""
    expected = place.run("search", "adds up the total of f1", "--json")
    assert (expected.code, bool(found(expected.out))) == (0, True), expected
    way = through(place)
    said = place.run("search", "adds up the total of f1", "--json", through=way)
    assert (said.code, "Traceback" in said.err) == (0, False), said
    assert found(said.out) == found(expected.out)


def test_a_search(place: Workplace, through: Through) -> None:
    check(place, through)


def test_a_search_behind_an_edit(place: Workplace, through: Through) -> None:
    """It answers from what there is, says what is behind and why."""
    file = place.root / "py/a/m0.py"
    file.write_text(file.read_text() + "\n\ndef new_one():\n    return 1\n")
    said = place.run("search", "adds up the total of f1", through=through(place))
    assert (said.code, "Traceback" in said.err) == (0, False), said
    assert "1 file is behind (1 changed)" in said.out + said.err
    reasons = ("read-only", "Read-only", "disk is full", "No space left", "ermission")
    assert any(reason in said.out + said.err for reason in reasons), said


def test_the_other_questions(place: Workplace, through: Through) -> None:
    way = through(place)
    for command in (["status"], ["symbols", "f1"], ["repos"], ["show", "f1"], ["doctor"]):
        said = place.run(*command, through=way)
        assert "Traceback" not in said.err, (command, said)
        assert "damaged" not in said.out + said.err, (command, said)
        if command != ["doctor"]:
            assert said.code == 0, (command, said)


def test_what_a_killed_writer_left_in_the_log(place: Workplace, through: Through) -> None:
    """The log has rows that the catalogue itself does not have yet."""
    file = place.root / "py/a/m0.py"
    file.write_text(file.read_text() + "\n\ndef new_one():\n    return 1\n")
    held = Catalogue.open(place.directory)
    with held.snapshot():
        held.manifest()
        # A reader in the way, so that what is committed now stays in the log.
        place.index()
        shutil.copytree(place.data, place.home / "killed")
    held.close()
    shutil.rmtree(place.data)
    (place.home / "killed").rename(place.data)
    for left in place.data.rglob("*-shm"):
        left.unlink()
    assert any(log.stat().st_size for log in place.data.rglob("catalogue.sqlite-wal"))
    said = place.run("symbols", "new_one", through=through(place))
    assert (said.code, "m0.py" in said.out) == (0, True), said
