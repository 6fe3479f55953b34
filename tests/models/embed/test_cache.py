"""What the embedding cache keeps, what it drops, and that nothing it meets stops its user."""

import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from asterism.models.embed.cache import FILE, CacheStatistics, EmbeddingCache, NoCache, Vector
from asterism.models.embed.cache_file import look_deep
from asterism.models.embed.provider import Matrix
from asterism.types.index import ModelIdentity

LOCAL = ModelIdentity("local", "static-1", 256)
OTHER = ModelIdentity("openai", "static-1", 256)
SMALL = ModelIdentity("local", "static-1", 8)
LIMIT = 100_000_000
DAY = 86_400


def vectors(count: int, dimensions: int = 256, seed: int = 0) -> Matrix:
    """Unit vectors, rounded to half precision as embedders do."""
    matrix = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix.astype(np.float16).astype(np.float32)


def hashes(count: int, seed: int = 0) -> list[bytes]:
    """Hashes of texts, all different."""
    return [random.Random(seed * 1_000_003 + number).randbytes(16) for number in range(count)]


def pairs(keys: list[bytes], matrix: Matrix) -> dict[bytes, Vector]:
    """A vector for each hash."""
    return dict(zip(keys, matrix, strict=True))


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[EmbeddingCache]:
    """An empty cache."""
    with EmbeddingCache(tmp_path / "cache", LIMIT) as opened:
        yield opened


@pytest.mark.parametrize("count", [1, 499, 500, 501, 1_700])
def test_vectors_come_back_bit_for_bit(cache: EmbeddingCache, count: int) -> None:
    """Whatever the number of queries they take; unknown hashes are simply not there."""
    keys, matrix = hashes(count), vectors(count)
    cache.put(LOCAL, 1, pairs(keys, matrix))
    found = cache.get(LOCAL, 1, [*hashes(3, seed=9), *keys, keys[0]])
    assert found.keys() == set(keys)
    together = np.stack([found[key] for key in keys])
    assert together.dtype == np.float32
    assert together.tobytes() == matrix.tobytes()
    assert cache.statistics()[0] == count
    assert cache.statistics()[2:] == (count, 3, LIMIT)
    assert cache.warnings == []


def test_a_later_process_finds_them(tmp_path: Path) -> None:
    """What one cache object wrote another one reads."""
    with EmbeddingCache(tmp_path, LIMIT) as first:
        first.put(LOCAL, 1, pairs(hashes(5), vectors(5)))
    with EmbeddingCache(tmp_path, LIMIT) as second:
        assert len(second.get(LOCAL, 1, hashes(5))) == 5


@pytest.mark.parametrize(("identity", "recipe"), [(OTHER, 1), (LOCAL, 2), (SMALL, 1)])
def test_another_model_or_recipe_is_another_vector(
    cache: EmbeddingCache, identity: ModelIdentity, recipe: int
) -> None:
    """Equal texts have different vectors for them, side by side."""
    mine, theirs = vectors(2), vectors(2, identity.dimensions, seed=5)
    cache.put(LOCAL, 1, pairs(hashes(2), mine))
    assert cache.get(identity, recipe, hashes(2)) == {}
    cache.put(identity, recipe, pairs(hashes(2), theirs))
    found = cache.get(identity, recipe, hashes(2))
    assert np.array_equal(found[hashes(2)[1]], theirs[1])
    assert np.array_equal(cache.get(LOCAL, 1, hashes(2))[hashes(2)[1]], mine[1])


def test_putting_twice_keeps_one(cache: EmbeddingCache) -> None:
    """Two processes may embed the same text."""
    cache.put(LOCAL, 1, pairs(hashes(4), vectors(4)))
    cache.put(LOCAL, 1, pairs(hashes(6), vectors(6)))
    assert cache.statistics().vectors == 6


@pytest.mark.parametrize("dimensions", [8, 257])
def test_vectors_of_the_wrong_size_are_a_mistake(cache: EmbeddingCache, dimensions: int) -> None:
    """A model does not make them."""
    with pytest.raises(ValueError, match=f"{dimensions} numbers, not 256"):
        cache.put(LOCAL, 1, pairs(hashes(3), vectors(3, dimensions)))
    assert cache.get(LOCAL, 1, hashes(3)) == {}


