"""Cleaning where the command line cannot look: other schemas, other writers, what is never done."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from asterism.engine.cleanup import Cleaning
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.store.catalogue.catalogue import Catalogue
from asterism.types.errors import SettingError
from asterism.types.index import SymbolQuery
from tests.engine.conftest import SETTINGS, make

SIZED = Cleaning(False, (), (), (), (), bytes_before=100, bytes_after=120)


def test_bytes_are_never_freed_below_nothing() -> None:
    """Another process may write while this one cleans."""
    assert SIZED.freed == 0


def test_an_older_index_is_neither_changed_nor_wiped(engine: Engine, tmp_path: Path) -> None:
    registered = engine.register(make(tmp_path / "shop", a="def first(): ...\n"))
    engine.index(registered)
    catalogue = registered.project.directory / "catalogue.sqlite"
    with closing(sqlite3.connect(catalogue)) as connection:
        connection.execute("UPDATE facts SET value = 0 WHERE key = 'schema_version'")
        connection.execute("PRAGMA user_version = 0")
        connection.commit()
    before = catalogue.read_bytes()
    found = engine.clean()
    assert (found.maintained, found.removals) == ((), ())
    assert catalogue.read_bytes() == before


def test_maintenance_is_committed(engine: Engine, tmp_path: Path) -> None:
    root = make(tmp_path / "shop", a="def first(): ...\n")
    registered = engine.register(root)
    for number in range(5):
        (root / f"b{number}.py").write_text(f"def more{number}(): ...\n")
        engine.index(registered)
    table = registered.project.directory / "chunks.lance"
    before = sorted(table.rglob("*.lance"))
    assert engine.clean().maintained == ("shop",)
    # Small pieces were merged, and the catalogue names the version that knows the merged one.
    assert sorted(table.rglob("*.lance")) != before
    inspected = engine.inspect(root / "b4.py")
    assert inspected.held.trouble == ""
    assert [chunk.has_vector for chunk in inspected.held.chunks] == [True]
    (root / "c.py").write_text("def last(): ...\n")
    assert engine.index(registered).added == 1


def test_settings_that_are_wrong_stop_one_project_only(
    places: DataDirectories, tmp_path: Path
) -> None:
    def settings(root: str) -> object:
        if root.endswith("bad"):
            raise SettingError("asterism.toml is not valid.")
        return SETTINGS

    engine = Engine(places, settings)  # type: ignore[arg-type]
    good = Engine(places, lambda _root: SETTINGS)
    for name in ("bad", "good"):
        good.index(good.register(make(tmp_path / name, a="x = 1\n")))
    found = engine.clean()
    assert found.maintained == ("good",)
    assert found.left_alone == ("bad was left as it is: asterism.toml is not valid.",)


def test_a_repository_that_may_not_be_looked_at_is_not_gone(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may look at everything, so the refusal is played."""
    root = make(tmp_path / "shop", a="x = 1\n")
    engine.register(root)
    real = os.stat

    def refuse(path: object, **more: bool) -> os.stat_result:
        if str(path) == str(root):
            raise PermissionError(13, "Permission denied")
        return real(path, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", refuse)
    assert engine.clean(dry_run=True).gone == ()


def test_a_dry_run_writes_nothing(engine: Engine, places: DataDirectories, tmp_path: Path) -> None:
    engine.index(engine.register(make(tmp_path / "shop", a="x = 1\n")))
    lost = places.data / "projects" / "lost-01234567"
    lost.mkdir()
    (lost / "writer.lock").write_text("")
    before = times(places)
    found = engine.clean(dry_run=True, cache=True)
    assert {removal.path.name for removal in found.removals} == {
        "lost-01234567",
        "embeddings.sqlite",
    }
    assert times(places) == before


def times(places: DataDirectories) -> dict[Path, int]:
    """When each file was last written; reading a database makes files of its own beside it."""
    return {
        path: path.stat().st_mtime_ns
        for folder in places
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


def test_removing_one_repository_leaves_the_rows_of_another(engine: Engine, tmp_path: Path) -> None:
    first = engine.register(make(tmp_path / "one", a="def first(): ...\n"), project="both")
    second = engine.register(make(tmp_path / "two", a="def second(): ...\n"), project="both")
    for registered in (first, second):
        engine.index(registered)
    engine.remove(first)
    with Catalogue.open(second.project.directory) as catalogue:
        assert [known.name for known in catalogue.repositories()] == ["two"]
        assert catalogue.find_symbols(SymbolQuery("first")).total == 0
        assert catalogue.find_symbols(SymbolQuery("second")).total > 0
        version = catalogue.chunks_version()
    from asterism.store.lance.table import LanceTable

    chunks = LanceTable.open(second.project.directory).snapshot(version).scan()
    assert [(chunk.repo, chunk.name) for chunk in chunks] == [("two", "second")]
