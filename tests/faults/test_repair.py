"""Damage in a running server, kills while an index is replaced, indexes from before checksums."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from asterism.config.settings import Settings
from asterism.engine.doctor.machine import Finding, Severity
from asterism.engine.doctor.report import deep_findings
from asterism.engine.search import SearchRequest
from asterism.indexing.report import Listener, Progress, SyncStage
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.table_files import stamp_of
from asterism.telemetry.notices import taken
from asterism.types.errors import IndexCorrupt, IndexMissing
from asterism.types.index import Staleness
from tests.faults.damage import NOTHING_EARLIER, apply, bit_flipped, every_file, in_table, table_of
from tests.faults.test_damaged_files import hits
from tests.faults.whole_index import violations
from tests.faults.workplace import ROOT, Workplace, workplace
from tests.store.spoiling import change_catalogue, make_version_2

# Dies at the n-th time that a file of the index gets another name or goes.
_KILLED = """
import os, sys
from pathlib import Path
from tests.faults.workplace import Workplace

home, last = Path(sys.argv[1]), int(sys.argv[2])
seen = 0

def hear(event, arguments):
    global seen
    if event in ("os.rename", "os.remove", "shutil.rmtree") and "projects" in str(arguments[0]):
        seen += 1
        if seen == last:
            os._exit(9)

