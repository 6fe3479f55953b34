"""Does the catalogue give back what was put in, in a file and in memory?"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import LEDGER, SCHEMA_VERSION
from asterism.types.errors import IndexMissing, StoreError, UsageError
from asterism.types.index import (
    Batch,
    FileUpdate,
    Job,
    Link,
    ModelIdentity,
    Repository,
    Resolution,
    Role,
    Signatures,
    Skipped,
    SymbolQuery,
)
from tests.store.catalogue_samples import (
    MANIFEST,
    OTHER,
    REPO,
    chunk_id,
    commit,
    definition,
    exported,
    imported,
    linked,
    new_catalogue,
    state,
    update,
    usage,
)

# A name whose bytes are no UTF-8, as the file system gives it.
STRAY = "src/caf\udce9.py"


@pytest.fixture(params=["file", "memory"])
def catalogue(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalogue]:
    with new_catalogue(tmp_path / "project" if request.param == "file" else None) as made:
        yield made


def test_every_schema_version_is_in_the_ledger() -> None:
    assert sorted(LEDGER) == list(range(1, SCHEMA_VERSION + 1))


def test_manifest_is_kept_and_replaced(catalogue: Catalogue) -> None:
    assert catalogue.manifest() == MANIFEST
    other = MANIFEST._replace(model=ModelIdentity("voyage", "code-3", 1024), recipe=4)
    catalogue.set_manifest(other)
    assert catalogue.manifest() == other


def test_chunks_version(catalogue: Catalogue) -> None:
    assert catalogue.chunks_version() == 0
    catalogue.set_chunks_version(7)
    assert catalogue.chunks_version() == 7
    commit(catalogue, version=9)
    assert catalogue.chunks_version() == 9


def test_file_versions_are_never_given_twice(catalogue: Catalogue) -> None:
    first = catalogue.next_file_version(3)
    assert catalogue.next_file_version(1) == first + 3
    assert catalogue.next_file_version(5) == first + 4


def test_repositories(catalogue: Catalogue) -> None:
    catalogue.add_repository(OTHER, "options-2")
    assert catalogue.repositories() == [REPO, OTHER]
    assert catalogue.options_hash("tools") == "options-2"
    catalogue.set_options_hash("tools", "options-3")
    assert catalogue.options_hash("tools") == "options-3"
    assert catalogue.options_hash("shop") == "options-1"


def test_a_root_need_not_be_utf8(catalogue: Catalogue) -> None:
    odd = Repository("r-3", "odd", "/home/caf\udce9")
    catalogue.add_repository(odd, "")
    assert odd in catalogue.repositories()


def test_two_repositories_may_not_share_a_name(catalogue: Catalogue) -> None:
    with pytest.raises(UsageError, match="named shop already"):
        catalogue.add_repository(REPO, "")


@pytest.mark.parametrize("ask", ["files", "skipped", "options_hash", "statistics"])
def test_an_unknown_repository_is_named(catalogue: Catalogue, ask: str) -> None:
    with pytest.raises(UsageError, match="no repository named nowhere"):
        getattr(catalogue, ask)("nowhere")


def test_removing_a_repository_leaves_no_row(tmp_path: Path) -> None:
    catalogue = new_catalogue(tmp_path)
    catalogue.add_repository(OTHER, "")
    commit(catalogue, _full("a.py", 4), _full("b.py", 6))
    catalogue.commit(Batch("tools", 2, [_full("a.py", 8)]))
    catalogue.replace_skipped("shop", [Skipped("x.bin", "binary")])
    catalogue.save_job("shop", Job("build", "done", 1, 0.0, 0.0))
    assert sorted(catalogue.remove_repository("shop")) == [4, 6]
    assert catalogue.repositories() == [OTHER]
    assert catalogue.job("shop") is None
    assert list(catalogue.files("tools")) == ["a.py"]
    catalogue.close()
    counts = _counts(tmp_path)
    assert counts["skipped"] == counts["jobs"] == 0
    assert counts["files"] == counts["declarations"] == counts["links"] == 1
    assert counts["chunks"] == 2


def test_commit_gives_back_files(catalogue: Catalogue) -> None:
    commit(catalogue, _full("a.py", 4))
    expected = state("a.py", 4)._replace(chunks=2)
    assert catalogue.files("shop") == {"a.py": expected}
    assert catalogue.file("shop", "a.py") == expected
    assert catalogue.file("shop", "b.py") is None
    assert catalogue.chunk_keys("shop", "a.py") == [
        (chunk_id(0), bytes(16)),
        (chunk_id(1), b"\x01" * 16),
    ]
    assert catalogue.chunk_keys("shop", "b.py") == []


def test_an_update_replaces_everything_of_its_file_and_nothing_else(catalogue: Catalogue) -> None:
    commit(catalogue, _full("a.py", 1), _full("b.py", 2))
    commit(catalogue, update("a.py", definition("a.py", "fresh"), chunks=1, version=3), version=2)
    assert catalogue.files("shop")["a.py"].version == 3
    assert len(catalogue.chunk_keys("shop", "a.py")) == 1
    assert catalogue.links("shop", "a.py") == []
    assert _paths(catalogue, "old") == ["b.py"]
    assert _paths(catalogue, "used") == ["b.py"]
    assert _paths(catalogue, "fresh") == ["a.py"]
    assert catalogue.chunks_version() == 2


def test_removed_files_leave_no_row_behind(tmp_path: Path) -> None:
    with new_catalogue(tmp_path) as catalogue:
        commit(catalogue, _full("a.py", 1), _full(STRAY, 2))
        catalogue.commit(Batch("shop", 2, removed=["a.py", STRAY, "never.py"]))
        assert catalogue.files("shop") == {}
    counts = _counts(tmp_path)
    for table in ("files", "chunks", "declarations", "links", "usages"):
        assert counts[table] == 0, table


def test_touched_files_change_their_stat_only(catalogue: Catalogue) -> None:
    commit(catalogue, _full("a.py", 1))
    now = state("a.py", 99)._replace(size=7, mtime_ns=8, scanned_ns=9, content_hash=b"other")
    catalogue.commit(Batch("shop", 1, touched=[now, state("never.py")]))
    kept = catalogue.files("shop")
    assert list(kept) == ["a.py"]
    assert kept["a.py"] == state("a.py", 1)._replace(size=7, mtime_ns=8, scanned_ns=9, chunks=2)


def test_a_batch_that_fails_changes_nothing(catalogue: Catalogue) -> None:
    commit(catalogue, _full("a.py", 1))
    twice = FileUpdate(state("c.py"), (), (), (Link("m", None, ()), "no link"))  # type: ignore[arg-type]
    words = update("b.py", usage("b.py", "brand_new", 1))
    with pytest.raises(AttributeError):
        catalogue.commit(Batch("shop", 5, [words, twice], removed=["a.py"]))
    assert list(catalogue.files("shop")) == ["a.py"]
    assert catalogue.chunks_version() == 1
    commit(catalogue, words)
    assert _paths(catalogue, "brand_new") == ["b.py"]


def test_the_same_path_twice_in_a_batch_counts_once(catalogue: Catalogue) -> None:
    commit(catalogue, _full("a.py", 1), update("a.py", definition("a.py", "later"), version=2))
    assert catalogue.files("shop")["a.py"].version == 2
    assert _paths(catalogue, "old") == []


def test_repositories_keep_apart(catalogue: Catalogue) -> None:
    catalogue.add_repository(OTHER, "")
    commit(catalogue, _full("a.py", 1))
    catalogue.commit(Batch("tools", 2, [_full("a.py", 2)]))
    catalogue.commit(Batch("tools", 3, removed=["a.py"]))
    assert list(catalogue.files("shop")) == ["a.py"]
    assert catalogue.files("tools") == {}


def test_stray_bytes_in_paths(catalogue: Catalogue) -> None:
    link = Link("./x", STRAY, ("x",))
    commit(
        catalogue,
        update(STRAY, definition(STRAY, "here")),
        FileUpdate(state("a.py"), (), (), (link,)),
    )
    assert set(catalogue.files("shop")) == {STRAY, "a.py"}
    found = catalogue.file("shop", STRAY)
    assert found is not None
    assert found.path == STRAY
    assert _paths(catalogue, "here") == [STRAY]
    assert catalogue.importers("shop", [STRAY]) == {STRAY: [("a.py", link)]}
    catalogue.replace_skipped("shop", [Skipped(STRAY, "binary", "caf\udce9")])
    assert catalogue.skipped("shop") == [Skipped(STRAY, "binary", "caf?")]


def test_other_text_with_half_a_surrogate_is_replaced(catalogue: Catalogue) -> None:
    broken = definition("a.py", "x\ud800y", signature="def \udfff")
    commit(
        catalogue,
        update("a.py", broken, usage("a.py", "u\ud800", 2), imported("a.py", "m\ud800", "n")),
        linked("b.py", Link("./m\ud800", None, ("n\ud800",))),
    )
    assert _paths(catalogue, "x?y") == ["a.py"]
    assert _paths(catalogue, "u\ud800") == ["a.py"]
    assert catalogue.links("shop", "b.py") == [Link("./m?", None, ("n?",))]


def test_chunk_ids_of_any_form(catalogue: Catalogue) -> None:
    keys = [("short", b"1"), ("F" * 32, b"2"), ("0a" * 16, b"3")]
    row = definition("a.py", "x", chunk="F" * 32)
    commit(catalogue, FileUpdate(state("a.py"), keys, (row,), ()))
    assert catalogue.chunk_keys("shop", "a.py") == keys
    assert catalogue.find_symbols(SymbolQuery("x")).rows[0].row == row


def test_skipped_paths(catalogue: Catalogue) -> None:
    entries = [Skipped("b/", "gitignored", ".gitignore:1"), Skipped("a.bin", "binary")]
    catalogue.replace_skipped("shop", [*entries, Skipped("c.bin", "binary")])
    assert catalogue.skipped_counts("shop") == {"binary": 2, "gitignored": 1}
    catalogue.replace_skipped("shop", entries)
    assert catalogue.skipped("shop") == entries
    catalogue.replace_skipped("shop", [])
    assert catalogue.skipped("shop") == []


def test_equal_skipped_paths_are_not_written_again(tmp_path: Path) -> None:
    entries = [Skipped("a.bin", "binary"), Skipped("b.bin", "binary")]
    with new_catalogue(tmp_path) as catalogue:
        catalogue.replace_skipped("shop", entries)
        with sqlite3.connect(tmp_path / "catalogue.sqlite") as other:
            other.execute("DELETE FROM skipped WHERE n = 0")
        other.close()
        catalogue.replace_skipped("shop", entries)
        assert catalogue.skipped("shop") == entries[1:]


def test_links_and_importers(catalogue: Catalogue) -> None:
    auth = Link("./auth/tokenService.js", "src/auth/tokenService.ts", ("verify", "sign"))
    index = Link("./auth", "src/auth/index.ts", ("*",), reexports=True)
    react = Link("react", None, ())
    commit(catalogue, linked("src/a.ts", auth, react), linked("src/b.ts", index, auth))
    assert catalogue.links("shop", "src/a.ts") == [auth, react]
    assert catalogue.importers("shop", ["src/auth/tokenService.ts", "src/none.ts"]) == {
        "src/auth/tokenService.ts": [("src/a.ts", auth), ("src/b.ts", auth)]
    }
    assert set(catalogue.resolutions("shop")) == {
        Resolution("src/a.ts", auth.module, auth.target, False),
        Resolution("src/a.ts", "react", None, False),
        Resolution("src/b.ts", auth.module, auth.target, False),
        Resolution("src/b.ts", "./auth", "src/auth/index.ts", True),
    }
    catalogue.add_repository(OTHER, "")
    assert list(catalogue.resolutions("tools")) == []


def test_more_targets_than_one_query_names(catalogue: Catalogue) -> None:
    links = [Link(f"./m{n}", f"m{n}.ts", ()) for n in range(1200)]
    commit(catalogue, linked("a.ts", *links))
    found = catalogue.importers("shop", [f"m{n}.ts" for n in range(1200)])
    assert found == {link.target: [("a.ts", link)] for link in links}


def test_signatures(catalogue: Catalogue) -> None:
    rows = (
        definition("a.ts", "run", signature="function run(): void"),
        definition("a.ts", "Box", kind="class", signature="class Box"),
        definition("a.ts", "Box.size", kind="method", signature="size(): number"),
        exported("a.ts", "start", "run"),
        exported("a.ts", "verify", "check", "./auth"),
        exported("a.ts", "*", "*", "./all"),
        imported("a.ts", "./kit", "tool", alias="mine"),
        exported("a.ts", "tool", "mine"),
    )
    typed = update("a.ts", *rows)
    commit(catalogue, typed._replace(state=state("a.ts", language="typescript")))
    expected = Signatures(
        {"start": "function run(): void"},
        {"verify": ("./auth", "check"), "tool": ("./kit", "tool")},
        ("./all",),
    )
    assert catalogue.signatures("shop", ["a.ts", "none.ts"]) == {"a.ts": expected}
    cut = catalogue.signatures("shop", ["a.ts"], lambda text: text[:8])
    assert cut["a.ts"].own == {"start": "function"}


def test_statistics(catalogue: Catalogue) -> None:
    catalogue.add_repository(OTHER, "")
    assert catalogue.statistics().last_sync is None
    rows = (definition("a.py", "x"), usage("a.py", "y", 1), usage("a.py", "y", 2, ordinal=1))
    broken = state("b.ts", language="typescript", problems=2)
    catalogue.commit(
        Batch(
            "shop",
            1,
            [update("a.py", *rows), FileUpdate(broken, (), (exported("b.ts", "e", "e"),), ())],
            scanned_ns=2_500_000_000,
        )
    )
    catalogue.commit(Batch("tools", 1, [update("c.py")], scanned_ns=1_000_000_000))
    shop = catalogue.statistics("shop")
    assert (shop.files, shop.chunks, shop.source_bytes) == (2, 2, 200)
    assert shop.symbols == {Role.DEFINITION: 1, Role.EXPORT: 1, Role.IMPORT: 0, Role.USAGE: 2}
    assert shop.languages == {"python": 1, "typescript": 1}
    assert shop.files_with_problems == 1
    assert shop.last_sync == 2.5
    everything = catalogue.statistics()
    assert everything.files == 3
    assert everything.languages == {"python": 2, "typescript": 1}
    assert everything.last_sync == 1.0
    assert everything.database_bytes > 0


def test_a_commit_without_a_time_keeps_the_last(catalogue: Catalogue) -> None:
    catalogue.commit(Batch("shop", 1, scanned_ns=2_000_000_000))
    catalogue.commit(Batch("shop", 2))
    assert catalogue.statistics("shop").last_sync == 2.0


def test_jobs(catalogue: Catalogue) -> None:
    assert catalogue.job("shop") is None
    assert not catalogue.request_cancel("shop")
    job = Job("build", "running", 42, 10.0, 11.0, 3, 9, 70, "reading")
    catalogue.save_job("shop", job)
    assert catalogue.job("shop") == job
    assert not catalogue.cancel_requested("shop")
    assert catalogue.request_cancel("shop")
    catalogue.save_job("shop", job._replace(updated=12.0, files_done=4))
    assert catalogue.cancel_requested("shop")
    catalogue.save_job("shop", job._replace(state="cancelled", sentence="half\ud800"))
    assert not catalogue.cancel_requested("shop")
    assert not catalogue.request_cancel("shop")
    last = catalogue.job("shop")
    assert last is not None
    assert last.sentence == "half?"


def test_a_new_job_is_not_stopped_by_an_old_request(catalogue: Catalogue) -> None:
    job = Job("build", "running", 42, 10.0, 11.0)
    catalogue.save_job("shop", job)
    catalogue.request_cancel("shop")
    catalogue.save_job("shop", job._replace(kind="sync", started=20.0))
    assert not catalogue.cancel_requested("shop")


def test_a_reader_may_ask_to_cancel(tmp_path: Path) -> None:
    with new_catalogue(tmp_path) as writer:
        writer.save_job("shop", Job("build", "running", 42, 10.0, 11.0))
        with Catalogue.open(tmp_path) as reader:
            assert reader.request_cancel("shop")
        assert writer.cancel_requested("shop")


def test_ten_thousand_files(catalogue: Catalogue) -> None:
    updates = [update(f"src/{n // 100}/m{n}.py", chunks=0, version=n) for n in range(10_000)]
    commit(catalogue, *updates)
    files = catalogue.files("shop")
    assert len(files) == 10_000
    assert files["src/42/m4242.py"].version == 4242


def test_create_refuses_what_exists(tmp_path: Path) -> None:
    new_catalogue(tmp_path).close()
    with pytest.raises(StoreError, match="index --force"):
        Catalogue.create(tmp_path, MANIFEST)
    Catalogue.discard(tmp_path)
    assert list(tmp_path.iterdir()) == []
    new_catalogue(tmp_path).close()


def test_open_needs_an_index(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match="asterism index"):
        Catalogue.open(tmp_path)


def test_everything_is_there_after_opening_again(tmp_path: Path) -> None:
    with new_catalogue(tmp_path) as catalogue:
        commit(catalogue, _full("a.py", 1))
        first = catalogue.next_file_version(2)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["catalogue.lock", "catalogue.sqlite", "catalogue.sums"]
    with Catalogue.open(tmp_path, writable=True) as catalogue:
        assert catalogue.next_file_version(1) == first + 2
        commit(catalogue, _full("b.py", 2))
    with Catalogue.open(tmp_path) as catalogue:
        assert catalogue.manifest() == MANIFEST
        assert _paths(catalogue, "used") == ["a.py", "b.py"]


def test_bulk_puts_off_indexes_and_still_answers(tmp_path: Path) -> None:
    catalogue = new_catalogue(tmp_path)
    catalogue.begin_bulk()
    commit(catalogue, _full("a.py", 1))
    assert _indexes(tmp_path) == {"links_by_target"}
    assert _paths(catalogue, "used") == ["a.py"]
    catalogue.begin_bulk()
    catalogue.end_bulk()
    everything = _indexes(tmp_path)
    assert len(everything) == 3
    catalogue.begin_bulk()
    assert _indexes(tmp_path) == everything
    catalogue.close()


def test_opening_for_writing_makes_missing_indexes(tmp_path: Path) -> None:
    with new_catalogue(tmp_path) as catalogue:
        catalogue.begin_bulk()
        commit(catalogue, _full("a.py", 1))
    with Catalogue.open(tmp_path) as reader:
        assert _paths(reader, "used") == ["a.py"]
    assert len(_indexes(tmp_path)) == 1
    Catalogue.open(tmp_path, writable=True).close()
    assert len(_indexes(tmp_path)) == 3


def test_a_snapshot_does_not_see_later_commits(tmp_path: Path) -> None:
    with new_catalogue(tmp_path) as writer, Catalogue.open(tmp_path) as reader:
        with reader.snapshot():
            assert reader.files("shop") == {}
            commit(writer, _full("a.py", 1))
            assert reader.files("shop") == {}
            assert reader.chunks_version() == 0
        assert list(reader.files("shop")) == ["a.py"]


def _full(path: str, version: int) -> FileUpdate:
    """A file with something in every table."""
    rows = (definition(path, "old"), usage(path, "used", 3, "old", chunk=chunk_id(1)))
    return FileUpdate(
        state(path, version)._replace(chunks=2),
        [(chunk_id(0), bytes(16)), (chunk_id(1), b"\x01" * 16)],
        rows,
        (Link("./x", None, ("x",)),),
    )


def _paths(catalogue: Catalogue, name: str) -> list[str]:
    return [found.row.filepath for found in catalogue.find_symbols(SymbolQuery(name)).rows]


def _counts(directory: Path) -> dict[str, int]:
    connection = sqlite3.connect(directory / "catalogue.sqlite")
    tables = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    counts = {
        table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables
    }
    connection.close()
    return counts


def _indexes(directory: Path) -> set[str]:
    connection = sqlite3.connect(directory / "catalogue.sqlite")
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    ).fetchall()
    connection.close()
    return {name for (name,) in rows}
