"""What only a table on disk can get wrong: damage, killed writers, indexes, old versions."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asterism.store.chunk_table import ChunkKey, Matrix, MemoryLimits
from asterism.store.lance.process import translated
from asterism.store.lance.snapshot import LanceSnapshot
from asterism.store.lance.table import FILE_NAME, LanceTable
from asterism.store.lance.upkeep import versions
from asterism.types.errors import IndexBusy, IndexCorrupt, IndexMissing, StorageFailed
from asterism.types.index import Entry
from asterism.types.search import Filter
from tests.store.chunk_samples import DIMENSIONS, chunk, entry, units

LARGE, WIDE = 12_000, 16
INDEXED = MemoryLimits(matrix_bytes=10_000 * WIDE * 4)
"""With these a table of that size has an index of its vectors."""


def large_rows(count: int, version: int = 1, start: int = 0) -> list[Entry]:
    return [
        entry(
            chunk(f"f{number // 20}.py", f"n{number}", language="go" if number % 50 == 0 else "c"),
            version,
            terms=f"all t{number % 97}",
            name_terms=f"n{number}",
        )
        for number in range(start, start + count)
    ]


@pytest.fixture(scope="module")
def large_template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Matrix]:
    directory = tmp_path_factory.mktemp("large")
    table = LanceTable.create(directory, WIDE, INDEXED)
    vectors = units(LARGE, dimensions=WIDE)
    table.append(large_rows(LARGE), vectors)
    table.maintain()
    return directory, vectors


@pytest.fixture
def large(large_template: tuple[Path, Matrix], tmp_path: Path) -> tuple[LanceTable, Matrix]:
    shutil.copytree(large_template[0], tmp_path / "copy")
    return LanceTable.open(tmp_path / "copy", limits=INDEXED), large_template[1]


def truth(vectors: Matrix, query: Matrix, count: int) -> list[float]:
    return sorted((2 - 2 * vectors @ query).tolist())[:count]


def test_index_and_exact_search_agree(large: tuple[LanceTable, Matrix]) -> None:
    table, vectors = large
    now = table.snapshot()
    for query in units(5, seed=9, dimensions=WIDE):
        found = [match.score for match in now.nearest(query, 20)]
        assert found == pytest.approx(truth(vectors, query, 20), abs=1e-5)
        scope = [match.score for match in now.nearest(query, 20, Filter(languages=("go",)))]
        assert scope == pytest.approx(truth(vectors[::50], query, 20), abs=1e-5)
        wide = [match.score for match in now.nearest(query, 20, Filter(languages=("c", "go")))]
        assert wide == pytest.approx(found, abs=1e-6)


def test_indexes_answer_right_after_a_restore(large: tuple[LanceTable, Matrix]) -> None:
    table, vectors = large
    late = units(900, seed=5, dimensions=WIDE)
    table.append(large_rows(300, 2, LARGE), late[:300])
    table.maintain()
    committed = table.version
    table.append(large_rows(600, 3, LARGE + 300), late[300:])
    table.maintain()
    table.delete([1])
    table.maintain(thorough=True)
    assert table.snapshot().count() == 900
    table.restore(committed)
    now = LanceTable.open(table.path.parent, limits=INDEXED).snapshot()
    assert now.count() == LARGE + 300
    everything = np.concatenate([vectors, late[:300]])
    for query in (vectors[17], late[5], late[500]):
        found = [match.score for match in now.nearest(query, 10)]
        assert found == pytest.approx(truth(everything, query, 10), abs=1e-5)
    assert len(now.matching(["t5"], 1_000)) == len([n for n in range(LARGE + 300) if n % 97 == 5])
    for number, count in ((17, 1), (LARGE + 7, 1), (LARGE + 400, 0)):
        assert len(now.matching([f"n{number}"], 5)) == count
    # Work goes on from there as if the other versions had never been.
    table.append(large_rows(500, 4, LARGE + 300), late[:500])
    table.delete([2])
    table.maintain()
    after = table.snapshot()
    assert after.count() == LARGE + 500
    assert len(after.matching(["all"], 20_000)) == LARGE + 500
    assert len(after.matching([f"n{LARGE + 7}"], 5)) == 0
    assert len(after.matching([f"n{LARGE + 400}"], 5)) == 1


def test_writers_in_turn_see_what_the_other_wrote(tmp_path: Path) -> None:
    LanceTable.create(tmp_path, DIMENSIONS)
    first, second = LanceTable.open(tmp_path), LanceTable.open(tmp_path)
    for number in range(0, 12, 2):
        first.append([entry(chunk(name=f"n{number}"), number)], units(1))
        second.append([entry(chunk(name=f"n{number + 1}"), number + 1)], units(1))
        first.maintain(thorough=True)
        second.maintain(thorough=True)
        second.delete([number])
    first.delete([9, 11])
    assert {row.name for row in second.snapshot().scan()} == {"n1", "n3", "n5", "n7"}
    assert second.snapshot().count() == 4
    first.restore(first.version)
    first.reset(7)
    second.append([entry(chunk(name="wide"))], units(1, dimensions=7))
    assert [row.name for row in first.snapshot().scan()] == ["wide"]


def test_updates_do_not_pile_up(tmp_path: Path) -> None:
    table = LanceTable.create(tmp_path, DIMENSIONS)
    expected = set()
    for number in range(60):
        rows = [entry(chunk(f"f{number % 9}.py", f"n{place}"), number, "w") for place in range(9)]
        table.append(rows, units(9, seed=number))
        table.delete([number - 9])
        table.maintain()
        expected = {f"f{number % 9}.py" for number in range(max(0, number - 8), number + 1)}
    now = table.snapshot()
    assert {row.relative_path for row in now.scan()} == expected
    assert now.count() == len(now.matching(["w"], 500)) == 81
    assert table.fragments() < 12
    table.maintain(thorough=True)
    version = table.version
    table.maintain(thorough=True)
    assert table.version == version, "nothing was left to do"
    assert table.fragments() == 1


def data_files(directory: Path) -> set[str]:
    return {path.name for path in (directory / FILE_NAME / "data").iterdir()}


def test_young_versions_stay_and_leftovers_go(tmp_path: Path) -> None:
    table = LanceTable.create(tmp_path, DIMENSIONS)
    counts = {}
    for number in range(70):
        table.append([entry(chunk(name=f"n{number}"), number)], units(1))
        counts[table.version] = number + 1
    table.delete(list(range(35)))
    leftover = tmp_path / FILE_NAME / "data" / "killed.lance"
    leftover.write_bytes(b"half")
    table.maintain(thorough=True)
    assert not leftover.exists()
    assert {version: table.snapshot(version).count() for version in counts} == counts
    assert len(list(table.snapshot(min(counts)).scan())) == 1

    now = list(table.snapshot().scan())
    forgetful = LanceTable.open(tmp_path, keep_seconds=-1.0)
    reading = forgetful.snapshot(max(counts))
    forgetful.maintain()
    assert reading.count() == 70, "this process still reads it"
    with pytest.raises(IndexCorrupt):
        LanceTable.open(tmp_path).snapshot(min(counts))
    assert list(LanceTable.open(tmp_path).snapshot().scan()) == now


def test_a_version_stays_an_hour_after_it_was_replaced(tmp_path: Path) -> None:
    table = LanceTable.create(tmp_path, DIMENSIONS)
    for number in range(4):
        table.append([entry(chunk(name=f"n{number}"), number)], units(1))
    newest = table.version
    for manifest in (tmp_path / FILE_NAME / "_versions").glob("*.manifest"):
        age = 7_200 if 2**64 - 1 - int(manifest.stem) < newest else 0
        when = manifest.stat().st_mtime - age
        os.utime(manifest, (when, when))
    table.maintain(thorough=True)
    fresh = LanceTable.open(tmp_path)
    assert fresh.snapshot(newest - 1).count() == 3, "read until a moment ago, though long written"
    with pytest.raises(IndexCorrupt):
        fresh.snapshot(newest - 2)


WRITER = """
import sys
from pathlib import Path
from asterism.store.lance.upkeep import versions
from asterism.store.lance.table import LanceTable
from tests.store.chunk_samples import chunk, entry, units
table = LanceTable.open(Path(sys.argv[1]))
number = 100
print("ready", flush=True)
while True:
    rows = [entry(chunk(f"f{number}.py", f"n{place}"), number, "all") for place in range(400)]
    table.append(rows, units(400))
    print("appended", flush=True)
    if sys.argv[2] == "between":
        sys.stdin.read()
    table.delete([1, number - 1])
    table.maintain(thorough=number % 3 == 0)
    number += 1