place = Workplace(home)
place.registered()
sys.addaudithook(hear)
place.index(force=True)
"""
NEEDED = 40
"""More steps than a replacement takes: with so many it comes to its end."""


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    made = workplace(tmp_path)
    made.index()
    return made


@pytest.mark.parametrize("last", [1, 2, 3, 4, 5, 6, 7, 8, 10, NEEDED])
def test_a_kill_leaves_the_old_index_or_the_new_one(place: Workplace, last: int) -> None:
    expected, directory = hits(place), place.directory
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(place.home), str(last)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        check=False,
    )
    assert killed.returncode == (0 if last == NEEDED else 9)
    assert place.engine().status(place.registered()).verdict.staleness is Staleness.equal
    assert not violations(directory)
    assert hits(place) == expected
    place.index()
    assert not (directory / "building").exists()
    assert len([*directory.glob("chunks*.lance")]) == 1
    place.check()


def test_force_does_not_read_the_old_index(place: Workplace) -> None:
    """Not one file of the old table is opened; it could wait for ever for a disk that fails."""
    for file in [*every_file(place.directory / "chunks.lance")]:
        file.unlink()
        os.mkfifo(file)
    assert place.index(force=True).rebuilt
    assert not (place.directory / "chunks.lance").exists()
    place.check()


def test_a_forced_build_that_is_stopped_leaves_the_old_index(place: Workplace) -> None:
    expected = hits(place)
    report = place.index(Listener(stop=lambda: True), force=True)
    assert (report.cancelled, "the index is what it was before" in report.sentence) == (True, True)
    assert hits(place) == expected
    assert {path.name for path in place.directory.glob("chunks*")} == {"chunks.lance"}


def test_a_build_beside_is_seen_and_can_be_cancelled(place: Workplace) -> None:
    asked: list[tuple[bool, bool]] = []

    def hear(progress: Progress) -> None:
        if progress.stage is SyncStage.writing and not asked:
            other = place.engine()
            registered = place.registered()
            asked.append((other.status(registered).running, other.cancel(registered)))

    place.index(Listener(hear), force=True)
    assert asked == [(True, True)]


def test_damage_while_a_server_runs(place: Workplace) -> None:
    """What it has in memory stays; what it would read from disk must not change an answer."""
    engine, registered = place.engine(), place.registered()
    request = SearchRequest(text="adds up the total of f1")
    before = [kept.hit.chunk for kept in engine.search(registered, request).selection.kept]
    file = in_table("data/*.lance")(place.data, place.home)
    assert file is not None
    facts = file.stat()
    assert bit_flipped(0.5)(file, NOTHING_EARLIER)
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    with pytest.raises(IndexCorrupt, match="1 file: data/"):
        engine.search(registered, request)
    status = engine.status(registered).verdict
    assert (status.staleness, "1 file: data/" in status.message) == (Staleness.corrupt, True)
    (warning,) = engine.index(registered).warnings
    assert warning.endswith("It was built again from the files of the repository.")
    after = [kept.hit.chunk for kept in engine.search(registered, request).selection.kept]
    assert after == before
    engine.close()


def test_another_process_replaces_the_index_while_a_server_runs(place: Workplace) -> None:
    engine, registered = place.engine(), place.registered()
    request = SearchRequest(text="adds up the total of f1")
    before = [kept.hit.chunk for kept in engine.search(registered, request).selection.kept]
    place.index(force=True)
    after = [kept.hit.chunk for kept in engine.search(registered, request).selection.kept]
    assert after == before
    engine.close()


def test_an_index_of_version_2_answers_and_gains_checksums(place: Workplace) -> None:
    expected = hits(place)
    make_version_2(place.directory)
    assert place.engine().status(place.registered()).verdict.staleness is not Staleness.schema
    assert hits(place) == expected
    with Catalogue.open(place.directory) as catalogue:
        assert catalogue.manifest().schema_version == 3
        assert {file.name.partition("/")[0] for file in catalogue.table.files()} >= {
            "data",
            "_versions",
            "_indices",
        }
        states = catalogue.files("repository").values()
    assert all(state.ctime_ns for state in states)
    assert apply("data", "flipped middle", place.data, place.home) is not None
    with pytest.raises(IndexCorrupt):
        hits(place)
    place.index()
    place.check()


def test_equal_size_and_time_hide_no_edit(place: Workplace) -> None:
    file = place.root / "py/a/m0.py"
    moment = file.stat().st_mtime_ns - 10**13
    os.utime(file, ns=(moment, moment))
    place.index()
    text = file.read_text()
    file.write_text(text.replace("10", "99"))
    os.utime(file, ns=(moment, moment))
    assert file.stat().st_size == len(text.encode())
    assert place.index().changed == 1
    place.check()


def test_another_change_time_alone_is_a_look_and_no_parsing(place: Workplace) -> None:
    """As after a hard link, a changed permission, a restored copy."""
    for file in (place.root / "py").rglob("*.py"):
        os.utime(file, ns=(10**18, 10**18))
    place.index()
    (place.root / "py/a/m0.py").chmod(0o640)
    os.link(place.root / "py/b/m1.py", place.home / "link")
    report = place.index()
    assert (report.parsed, report.did_something) == (0, False)
    assert report.touched >= 2


def test_a_killed_copying_of_the_log_is_looked_through(place: Workplace) -> None:
    """Its sums say that a process that is gone was writing: then SQLite's own check must do."""
    sums = place.directory / "catalogue.sums"
    expected = hits(place)
    script = (
        "import sys; from pathlib import Path;"
        "from asterism.store.catalogue import sums as c;"
        "from asterism.store.table_files import stamp_of;"
        "d = Path(sys.argv[1]); c.announce(d, stamp_of(d / 'catalogue.sqlite'))"
    )
    subprocess.run([sys.executable, "-c", script, str(place.directory)], check=True)
    announced = sums.read_bytes()
    assert hits(place) == expected
    assert sums.read_bytes() != announced
    sums.write_bytes(announced)
    assert apply("catalogue", "zeroed middle", place.data, place.home) is not None
    with pytest.raises(IndexCorrupt):
        hits(place)
    place.index()
    place.check()


def deep(place: Workplace) -> list[Finding]:
    found = [*deep_findings(place.data, Settings())]
    return [finding for finding in found if "cache" not in finding.check]


def test_deep_finds_what_no_stamp_shows(place: Workplace) -> None:
    """A disk that forgets changes bytes and no times."""
    whole, chats = deep(place)
    assert (whole.verdict, chats.verdict) == (Severity.ok, Severity.ok)
    assert "every byte of" in whole.message
    table = table_of(place.data)
    assert table is not None
    (name,) = (file.name for file in (table / "data").iterdir())
    bit_flipped(0.9)(table / "data" / name, NOTHING_EARLIER)
    with Catalogue.open(place.directory, writable=True) as catalogue:
        files = [file for file in catalogue.table.files() if file.name == f"data/{name}"]
        catalogue.table.restamp(file._replace(stamp=stamp_of(table / file.name)) for file in files)
    assert place.engine().status(place.registered()).verdict.staleness is Staleness.equal
    damaged, _ = deep(place)
    assert damaged.verdict is Severity.problem
    assert f"1 file: data/{name}" in damaged.message
    command = f"asterism index --force {place.root}"
    assert damaged.advice == f"Run `{command}`: it is built again from the files."
    # Nothing less does it.
    place.index()
    assert deep(place)[0].verdict is Severity.problem
    place.index(force=True)
    assert deep(place)[0].verdict is Severity.ok
    place.check()


