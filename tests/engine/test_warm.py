"""What a process keeps between questions: bounded, and never older than the index."""

import gc
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.config.sections import ChunkSettings
from asterism.engine import snapshot as snapshots
from asterism.engine import warm
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.snapshot import IndexTarget, SnapshotRequest, Unchanged, query_snapshot
from asterism.engine.stores import DataDirectories, model_identity, sync_options
from asterism.engine.warm import Warm
from asterism.models.embed.options import EmbedOptions
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkSnapshot
from asterism.store.registry import Registered
from asterism.types.search import Mode
from tests.engine.conftest import SETTINGS, make

ONE = "def one():\n    return 1\n"
TWO = "def two():\n    return 'second'\n"


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled at once; the two seconds are for clocks that tick slowly."""
    monkeypatch.setattr(snapshots, "RACY_NS", -(10**15))


def found(engine: Engine, registered: Registered, text: str, mode: Mode = Mode.hybrid) -> list[str]:
    reply = engine.search(registered, SearchRequest(text=text, mode=mode))
    assert reply.state.message == ""
    return [kept.hit.chunk.name for kept in reply.selection.kept]


def wanted(registered: Registered) -> IndexTarget:
    return IndexTarget(registered.repository.root, sync_options(SETTINGS), model_identity(SETTINGS))


def refresh(registered: Registered, places: DataDirectories, known: Unchanged) -> str:
    """What is said of the index after a query was ready for its answer."""
    with query_snapshot(SnapshotRequest(registered, SETTINGS, places, known)) as snapshot:
        return snapshot.freshness.message


def watched(engine: Engine, places: DataDirectories, root: Path) -> tuple[Registered, Unchanged]:
    """A repository that was asked about often enough."""
    registered = engine.register(root)
    engine.index(registered)
    known = Unchanged()
    for _ in range(snapshots.SYNCS_BEFORE):
        assert not known.holds(registered, wanted(registered))
        assert refresh(registered, places, known) == ""
    return registered, known


CHANGES: dict[str, Callable[[Path], object]] = {
    "edited": lambda root: (root / "one.py").write_text("def uno():\n    return 11\n"),
    "added": lambda root: (root / "more.py").write_text(TWO),
    "removed": lambda root: (root / "two.py").unlink(),
    "ignored": lambda root: (root / ".gitignore").write_text("two.py\n"),
}


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", sorted(CHANGES))
def test_a_change_is_seen_by_the_next_question(
    engine: Engine, places: DataDirectories, tmp_path: Path, change: str
) -> None:
    root = make(tmp_path / "shop", one=ONE, two=TWO)
    registered, known = watched(engine, places, root)
    assert known.holds(registered, wanted(registered))
    CHANGES[change](root)
    assert not known.holds(registered, wanted(registered))
    refresh(registered, places, known)
    assert known.holds(registered, wanted(registered))
    with Catalogue.open(registered.project.directory) as catalogue:
        there = {path for path in catalogue.files("shop") if path.endswith(".py")}
    expected = {path.name for path in root.glob("*.py")} - (
        {"two.py"} if change == "ignored" else set()
    )
    assert there == expected


@pytest.mark.usefixtures("settled")
def test_a_change_of_the_index_or_the_settings_is_seen(
    engine: Engine, places: DataDirectories, tmp_path: Path
) -> None:
    registered, known = watched(engine, places, make(tmp_path / "shop", one=ONE))
    other = replace(SETTINGS, chunks=ChunkSettings(max_tokens=900))
    assert not known.holds(registered, wanted(registered)._replace(options=sync_options(other)))
    assert known.holds(registered, wanted(registered))
    engine.index(registered, force=True)
    assert not known.holds(registered, wanted(registered))
    refresh(registered, places, known)
    assert known.holds(registered, wanted(registered))
    engine.remove(registered)
    assert not known.holds(registered, wanted(registered))


def test_what_has_just_changed_is_not_trusted(
    engine: Engine, places: DataDirectories, tmp_path: Path
) -> None:
    registered, known = watched(engine, places, make(tmp_path / "shop", one=ONE))
    assert not known.holds(registered, wanted(registered))


@pytest.mark.usefixtures("settled")
def test_few_repositories_are_remembered(
    engine: Engine, places: DataDirectories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "REPOSITORIES_KEPT", 1)
    first, known = watched(engine, places, make(tmp_path / "first", one=ONE))
    second = engine.register(make(tmp_path / "second", two=TWO))
    engine.index(second)
    for _ in range(snapshots.SYNCS_BEFORE):
        refresh(second, places, known)
    assert known.holds(second, wanted(second))
    assert not known.holds(first, wanted(first))


@pytest.mark.usefixtures("settled")
def test_a_warm_engine_follows_every_change(engine: Engine, tmp_path: Path) -> None:
    root = make(tmp_path / "shop", one=ONE, two=TWO)
    registered = engine.register(root)
    engine.index(registered)
    for _ in range(5):
        assert "two" in found(engine, registered, "second")
    (root / "two.py").write_text("def three():\n    return 'second'\n")
    assert "two" not in found(engine, registered, "second")
    assert "three" in found(engine, registered, "second")
    (root / "two.py").unlink()
    for mode in (Mode.hybrid, Mode.semantic, Mode.exact):
        assert "three" not in found(engine, registered, "second", mode)


@pytest.mark.usefixtures("settled")
def test_a_table_that_is_built_anew_is_opened_anew(
    engine: Engine, places: DataDirectories, tmp_path: Path
) -> None:
    """The versions of the new table have the numbers that those of the old one had."""
    root = make(tmp_path / "shop", one=ONE)
    registered = engine.register(root)
    engine.index(registered)
    kept = Warm()
    directory = registered.project.directory
    before = snapshot(kept, directory)
    assert snapshot(kept, directory) is before
    shutil.rmtree(directory)
    (root / "one.py").write_text("def uno():\n    return 1\n")
    Engine(places, lambda _root: SETTINGS).index(registered)
    after = snapshot(kept, directory)
    assert after.version == before.version
    assert [row.name for row in after.scan()] == ["uno"]


def snapshot(kept: Warm, directory: Path) -> ChunkSnapshot:
    with Catalogue.open(directory) as catalogue:
        return kept.snapshot(directory, catalogue)


def test_few_tables_stay_open(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm, "TABLES_KEPT", 2)
    kept, opened = Warm(), {}
    for name in ("one", "two", "three"):
        registered = engine.register(make(tmp_path / name, one=f"def {name}():\n    return 1\n"))
        engine.index(registered)
        directory = registered.project.directory
        opened[name] = (directory, snapshot(kept, directory))
    for name, same in (("three", True), ("two", True), ("one", False)):
        directory, before = opened[name]
        again = snapshot(kept, directory)
        assert (again is before) is same
        assert [row.name for row in again.scan()] == [name]


def test_vectors_are_those_of_the_model_and_kept_for_a_version() -> None:
    kept, options = Warm(), EmbedOptions()
    (first,) = kept.vectors(options, ["read a file"], version=3)
    (again,) = kept.vectors(options, ["read a file"], version=3)
    assert again is first
    (later,) = kept.vectors(options, ["read a file"], version=4)
    assert later is not first
    assert later.tolist() == first.tolist()
    (other,) = kept.vectors(options, ["write a table"], version=3)
    assert other.tolist() != first.tolist()
    expected = kept.embedder(options).embed_queries(["a", "read a file"])
    both = kept.vectors(options, ["a", "read a file"], version=3)
    assert [vector.tolist() for vector in both] == expected.tolist()


def test_only_recent_vectors_are_kept() -> None:
    kept, options = Warm(), EmbedOptions()
    (first,) = kept.vectors(options, ["question"], version=1)
    for number in range(warm.VECTORS_KEPT - 1):
        kept.vectors(options, [f"question {number}"], version=1)
    assert kept.vectors(options, ["question"], version=1)[0] is first
    for number in range(warm.VECTORS_KEPT):
        kept.vectors(options, [f"another {number}"], version=1)
    assert kept.vectors(options, ["question"], version=1)[0] is not first


def test_edits_leave_nothing_that_waits_for_the_collector(engine: Engine, tmp_path: Path) -> None:
    root = make(tmp_path / "shop", one=ONE, two=TWO)
    registered = engine.register(root)
    engine.index(registered)

    def edit_and_ask(times: int) -> None:
        for number in range(times):
            (root / "one.py").write_text(f"def edited_{number}():\n    return {number}\n" * 2)
            assert found(engine, registered, "return the second")

    # What is loaded and compiled for the first time may well go round in circles.
    edit_and_ask(3)
    gc.collect()
    gc.disable()
    try:
        edit_and_ask(5)
        # It seldom looks at old objects, and a server would grow until it does.
        assert gc.collect() == 0
    finally:
        gc.enable()
