"""What every chunk table does, in memory or on disk."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from asterism.store.chunk_table import Boosts, ChunkKey, ChunkSnapshot, ChunkTable
from asterism.store.lance.table import LanceTable
from asterism.types.errors import IndexCorrupt, IndexMismatch
from asterism.types.index import Chunk, Entry
from asterism.types.search import Filter
from tests.store.chunk_samples import DIMENSIONS, chunk, entry, unit, units
from tests.store.memory_table import MemoryTable

MAKERS: dict[str, Callable[[Path], ChunkTable]] = {
    "memory": lambda _: MemoryTable(DIMENSIONS),
    "lance": lambda directory: LanceTable.create(directory, DIMENSIONS),
}


@pytest.fixture(params=sorted(MAKERS))
def table(request: pytest.FixtureRequest, tmp_path: Path) -> ChunkTable:
    return MAKERS[request.param](tmp_path)


def add(table: ChunkTable, *entries: Entry) -> None:
    table.append(entries, units(len(entries)))


def key(row: Chunk) -> ChunkKey:
    return ChunkKey(row.repo, row.id)


def names(snapshot: ChunkSnapshot, where: Filter) -> list[str]:
    return [row.name for row in snapshot.scan(where)]


def test_an_empty_table_answers_every_question(table: ChunkTable) -> None:
    table.maintain()
    now = table.snapshot()
    assert now.count() == 0
    assert now.nearest(unit(1), 5) == []
    assert now.matching(["word"], 5) == []
    assert list(now.scan()) == []
    assert now.chunks([ChunkKey("harbor", "none")]) == []
    assert now.vectors([ChunkKey("harbor", "none")]) == {}


def test_a_chunk_comes_back_as_it_went_in(table: ChunkTable) -> None:
    full = chunk()
    bare = chunk(
        "b.ts",
        "ünï · 漢字",
        parent_name=None,
        parent_chunk_id=None,
        child_chunk_ids=(),
        jsdoc="/** doc */",
        docstring=None,
        decorator_names=(),
        modifiers=(),
        tags=(),
        relevant_imports=(),
        is_exported=False,
        full_source="quote ' and \" and \\ and \0 and \n",
    )
    add(table, entry(full), entry(bare))
    assert table.snapshot().chunks([key(bare), key(full)]) == [bare, full]
    assert list(table.snapshot().scan()) == [bare, full]


def test_every_row_says_what_it_is_called_and_made_of(table: ChunkTable) -> None:
    rows = [chunk(f"{name}.py", name, repo=repo) for name, repo in (("a", "x"), ("b", "y"))]
    entries = [
        entry(row)._replace(text_hash=bytes([number]) * 16) for number, row in enumerate(rows)
    ]
    add(table, *entries)
    now = table.snapshot()
    assert now.rows() == (
        [key(row) for row in rows],
        ["a.py", "b.py"],
        [bytes(16), bytes([1]) * 16],
    )
    assert now.texts([1, 0, 1]) == [rows[n].embedding_text for n in (1, 0, 1)]
    assert now.passing(Filter()) is None
    passing = now.passing(Filter(repos=("y",)))
    assert passing is not None
    assert passing.tolist() == [False, True]


def test_text_that_is_no_unicode_is_stored_as_it_is_shown(table: ChunkTable) -> None:
    row = chunk("src/caf\udce9.py", "na\udce9me", repo="r\udce9po", tags=("t\udce9",))
    add(table, entry(row, terms="w\udce9rd", path_terms="caf\udce9"))
    now = table.snapshot()
    (found,) = now.chunks([key(row)])
    assert found.relative_path == r"src/caf\xe9.py"
    assert found.filename == r"caf\xe9.py"
    assert (found.name, found.repo, found.tags) == ("na?me", "r?po", ("t?",))
    assert list(now.vectors([key(row)])) == [key(row)]
    assert [match.path for match in now.matching(["w\udce9rd"], 5)] == [r"src/caf\xe9.py"]
    assert now.count(Filter(paths=("src/caf\udce9.py",), repos=("r\udce9po",))) == 1


def test_keys_are_answered_in_their_order_and_unknown_ones_left_out(table: ChunkTable) -> None:
    rows = [chunk(name=f"f{number}") for number in range(1200)]
    vectors = units(len(rows))
    table.append([entry(row) for row in rows], vectors)
    wanted = [key(rows[1100]), ChunkKey("other", rows[2].id), key(rows[0]), key(rows[600])]
    now = table.snapshot()
    assert [row.name for row in now.chunks(wanted)] == ["f1100", "f0", "f600"]
    assert [row.name for row in now.chunks([key(row) for row in rows])] == [r.name for r in rows]
    found = now.vectors(wanted)
    assert set(found) == {wanted[0], wanted[2], wanted[3]}
    np.testing.assert_array_equal(found[wanted[3]], vectors[600])


def test_repositories_may_have_equal_ids(table: ChunkTable) -> None:
    ours, theirs = chunk(repo="ours", name="n"), chunk(repo="theirs", name="n")
    add(table, entry(ours), entry(theirs))
    assert table.snapshot().chunks([key(theirs), key(ours)]) == [theirs, ours]


def test_deleting_removes_all_rows_of_a_reading(table: ChunkTable) -> None:
    add(table, entry(chunk(name="a"), 1), entry(chunk(name="b"), 2), entry(chunk(name="c"), 2))
    table.delete([2, 99])
    assert names(table.snapshot(), Filter()) == ["a"]
    table.delete([])
    table.delete([1])
    assert table.snapshot().count() == 0


def test_a_snapshot_does_not_change(table: ChunkTable) -> None:
    add(table, entry(chunk(name="old"), 1, terms="old"))
    table.maintain()
    before = table.snapshot()
    add(table, entry(chunk(name="new"), 2, terms="new"))
    table.delete([1])
    after = table.snapshot()
    assert after.version == table.version > before.version
    assert names(before, Filter()) == ["old"]
    assert before.matching(["new"], 5) == []
    assert len(before.nearest(unit(1), 5)) == 1
    assert names(after, Filter()) == ["new"]
    assert names(table.snapshot(before.version), Filter()) == ["old"]
    assert [match.path for match in after.matching(["new", "old"], 5)] == ["src/app.py"]


def test_restoring_undoes_what_came_later(table: ChunkTable) -> None:
    rows = [chunk(name=f"f{number:02}") for number in range(40)]
    vectors = units(len(rows))
    table.append(
        [entry(row, number, terms=f"all w{number}") for number, row in enumerate(rows)], vectors
    )
    table.maintain()
    committed = table.version
    expected = list(table.snapshot().scan())
    add(table, entry(chunk(name="half-done"), 77, terms="all"))
    table.delete([3, 4, 5])
    table.maintain(thorough=True)
    table.restore(committed)
    now = table.snapshot()
    assert list(now.scan()) == expected
    assert len(now.matching(["all"], 100)) == 40
    assert [match.key for match in now.matching(["w4"], 5)] == [key(rows[4])]
    assert now.nearest(vectors[4], 1)[0].key == key(rows[4])
    version = table.version
    table.restore(version)
    assert table.version == version


def test_a_version_that_never_was_is_an_error(table: ChunkTable) -> None:
    with pytest.raises(IndexCorrupt, match="asterism index --force"):
        table.snapshot(999)
    with pytest.raises(IndexCorrupt):
        table.restore(999)


def test_nearest_rows_come_first_with_their_distance(table: ChunkTable) -> None:
    rows = [chunk(f"p{name}.py", name) for name in ("same", "near", "square", "opposite")]
    vectors = np.stack([unit(1), unit(1, 1), unit(0, 1), unit(-1)])
    table.append([entry(row) for row in rows], vectors)
    found = table.snapshot().nearest(unit(1), 10)
    assert [match.path for match in found] == ["psame.py", "pnear.py", "psquare.py", "popposite.py"]
    expected = [0, 2 - 2 * 0.5**0.5, 2, 4]
    assert [match.score for match in found] == pytest.approx(expected, abs=1e-6)
    assert table.snapshot().nearest(unit(1), 2) == found[:2]
    assert table.snapshot().nearest(unit(1), 0) == []
    only = Filter(paths=("psquare.py", "popposite.py"))
    assert table.snapshot().nearest(unit(1), 1, only) == [found[2]]


def test_rows_equally_near_are_in_the_order_of_their_keys(table: ChunkTable) -> None:
    rows = [chunk(name=f"f{number}") for number in range(9)]
    table.append([entry(row) for row in rows], np.stack([unit(1)] * len(rows)))
    found = [match.key for match in table.snapshot().nearest(unit(1), 4)]
    assert found == sorted(key(row) for row in rows)[:4]


@pytest.mark.parametrize("indexed", [True, False])
def test_terms_are_summed_over_columns(table: ChunkTable, indexed: bool) -> None:
    add(
        table,
        entry(chunk("body.py", "a"), terms="token other words here", name_terms="x"),
        entry(chunk("name.py", "b"), terms="unrelated other words here", name_terms="token"),
        entry(chunk("both.py", "c"), terms="token other words here", name_terms="token"),
        entry(chunk("path.py", "d"), terms="nothing", path_terms="token"),
        entry(chunk("none.py", "e"), terms="tokens Token to_ken"),
    )
    if indexed:
        table.maintain()
    now = table.snapshot()

    def paths(boosts: Boosts) -> list[str]:
        return [match.path for match in now.matching(["token"], 10, boosts=boosts)]

    assert set(paths(Boosts())) == {"both.py", "body.py", "name.py", "path.py"}
    assert set(paths(Boosts(1, 0, 0))) == {"body.py", "both.py"}
    assert paths(Boosts(0.1, 5, 0.01))[:2] == ["both.py", "name.py"]
    assert paths(Boosts(0, 0, 0)) == []
    single = {
        match.path: match.score for match in now.matching(["token"], 9, boosts=Boosts(1, 0, 0))
    }
    other = {
        match.path: match.score for match in now.matching(["token"], 9, boosts=Boosts(0, 1, 0))
    }
    total = {
        match.path: match.score for match in now.matching(["token"], 9, boosts=Boosts(2, 3, 0))
    }
    assert total["both.py"] == pytest.approx(2 * single["both.py"] + 3 * other["both.py"], rel=1e-5)


ODD = [
    'we"ird',
    "+must",
    "-not",
    "~2",
    "(x)",
    "a:b",
    "*",
    "☃",
    "AND",
    "x^3",
    "'; --",
    "\\",
    "x\u00a0y",
]


@pytest.mark.parametrize("indexed", [True, False])
def test_terms_mean_themselves(table: ChunkTable, indexed: bool) -> None:
    rows = [chunk(f"{number}.py") for number in range(len(ODD))]
    add(table, *(entry(row, terms=f"plain {word}") for row, word in zip(rows, ODD, strict=True)))
    if indexed:
        table.maintain()
    now = table.snapshot()
    for row, word in zip(rows, ODD, strict=True):
        found = [match.path for match in now.matching([word.split(" ")[0]], 20)]
        assert found == [row.relative_path], word
    assert now.matching([], 5) == now.matching([" "], 5) == now.matching(["absent"], 5) == []


def test_rare_terms_count_more_and_filters_come_first(table: ChunkTable) -> None:
    many = [entry(chunk(f"common{number}.py"), terms="the common word") for number in range(30)]
    add(table, *many, entry(chunk("rare.py"), terms="the rare word"))
    table.maintain()
    now = table.snapshot()
    found = now.matching(["common", "rare"], 40)
    assert len(found) == 31
    assert found[0].path == "rare.py"
    assert [match.score for match in found] == sorted((m.score for m in found), reverse=True)
    assert len(now.matching(["common"], 7)) == 7
    only = Filter(path_prefixes=("common2",))
    assert len(now.matching(["common", "rare"], 40, only)) == 11


def test_rows_that_arrive_after_the_index_are_found(table: ChunkTable) -> None:
    add(table, entry(chunk("old.py"), 1, terms="shared one"))
    table.maintain()
    late = chunk("late.py")
    table.append([entry(late, 2, terms="shared two")], np.stack([unit(0, 0, 1)]))
    now = table.snapshot()
    assert {match.path for match in now.matching(["shared"], 5)} == {"old.py", "late.py"}
    assert [match.path for match in now.matching(["two"], 5)] == ["late.py"]
    assert now.nearest(unit(0, 0, 1), 1)[0].key == key(late)


def test_scanning_is_in_the_order_of_places(table: ChunkTable) -> None:
    ordered = [
        chunk("a.py", "x", repo="a", start_line=9),
        chunk("a.py", "x", repo="b", start_line=1),
        chunk("a.py", "y", repo="b", start_line=1, depth=2),
        chunk("a.py", "z", repo="b", start_line=10),
        chunk("a/b.py", "w", repo="b", start_line=1, part=1),
        chunk("a/b.py", "v", repo="b", start_line=1, part=2),
    ]
    add(table, *(entry(row) for row in reversed(ordered)))
    assert list(table.snapshot().scan()) == ordered


def test_entries_come_back_in_batches(table: ChunkTable) -> None:
    entries = [
        entry(chunk(name=f"f{number:02}"), number, "t", "n", "p")._replace(
            text_hash=bytes([number] * 16)
        )
        for number in range(25)
    ]
    add(table, *entries[:20])
    add(table, *entries[20:])
    batches = list(table.snapshot().entries(10))
    assert sorted(row for batch in batches for row in batch) == sorted(entries)
    assert max(map(len, batches)) <= 10


def test_a_reset_allows_other_vectors(table: ChunkTable) -> None:
    add(table, entry(chunk(name="old"), terms="word"))
    before = table.snapshot()
    table.reset(7)
    assert table.snapshot().count() == 0
    table.append([entry(chunk(name="new"), terms="word")], units(1, dimensions=7))
    table.maintain(thorough=True)
    assert names(table.snapshot(), Filter()) == ["new"]
    assert len(table.snapshot().matching(["word"], 5)) == 1
    assert len(table.snapshot().nearest(units(1, dimensions=7)[0], 5)) == 1
    assert names(before, Filter()) == ["old"]
    assert len(before.nearest(unit(1), 5)) == 1
    table.restore(before.version)
    add(table, entry(chunk(name="third")))
    assert names(table.snapshot(), Filter()) == ["old", "third"]


@pytest.mark.parametrize("wrong", [3, 5])
def test_vectors_of_another_size_are_refused(table: ChunkTable, wrong: int) -> None:
    with pytest.raises(IndexMismatch, match="4 dimensions"):
        table.append([entry(chunk())], units(1, dimensions=wrong))
    with pytest.raises(ValueError, match="as many vectors"):
        table.append([entry(chunk())], units(2))
    with pytest.raises(ValueError, match="16 bytes"):
        table.append([entry(chunk())._replace(text_hash=b"short")], units(1))
    assert table.snapshot().count() == 0


def test_size_grows_with_what_is_stored(table: ChunkTable) -> None:
    before = table.size()
    add(table, *(entry(chunk(name=f"f{number}")) for number in range(50)))
    assert table.size() > before


def test_both_tables_score_alike(tmp_path: Path) -> None:
    entries = [
        entry(
            chunk(f"{number}.py"),
            terms=" ".join(["red"] * (number % 3) + ["blue"] * (number % 5) + ["x"] * number),
            name_terms="red" if number % 4 == 0 else "green leaf",
            path_terms=f"{number} py",
        )
        for number in range(1, 24)
    ]
    found = []
    for name in sorted(MAKERS):
        table = MAKERS[name](tmp_path)
        add(table, *entries)
        table.maintain()
        matches = table.snapshot().matching(["red", "blue", "red"], 30, boosts=Boosts(1, 2, 1))
        found.append({match.path: match.score for match in matches})
    assert found[0] == pytest.approx(found[1], rel=1e-3)
    assert len(found[0]) > 15
