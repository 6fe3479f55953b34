"""Rows in memory: the same answers as from disk, within limits, and of one version only."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asterism.store.chunk_table import (
    LIMITS,
    Boosts,
    ChunkKey,
    ChunkSnapshot,
    Match,
    MemoryLimits,
    Recent,
)
from asterism.store.lance.snapshot import LanceSnapshot
from asterism.store.lance.table import LanceTable, version_mark
from asterism.types.index import Entry
from asterism.types.search import NO_FILTER, Filter
from tests.store.chunk_samples import DIMENSIONS, chunk, entry, units

FILTERS = (
    NO_FILTER,
    Filter(repos=("harbor",)),
    Filter(repos=("harbor", "quay")),
    Filter(repos=("nowhere",)),
    Filter(path_prefixes=("f1",), is_exported=True),
    Filter(languages=("go",), repos=("quay",)),
)
NOTHING = MemoryLimits(matrix_bytes=0, text_bytes=0, chunks=0)
"""With these limits a table is always read from disk."""


def rows(first: int, count: int, version: int) -> list[Entry]:
    drawn = random.Random(first)
    return [
        entry(
            chunk(
                f"f{number // 7}.py",
                f"n{number}",
                repo="quay" if number % 3 == 0 else "harbor",
                language=drawn.choice(("go", "python")),
                is_exported=drawn.random() < 0.5,
                start_line=drawn.randint(1, 50),
                full_source=f"body {number}\n" * drawn.randint(1, 20),
            ),
            version,
            terms=" ".join(drawn.choices("abcdefgh", k=drawn.randint(1, 12))),
            name_terms=f"n{number} {drawn.choice('abc')}",
            path_terms=f"f{number // 7}",
        )
        for number in range(first, first + count)
    ]


def edited(directory: Path) -> LanceTable:
    """A table with several pieces, rows that are gone from their middle, and rows no index has."""
    table = LanceTable.create(directory, DIMENSIONS)
    for version, first in enumerate(range(0, 360, 60), start=1):
        table.append(rows(first, 60, version), units(60, seed=first))
    table.maintain()
    table.delete([2, 5])
    table.append(rows(400, 40, 9), units(40, seed=9))
    return table


def answers(now: ChunkSnapshot, questions: int = 2) -> list[object]:
    """What a snapshot says to the same questions, some of them several times."""
    drawn = random.Random(5)
    keys = [ChunkKey(row.repo, row.id) for row in now.scan()]
    said: list[object] = [keys, list(now.sources(FILTERS[4]))]
    for turn in range(questions):
        for where in FILTERS:
            terms = drawn.sample("abcdefgh", 3)
            found = now.matching(terms, 25, where, Boosts(1, 2, 0.5))
            near = now.nearest(units(1, seed=turn)[0], 12, where)
            wanted = [*drawn.sample(keys, 20), ChunkKey("harbor", "none"), keys[0], keys[0]]
            said += [found, _rounded(near), now.chunks([match.key for match in found])]
            said += [now.chunks(wanted), now.matching(["n7"], 9, where)]
    return said


def _rounded(matches: list[Match]) -> list[tuple[ChunkKey, str, float]]:
    return [(match.key, match.path, round(match.score, 5)) for match in matches]


@pytest.mark.parametrize(
    "limits",
    [
        LIMITS,
        MemoryLimits(texts_from=1),
        MemoryLimits(texts_from=2, chunks=5),
        MemoryLimits(text_bytes=1_000, texts_from=1),
        MemoryLimits(matrix_bytes=0),
    ],
    ids=["usual", "texts at once", "few chunks", "texts too large", "no vectors"],
)
def test_memory_and_disk_give_the_same_answers(tmp_path: Path, limits: MemoryLimits) -> None:
    table = edited(tmp_path)
    expected = answers(LanceTable.open(tmp_path, limits=NOTHING).snapshot())
    now = LanceTable.open(tmp_path, limits=limits).snapshot()
    assert answers(now) == expected
    assert answers(now) == expected
    assert table.snapshot().count() == 280


def test_distances_do_not_depend_on_a_rows_place(tmp_path: Path) -> None:
    """A server and a command may hold the rows in another order, and should rank alike."""
    entries, vectors = rows(0, 90, 1), units(90)
    one, other = tmp_path / "one", tmp_path / "other"
    LanceTable.create(one, DIMENSIONS).append(entries, vectors)
    LanceTable.create(other, DIMENSIONS).append(entries[::-1], np.ascontiguousarray(vectors[::-1]))
    query = units(1, seed=3)[0]
    found = [LanceTable.open(place).snapshot().nearest(query, 30) for place in (one, other)]
    assert found[0] == found[1]


def test_a_version_in_memory_does_not_see_what_is_written(tmp_path: Path) -> None:
    table = edited(tmp_path)
    before = table.snapshot()
    expected = answers(before)
    table.append(rows(500, 30, 12), units(30, seed=12))
    table.delete([1, 3])
    table.maintain(thorough=True)
    after = table.snapshot()
    assert after.count() == 280 + 30 - 120
    assert answers(before) == expected
    assert answers(after) == answers(LanceTable.open(tmp_path, limits=NOTHING).snapshot())


def inherited(directory: Path, before: LanceSnapshot | None, limits: MemoryLimits) -> LanceSnapshot:
    return LanceTable.open(directory, limits=limits).snapshot(before=before)


@pytest.mark.parametrize(
    "limits",
    [
        MemoryLimits(texts_from=1),
        MemoryLimits(texts_from=1, text_bytes=60_000),
        MemoryLimits(chunks=7),
    ],
    ids=["usual", "texts that grow too large", "few chunks"],
)
@pytest.mark.parametrize("asked", [True, False], ids=["asked each time", "asked at the end"])
def test_what_was_read_of_the_version_before_still_holds(
    tmp_path: Path, limits: MemoryLimits, asked: bool
) -> None:
    """Whatever is done to a table, its rows in memory are those on disk."""
    table = edited(tmp_path)
    drawn = random.Random(3)
    now = inherited(tmp_path, None, limits)
    answers(now, 1)
    written, committed, number = {1, 3, 4, 6, 9}, table.version, 20
    for turn in range(12):
        action = drawn.choice(("append", "append", "replace", "delete", "maintain", "restore"))
        number += 1
        if action in ("append", "replace"):
            count = drawn.randint(1, 30)
            table.append(rows(1_000 + 40 * turn, count, number), units(count, seed=number))
            written.add(number)
        if action in ("replace", "delete") and len(written) > 3:
            table.delete([written.pop()])
        if action == "maintain":
            table.maintain(thorough=drawn.random() < 0.5)
        if action == "restore":
            table.restore(committed)
            written = {1, 3, 4, 6, 9}
        now = inherited(tmp_path, now, limits)
        if asked or turn == 11:
            expected = answers(LanceTable.open(tmp_path, limits=NOTHING).snapshot(), 1)
            assert answers(now, 1) == expected


def test_nothing_is_taken_over_from_another_table(tmp_path: Path) -> None:
    """A table that is built anew has fragments and rows of the same numbers."""
    table = edited(tmp_path)
    now = inherited(tmp_path, None, MemoryLimits(texts_from=1))
    answers(now, 1)
    again = LanceTable.create(tmp_path, DIMENSIONS)
    for version, first in enumerate(range(2_000, 2_360, 60), start=1):
        again.append(rows(first, 60, version), units(60, seed=first))
    fresh = LanceTable.open(tmp_path, limits=NOTHING).snapshot()
    assert answers(inherited(tmp_path, now, MemoryLimits(texts_from=1)), 1) == answers(fresh, 1)
    again.reset(DIMENSIONS + 3)
    assert inherited(tmp_path, now, LIMITS).nearest(units(1, dimensions=DIMENSIONS + 3)[0], 5) == []
    assert table.path == again.path


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = edited(tmp_path)
    first = inherited(tmp_path, None, MemoryLimits(texts_from=1))
    answers(first, 1)
    table.append(rows(700, 5, 31), units(5, seed=31))
    second = inherited(tmp_path, first, MemoryLimits(texts_from=1))
    read: list[tuple[str, int]] = []
    for name in ("take", "to_table", "scanner"):
        _count(monkeypatch, type(second._dataset), name, read)
    found = second.nearest(units(1)[0], 285)
    assert len(second.chunks([match.key for match in found])) == 285
    assert [count for name, count in read if name == "take"] == [5]
    # Only the numbers of the rows are read of all of them.
    assert [count for name, count in read if name != "take"] == [0]


def _count(patch: pytest.MonkeyPatch, of: type, name: str, read: list[tuple[str, int]]) -> None:
    """Note how many rows are taken, and how many columns of all rows are read."""
    own = getattr(of, name)

    def counted(self: Any, *given: Any, **named: Any) -> Any:
        read.append((name, len(given[0] if given else named["columns"])))
        with patch.context() as inner:
            inner.setattr(of, "scanner", own if name == "scanner" else scanner)
            return own(self, *given, **named)

    scanner = getattr(of, "scanner")  # noqa: B009
    patch.setattr(of, name, counted)


def test_a_table_built_anew_has_other_marks_for_its_versions(tmp_path: Path) -> None:
    table = LanceTable.create(tmp_path, DIMENSIONS)
    table.append(rows(0, 5, 1), units(5))
    version = table.version
    mark = version_mark(tmp_path, version)
    assert mark == version_mark(tmp_path, version)
    assert mark != version_mark(tmp_path, version - 1)
    again = LanceTable.create(tmp_path, DIMENSIONS)
    assert version_mark(tmp_path, version) is None
    again.append(rows(0, 5, 1), units(5))
    assert again.version == version
    assert version_mark(tmp_path, version) not in (None, mark)


def test_the_matrix_is_bounded_by_its_bytes() -> None:
    assert LIMITS.exact_rows(256) == 131_072
    assert LIMITS.exact_rows(1_024) == 32_768
    assert MemoryLimits(matrix_bytes=100).exact_rows(5) == 5


def test_the_answer_not_asked_for_the_longest_time_goes_first() -> None:
    kept: Recent[str] = Recent(2)
    found: list[str] = []

    def ask(word: str) -> str:
        def find() -> str:
            found.append(word)
            return word.upper()

        return kept.get(word, find)

    assert [ask(word) for word in ("a", "b", "a", "c", "a", "b")] == ["A", "B", "A", "C", "A", "B"]
    assert found == ["a", "b", "c", "b"]
    assert len(kept) == 2


def test_what_fails_is_not_kept() -> None:
    kept: Recent[int] = Recent(2)
    with pytest.raises(ZeroDivisionError):
        kept.get("x", lambda: 1 // 0)
    assert kept.get("x", lambda: 7) == 7