"""


@pytest.mark.parametrize("moment", ["between", "0", "0.01", "0.04", "0.15"])
def test_killed_writers_leave_what_was_committed(tmp_path: Path, moment: str) -> None:
    table = LanceTable.create(tmp_path, DIMENSIONS)
    rows = [entry(chunk(name=f"n{number}"), number % 3, "all") for number in range(60)]
    table.append(rows, units(60))
    table.maintain()
    committed, expected = table.version, list(table.snapshot().scan())
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path), moment],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        if moment == "between":
            writer.stdout.readline()
        else:
            # However far it has come by then, the outcome is the same.
            with pytest.raises(subprocess.TimeoutExpired):
                writer.wait(float(moment))
        writer.kill()
    again = LanceTable.open(tmp_path)
    if moment == "between":
        assert again.version > committed
    again.restore(committed)
    assert list(again.snapshot().scan()) == expected
    assert len(again.snapshot().matching(["all"], 1_000)) == 60
    LanceTable.open(tmp_path, keep_seconds=-1.0).maintain(thorough=True)
    dataset = LanceTable.open(tmp_path)._dataset
    referenced = {
        Path(part.path).name for piece in dataset.get_fragments() for part in piece.data_files()
    }
    assert data_files(tmp_path) == referenced
    assert list(LanceTable.open(tmp_path).snapshot().scan()) == expected


def test_large_old_versions_stay_a_minute(tmp_path: Path) -> None:
    table = LanceTable.create(tmp_path, DIMENSIONS)
    for number in range(4):
        table.append([entry(chunk(name=f"n{number}"), number)], units(1))
        table.delete([number - 1])
    newest = table.version
    for seconds, stay in ((50, {newest - 1, newest}), (20, {newest})):
        age(tmp_path, seconds)
        table.maintain()
        assert stay <= set(versions(tmp_path / FILE_NAME))
    assert newest - 1 not in versions(tmp_path / FILE_NAME)
    assert table.snapshot().count() == 1


def age(directory: Path, seconds: float) -> None:
    """Let all versions look older by some seconds."""
    for manifest in (directory / FILE_NAME / "_versions").glob("*.manifest"):
        when = manifest.stat().st_mtime - seconds
        os.utime(manifest, (when, when))


def test_what_was_never_committed_goes_at_once(tmp_path: Path) -> None:
    table = LanceTable.create(tmp_path, DIMENSIONS)
    table.append([entry(chunk(name="kept"), 1)], units(1))
    committed, before = table.version, table.size()
    for number in range(5):
        table.append([entry(chunk(name=f"n{number}", full_source="x" * 5_000), 2)], units(1))
        table.maintain(thorough=True)
    assert table.size() > 2 * before
    LanceTable.open(tmp_path).restore(committed)
    table = LanceTable.open(tmp_path)
    assert table.size() < 1.1 * before
    assert table.snapshot(committed).count() == table.snapshot().count() == 1


def test_a_missing_table_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match="asterism index"):
        LanceTable.open(tmp_path)


def damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    damaged = {"cut": content[: len(content) // 2], "zero": bytes(len(content)), "empty": b""}
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(damaged[how])


@pytest.mark.parametrize("how", ["cut", "zero", "empty", "gone"])
@pytest.mark.parametrize("part", ["_versions", "data"])
def test_damage_is_reported(tmp_path: Path, part: str, how: str) -> None:
    table = LanceTable.create(tmp_path / "made", DIMENSIONS)
    table.append([entry(chunk(name=f"n{n}"), terms="w") for n in range(50)], units(50))
    # Lance remembers what it read by its path, so the damage is done to a copy.
    shutil.copytree(tmp_path / "made", tmp_path / "copy")
    for path in (tmp_path / "copy" / FILE_NAME / part).iterdir():
        if path.suffix != ".json":
            damage(path, how)
    with pytest.raises(IndexCorrupt, match="asterism index"):
        list(LanceTable.open(tmp_path / "copy").snapshot().scan())
    LanceTable.create(tmp_path / "copy", DIMENSIONS)
    assert LanceTable.open(tmp_path / "copy").snapshot().count() == 0


FULL_DISK = """
import resource, signal, sys
from asterism.store.lance.upkeep import versions
from asterism.store.lance.table import LanceTable
from asterism.types.errors import StorageFailed
from tests.store.chunk_samples import chunk, entry, units
table = LanceTable.open(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
rows = [entry(chunk(name=f"n{n}", full_source=f"{n * n} " * 50)) for n in range(4000)]
try:
    table.append(rows, units(4000))
except StorageFailed as error:
    print(error)
"""


SMALL_FILES = """
import resource, shutil, signal, sys
from pathlib import Path
from asterism.store.lance.table import LanceTable
from asterism.types.errors import StorageFailed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
for size in range(200, 9000, 200):
    place = Path(sys.argv[1]) / f"{size}"
    shutil.copytree(Path(sys.argv[1]) / "made", place)
    table = LanceTable.open(place)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        table.maintain(thorough=True)
        said = "written"
    except StorageFailed as error:
        said = "refused"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    print(said, len(LanceTable.open(place).snapshot().matching(["all"], 1_000))
          if said == "written" else 60)
"""


def test_an_index_whose_last_piece_cannot_be_written(tmp_path: Path) -> None:
    """The table's library keeps silent about that, and the index could never be read."""
    table = LanceTable.create(tmp_path / "made", DIMENSIONS)
    rows = [entry(chunk(name=f"n{n}"), terms=f"all t{n}") for n in range(60)]
    table.append(rows, units(60))
    done = subprocess.run(
        [sys.executable, "-c", SMALL_FILES, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert (done.returncode, set(done.stdout.splitlines())) == (
        0,
        {"refused 60", "written 60"},
    ), done.stderr


def test_a_disk_that_takes_no_more_is_a_storage_failure(tmp_path: Path) -> None:
    LanceTable.create(tmp_path, DIMENSIONS)
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert "larger than this system allows" in done.stdout
    assert LanceTable.open(tmp_path).snapshot().count() == 0


def test_a_place_that_cannot_be_made_is_a_storage_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageFailed):
        LanceTable.create(tmp_path / "file", DIMENSIONS)


MESSAGES: list[tuple[Exception, type[Exception] | None, str]] = [
    (OSError("LanceError(IO): No space left on device (os error 28), /a/b.rs:1:2"), StorageFailed, "disk is full"),
    (OSError('LanceError(IO): Permission denied (os error 13) at path "/x"'), StorageFailed, "permission"),
    (ValueError("Unable to walk dir: Permission denied (os error 13)"), StorageFailed, "permission"),
    (OSError("Read-only file system (os error 30)"), StorageFailed, "read-only"),
    (OSError("Retryable commit conflict for version 4"), IndexBusy, "try again"),
    (ValueError("External error: Not found: data/1.lance, /a/b.rs:273:40"), IndexCorrupt, "index --force"),
    (ValueError("Invalid user input: file does not appear to be a Lance file"), IndexCorrupt, "--force"),
    (ValueError("Invalid user input: Schema error: No field named x"), None, ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("raised", "expected", "text"), MESSAGES, ids=lambda value: str(value)[:40]
)
def test_errors_of_lance(raised: Exception, expected: type[Exception] | None, text: str) -> None:
    mapped = translated(raised, "/data/p")
    assert type(mapped) is (expected or type(None))
    assert re.search(text, str(mapped))
    assert ".rs:" not in str(mapped)


def test_lancedb_opens_the_table(large: tuple[LanceTable, Matrix]) -> None:
    import lancedb

    table, vectors = large
    opened: Any = lancedb.connect(table.path.parent).open_table("chunks")
    (nearest,) = opened.search(vectors[3]).distance_type("cosine").limit(1).to_list()
    assert nearest["name"] == "n3"
    found = opened.search("t5", query_type="fts", fts_columns="terms").limit(500).to_list()
    assert len(found) == len([number for number in range(LARGE) if number % 97 == 5])
    assert opened.count_rows("language = 'go'") == LARGE // 50
    assert opened.schema.names[-1] == "vector"


def test_a_snapshot_is_kept_for_the_next_question(tmp_path: Path) -> None:
    table = LanceTable.create(tmp_path, DIMENSIONS)
    first: LanceSnapshot = table.snapshot()
    assert table.snapshot() is first
    table.append([entry(chunk())], units(1))
    assert table.snapshot() is not first
    assert table.snapshot().chunks([ChunkKey("harbor", chunk().id)]) == [chunk()]


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, asterism.store.lance.table; "
        "print([name for name in ('lance', 'pyarrow', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