def test_nothing_is_made_before_it_is_needed(tmp_path: Path) -> None:
    """Looking at the statistics of a cache that is not there does not make one."""
    with EmbeddingCache(tmp_path / "none", LIMIT) as cache:
        assert cache.statistics() == CacheStatistics(limit=LIMIT)
        cache.clear()
        cache.put(LOCAL, 1, {})
        assert cache.get(LOCAL, 1, []) == {}
    assert list(tmp_path.iterdir()) == []


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    """Vectors tell something about the source they were made from."""
    before = os.umask(0)
    try:
        with EmbeddingCache(tmp_path / "cache", LIMIT) as cache:
            cache.put(LOCAL, 1, pairs(hashes(2), vectors(2)))
            modes = {path.name: mode(path) for path in (tmp_path / "cache").iterdir()}
    finally:
        os.umask(before)
    assert mode(tmp_path / "cache") == 0o700
    assert modes == {FILE: 0o600, f"{FILE}-wal": 0o600, f"{FILE}-shm": 0o600}


def mode(path: Path) -> int:
    """Who may read and write."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_limit_of_nothing_switches_it_off(tmp_path: Path) -> None:
    """No file, no warning, no vectors."""
    with EmbeddingCache(tmp_path / "cache", 0) as cache:
        check_keeps_nothing(cache)
    assert list(tmp_path.iterdir()) == []


def test_no_cache_keeps_nothing() -> None:
    """It is at the path of a cache."""
    with NoCache() as cache:
        check_keeps_nothing(cache)


def check_keeps_nothing(cache: EmbeddingCache | NoCache) -> None:
    """Every method answers, and nothing is found."""
    cache.put(LOCAL, 1, pairs(hashes(2), vectors(2)))
    assert cache.get(LOCAL, 1, hashes(2)) == {}
    assert cache.statistics() == CacheStatistics(misses=2)
    cache.clear()
    assert cache.warnings == []


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    """Three days of vectors, the first of them used again; the middle day is what goes."""
    now = [1_000 * DAY]
    limit = 2_000_000
    with EmbeddingCache(tmp_path, limit, clock=lambda: now[0]) as cache:
        for day in range(3):
            now[0] = (1_000 + day) * DAY
            cache.put(LOCAL, 1, pairs(hashes(900, seed=day), vectors(900, seed=day)))
        now[0] = 1_003 * DAY
        assert len(cache.get(LOCAL, 1, hashes(900, seed=0))) == 900
        assert cache.statistics().vectors == 2_700
        cache.put(LOCAL, 1, pairs(hashes(1_000, seed=3), vectors(1_000, seed=3)))
        left = [len(cache.get(LOCAL, 1, hashes(900, seed=day))) for day in range(4)]
        statistics = cache.statistics()
    assert left[0] == left[3] == 900
    assert left[1] < left[2]
    assert 0.8 * limit < statistics.bytes <= 0.9 * limit
    assert (tmp_path / FILE).stat().st_size <= limit


def test_use_is_noted_when_the_cache_closes(tmp_path: Path) -> None:
    """A process that only reads keeps its vectors alive too."""
    now = [5 * DAY]
    with EmbeddingCache(tmp_path, LIMIT, clock=lambda: now[0]) as cache:
        cache.put(LOCAL, 1, pairs(hashes(4), vectors(4)))
    now[0] = 9 * DAY
    with EmbeddingCache(tmp_path, LIMIT, clock=lambda: now[0]) as cache:
        cache.get(LOCAL, 1, hashes(2))
    assert rows(tmp_path, "SELECT used FROM vectors ORDER BY used") == [(5,), (5,), (9,), (9,)]


def rows(directory: Path, query: str) -> list[tuple[object, ...]]:
    """What the file really holds."""
    connection = sqlite3.connect(directory / FILE)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_a_lower_limit_shrinks_the_file(tmp_path: Path) -> None:
    """Space is given back to the disk, not only kept for later."""
    with EmbeddingCache(tmp_path, LIMIT) as cache:
        cache.put(LOCAL, 1, pairs(hashes(8_000), vectors(8_000)))
    assert (tmp_path / FILE).stat().st_size > 4_000_000
    with EmbeddingCache(tmp_path, 1_000_000) as cache:
        cache.put(LOCAL, 1, pairs(hashes(1, seed=1), vectors(1)))
        assert len(cache.get(LOCAL, 1, hashes(1, seed=1))) == 1
    assert (tmp_path / FILE).stat().st_size <= 1_000_000


def test_a_limit_smaller_than_an_empty_file_ends(tmp_path: Path) -> None:
    """There is nothing to keep, and nothing to wait for."""
    with EmbeddingCache(tmp_path, 10) as cache:
        cache.put(LOCAL, 1, pairs(hashes(5), vectors(5)))
        assert cache.statistics().vectors == 0


def test_clearing_forgets_and_gives_the_space_back(tmp_path: Path) -> None:
    """And the cache goes on."""
    with EmbeddingCache(tmp_path, LIMIT) as cache:
        cache.put(LOCAL, 1, pairs(hashes(3_000), vectors(3_000)))
        cache.clear()
        assert cache.get(LOCAL, 1, hashes(3_000)) == {}
        assert (tmp_path / FILE).stat().st_size < 200_000
        cache.put(LOCAL, 1, pairs(hashes(3), vectors(3)))
        assert cache.statistics().vectors == 3


def write_and_read(directory: Path, worker: int) -> None:
    """One process among several: its own vectors and shared ones, in small batches."""
    with EmbeddingCache(directory, LIMIT) as cache:
        for batch in range(10):
            for seed in (1_000 + batch, 100 * worker + batch):
                cache.put(LOCAL, 1, pairs(hashes(40, seed), vectors(40, seed=seed)))
                found = cache.get(LOCAL, 1, hashes(40, seed))
                expected = vectors(40, seed=seed)
                assert all(
                    np.array_equal(found[key], expected[place])
                    for place, key in enumerate(hashes(40, seed))
                )
        assert cache.warnings == []


def test_processes_write_and_read_at_once(tmp_path: Path) -> None:
    """All of them begin with no file at all, and no vector is lost."""
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=write_and_read, args=(tmp_path, n)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    assert rows(tmp_path, "SELECT count(*) FROM vectors") == [(10 * 40 + 4 * 10 * 40,)]
    assert {path.name for path in tmp_path.iterdir()} == {FILE}


ENDLESS = """
import sys
from itertools import count
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.models.embed.test_cache import LIMIT, LOCAL, EmbeddingCache, hashes, pairs, vectors
cache = EmbeddingCache(Path({directory!r}), LIMIT)
matrix = vectors(300)
for seed in count():
    cache.put(LOCAL, 1, pairs(hashes(300, seed), matrix))
    print(seed, flush=True)