def test_deep_compares_the_catalogue_with_the_chunks(place: Workplace) -> None:
    change_catalogue(place.directory, "DELETE FROM chunks WHERE n = 0")
    finding, _ = deep(place)
    assert (finding.verdict, "its catalogue names" in finding.message) == (
        Severity.problem,
        True,
    )


def test_deep_by_command(place: Workplace) -> None:
    said = place.run("doctor", "--deep")
    assert ("every byte of" in said.out, "Traceback" in said.err) == (True, False)
    assert apply("catalogue", "flipped middle", place.data, place.home) is not None
    said = place.run("doctor", "--deep")
    assert (said.code, said.out.count("was changed by something else")) == (1, 1)
    assert f"Run `asterism index {place.root}`." in " ".join(said.out.split())
    assert "--force" not in said.out
    place.index()
    assert place.run("doctor", "--deep").code == 0


def test_a_lost_list_of_repositories_comes_back(place: Workplace) -> None:
    expected, registered = hits(place), place.registered()
    (place.data / "registry.sqlite").unlink()
    taken()
    assert place.engine().registry.repositories() == [registered]
    (said,) = taken()
    assert "was missing; it was made again from the directories of 1 project." in said
    assert hits(place) == expected


def test_a_list_that_is_lost_with_the_copies_comes_back_by_the_indexes(place: Workplace) -> None:
    registered = place.registered()
    (place.directory / "project.json").write_text("nonsense")
    (place.data / "registry.sqlite").write_bytes(b"nonsense" * 100)
    assert place.engine().registry.repositories() == [registered]
    assert not place.index().did_something


def test_a_list_of_version_1_is_changed_in_place(place: Workplace) -> None:
    registered = place.registered()
    (place.directory / "project.json").unlink()
    connection = sqlite3.connect(place.data / "registry.sqlite", isolation_level=None)
    connection.execute("DROP TABLE checks")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert place.engine().registry.repositories() == [registered]
    assert place.registered() == registered
    assert (place.directory / "project.json").exists()
    assert apply("registry", "flipped tail", place.data, place.home) is not None
    assert place.engine().registry.repositories() == [registered]


def test_removing_a_repository_leaves_no_copy(place: Workplace) -> None:
    engine = place.engine()
    engine.remove(place.registered())
    (place.data / "registry.sqlite").unlink()
    assert engine.registry.repositories() == []


@pytest.mark.parametrize(
    ("job", "why"),
    [
        ("state = 'running', pid = 1073741824", "was interrupted after 3 of 14 files"),
        ("state = 'cancelled'", "was stopped after 3 of 14 files"),
        (
            "state = 'failed', sentence = 'The disk is full.'",
            "failed after 3 of 14 files (The disk",
        ),
    ],
)
def test_a_first_build_that_did_not_finish(place: Workplace, job: str, why: str) -> None:
    change_catalogue(
        place.directory,
        f"UPDATE jobs SET files_done = 3, files_total = 14, {job}",
        "UPDATE facts SET value = 0 WHERE key = 'chunks_version'",
        "UPDATE repositories SET options_hash = 'another'",
    )
    with pytest.raises(IndexMissing, match="The first build of the index") as caught:
        hits(place)
    assert why in str(caught.value)
    assert f"run `asterism index {place.root}` to go on" in str(caught.value)


def test_clean_says_what_is_damaged_and_goes_on(place: Workplace) -> None:
    assert apply("data", "half", place.data, place.home) is not None
    shutil.copytree(place.directory / "chunks.lance", place.directory / "chunks-left.lance")
    cleaning = place.engine().clean()
    (said,) = cleaning.left_alone
    assert ("1 file: data/" in said, "disk is full" in said) == (True, False)
    place.index()
    assert not (place.directory / "chunks-left.lance").exists()
    place.check()