"""
ROOT = Path(__file__).resolve().parents[3]


def test_a_killed_writer_leaves_a_cache_that_works(tmp_path: Path) -> None:
    """Every batch that was reported is there; the one under way is there whole or not at all."""
    script = ENDLESS.format(root=str(ROOT), directory=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        reported = [int(writer.stdout.readline()) for _ in range(5)]
        writer.send_signal(signal.SIGKILL)
        reported += map(int, writer.stdout.read().split())
    with EmbeddingCache(tmp_path, LIMIT) as cache:
        for seed in reported:
            assert len(cache.get(LOCAL, 1, hashes(300, seed))) == 300
        assert len(cache.get(LOCAL, 1, hashes(300, reported[-1] + 1))) in (0, 300)
        cache.put(LOCAL, 1, pairs(hashes(2, 99_999), vectors(2)))
        assert cache.warnings == []
    assert rows(tmp_path, "PRAGMA integrity_check") == [("ok",)]


def damage_nothing(path: Path) -> None:
    """An empty file, as a full disk may leave one."""
    path.write_bytes(b"")


def damage_all(path: Path) -> None:
    """A file that never was a database."""
    path.write_bytes(b"this is no database, " * 1_000)


def damage_middle(path: Path) -> None:
    """Every page but the first is overwritten."""
    content = path.read_bytes()
    path.write_bytes(content[:16_384] + b"\x5a" * (len(content) - 16_384))


def damage_end(path: Path) -> None:
    """The file is cut."""
    path.write_bytes(path.read_bytes()[:40_000])


DAMAGES = [damage_nothing, damage_all, damage_middle, damage_end]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("first", ["get", "put"])
def test_a_damaged_file_is_put_away_and_begun_anew(
    tmp_path: Path, damage: object, first: str
) -> None:
    """Once, with one warning; of the damaged files only the last is kept."""
    assert callable(damage)
    (tmp_path / f"{FILE}.broken-1").write_text("older")
    with EmbeddingCache(tmp_path, LIMIT) as cache:
        cache.put(LOCAL, 1, pairs(hashes(2_000), vectors(2_000)))
    damage(tmp_path / FILE)
    with EmbeddingCache(tmp_path, LIMIT, clock=lambda: 77.0) as cache:
        if first == "get":
            assert cache.get(LOCAL, 1, hashes(2_000)) == {}
        cache.put(LOCAL, 1, pairs(hashes(3), vectors(3)))
        assert len(cache.get(LOCAL, 1, hashes(3))) == 3
        assert len(cache.warnings) == 1
        assert f"is now {FILE}.broken-77" in cache.warnings[0]
    assert {path.name for path in tmp_path.iterdir()} == {FILE, f"{FILE}.broken-77"}


def test_a_file_another_process_renewed_is_used(tmp_path: Path) -> None:
    """The process that notices the damage second must not put the new file away."""
    with EmbeddingCache(tmp_path, LIMIT) as cache:
        cache.put(LOCAL, 1, pairs(hashes(2_000), vectors(2_000)))
    with EmbeddingCache(tmp_path, LIMIT) as late, EmbeddingCache(tmp_path, LIMIT) as early:
        assert late.get(LOCAL, 2, hashes(1)) == {}
        damage_middle(tmp_path / FILE)
        early.put(LOCAL, 1, pairs(hashes(3), vectors(3)))
        assert len(late.get(LOCAL, 1, hashes(2_000))) == 3
        assert late.warnings == []
        assert len(early.warnings) == 1
        assert len(early.get(LOCAL, 1, hashes(3))) == 3


def test_a_journal_without_its_file_is_not_played_back(tmp_path: Path) -> None:
    """The file alone was removed; the new cache is empty and sound."""
    with EmbeddingCache(tmp_path, LIMIT) as cache:
        cache.put(LOCAL, 1, pairs(hashes(50), vectors(50)))
        journal = (tmp_path / f"{FILE}-wal").read_bytes()
    (tmp_path / FILE).unlink()
    (tmp_path / f"{FILE}-wal").write_bytes(journal)
    with EmbeddingCache(tmp_path, LIMIT) as cache:
        assert cache.get(LOCAL, 1, hashes(50)) == {}
        cache.put(LOCAL, 1, pairs(hashes(1), vectors(1)))
        assert cache.statistics().vectors == 1
        assert cache.warnings == []


def test_the_cache_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    """Two versions used in turn must not destroy each other's work."""
    with EmbeddingCache(tmp_path, LIMIT) as cache:
        cache.put(LOCAL, 1, pairs(hashes(2), vectors(2)))
    rows(tmp_path, "PRAGMA user_version = 99")
    with EmbeddingCache(tmp_path, LIMIT) as cache:
        assert cache.get(LOCAL, 1, hashes(2)) == {}
        cache.put(LOCAL, 1, pairs(hashes(3), vectors(3)))
        assert len(cache.warnings) == 1
        assert "a newer Asterism wrote it" in cache.warnings[0]
    assert rows(tmp_path, "SELECT count(*) FROM vectors") == [(2,)]


def test_a_file_locked_for_too_long_is_read_but_not_written(tmp_path: Path) -> None:
    """The indexing goes on, and says so once."""
    with EmbeddingCache(tmp_path, LIMIT, patience_seconds=0.01) as cache:
        cache.put(LOCAL, 1, pairs(hashes(2), vectors(2)))
        holder = sqlite3.connect(tmp_path / FILE, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        for seed in range(3):
            cache.put(LOCAL, 1, pairs(hashes(2, seed + 1), vectors(2)))
        assert len(cache.get(LOCAL, 1, hashes(2))) == 2
        holder.close()
        assert len(cache.warnings) == 1
        assert "takes no more vectors (database is locked)" in cache.warnings[0]


def in_a_process(function: str, directory: Path) -> list[str]:
    """What a function of this module prints in a process of its own."""
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        f"from pathlib import Path\n"
        f"from tests.models.embed import test_cache\n"
        f"test_cache.{function}(Path({str(directory)!r}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def report(*values: object) -> None:
    """Tell the parent process."""
    sys.stdout.write("\n".join(map(str, values)) + "\n")


def fill_the_disk(directory: Path) -> None:
    """Files of this process may not grow beyond a size."""
    with EmbeddingCache(directory, LIMIT) as cache:
        cache.put(LOCAL, 1, pairs(hashes(10), vectors(10)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        for seed in range(1, 6):
            cache.put(LOCAL, 1, pairs(hashes(300, seed), vectors(300)))
        report(len(cache.get(LOCAL, 1, hashes(10))), *cache.warnings)


def test_a_full_disk_ends_the_writing_only(tmp_path: Path) -> None:
    """What is known is still found, and the next process finds a sound file."""
    found, *warnings = in_a_process("fill_the_disk", tmp_path)
    assert found == "10"
    assert len(warnings) == 1
    assert "takes no more vectors" in warnings[0]
    with EmbeddingCache(tmp_path, LIMIT) as cache:
        assert len(cache.get(LOCAL, 1, hashes(10))) == 10
        cache.put(LOCAL, 1, pairs(hashes(300, 9), vectors(300)))
        assert cache.warnings == []


def use_what_is_forbidden(directory: Path) -> None:
    """Permissions do not bind the superuser, so give that up first."""
    matrix = vectors(2)
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    with EmbeddingCache(directory, LIMIT) as cache:
        cache.put(LOCAL, 1, pairs(hashes(2), matrix))
        report(len(cache.get(LOCAL, 1, hashes(2))), *cache.warnings)


@pytest.mark.parametrize("contents", ["empty", "cache", "below"])
def test_a_directory_that_may_not_be_written_is_done_without(contents: str) -> None:
    """Whether the cache is missing, present, or in a folder that cannot be made."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        if contents == "cache":
            with EmbeddingCache(directory, LIMIT) as cache:
                cache.put(LOCAL, 1, pairs(hashes(2), vectors(2)))
            (directory / FILE).chmod(0o444)
        directory.chmod(0o555)
        place = directory / "below" if contents == "below" else directory
        found, *warnings = in_a_process("use_what_is_forbidden", place)
        directory.chmod(0o700)
    assert found == "0"
    assert len(warnings) == 1
    assert "cannot be used" in warnings[0]


def test_a_directory_that_is_a_file_is_done_without(tmp_path: Path) -> None:
    """Nothing is removed to free space for the cache."""
    (tmp_path / "cache").write_text("mine")
    with EmbeddingCache(tmp_path / "cache", LIMIT) as cache:
        cache.put(LOCAL, 1, pairs(hashes(2), vectors(2)))
        assert cache.get(LOCAL, 1, hashes(2)) == {}
        assert len(cache.warnings) == 1
        assert "cannot be used" in cache.warnings[0]
    assert (tmp_path / "cache").read_text() == "mine"


def test_a_vector_that_is_not_what_was_written_is_not_found(
    cache: EmbeddingCache, tmp_path: Path
) -> None:
    """A disk that fails gives no text another vector; the next `put` repairs the row."""
    keys, matrix = hashes(40), vectors(40)
    cache.put(LOCAL, 1, pairs(keys, matrix))
    cache.close()
    place = tmp_path / "cache" / FILE
    connection = sqlite3.connect(place, isolation_level=None)
    (blob,) = connection.execute("SELECT vector FROM vectors WHERE id = 7").fetchone()
    flipped = bytes([blob[0] ^ 1, *blob[1:]])
    connection.execute("UPDATE vectors SET vector = ? WHERE id = 7", (flipped,))
    (lost,) = connection.execute("SELECT hash FROM vectors WHERE id = 7").fetchone()
    connection.close()
    assert look_deep(place) == (39, 1, "")
    assert set(keys) - cache.get(LOCAL, 1, keys).keys() == {lost}
    cache.put(LOCAL, 1, pairs(keys, matrix))
    assert cache.get(LOCAL, 1, [lost])[lost].tobytes() == matrix[keys.index(lost)].tobytes()
    cache.close()
    assert look_deep(place) == (40, 0, "")


def test_a_cache_from_before_there_were_checksums(cache: EmbeddingCache, tmp_path: Path) -> None:
    keys, matrix = hashes(4), vectors(4)
    cache.put(LOCAL, 1, pairs(keys, matrix))
    cache.close()
    connection = sqlite3.connect(tmp_path / "cache" / FILE, isolation_level=None)
    connection.execute("ALTER TABLE vectors DROP COLUMN sum")
    connection.execute("UPDATE vectors SET vector = zeroblob(512) WHERE id = 1")
    connection.close()
    assert len(cache.get(LOCAL, 1, keys)) == 3
    cache.put(LOCAL, 1, pairs(keys, matrix))
    assert len(cache.get(LOCAL, 1, keys)) == 4
