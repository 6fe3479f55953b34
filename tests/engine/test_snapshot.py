"""One query reads one state: it opens the catalogue once, and no commit meanwhile changes it."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asterism.analysis.source.discovery import DiscoveryOptions, discover
from asterism.config.sections import IndexSettings
from asterism.config.settings import Settings
from asterism.engine import snapshot as snapshots
from asterism.engine.context_reply import ContextReply
from asterism.engine.engine import Engine
from asterism.engine.relations import Relation, RelationsRequest
from asterism.engine.search import SearchRequest
from asterism.engine.snapshot import (
    QuerySnapshot,
    SnapshotRequest,
    Unchanged,
    answered,
    query_snapshot,
)
from asterism.engine.stores import DataDirectories
from asterism.engine.warm import Warm
from asterism.lsp.keeper import ServerCondition
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Registered
from asterism.structure.positions import SymbolTarget
from asterism.types.errors import IndexCorrupt, IndexMissing, ServerDied
from asterism.types.files import Discovery, FoundFile
from asterism.types.index import SymbolQuery
from asterism.types.structure import Connections
from tests.engine.conftest import NO_SERVERS, SETTINGS, make

BY_NAME = replace(SETTINGS, structure=replace(NO_SERVERS, typescript="off", python="off"))
CHECKED = replace(SETTINGS, structure=replace(NO_SERVERS, typescript="off"))

SHOP = "def total(prices):\n    return sum(prices)\n"
TILL = "from shop import total\n\n\ndef receipt(prices):\n    return str(total(prices))\n"
GIFT = "from shop import total\n\n\ndef voucher(prices):\n    return total(prices) // 2\n"
EDITED = "LIMIT = 3\n\n\ndef total(prices, limit=LIMIT):\n    return round(sum(prices), limit)\n"


class Counts:
    """How often the catalogue was opened, and the tree walked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened = self.written = self.walked = 0
        open_it = Catalogue.open

        def opening(directory: Path, writable: bool = False) -> Catalogue:
            self.opened += not writable
            self.written += writable
            return open_it(directory, writable)

        def walking(
            root: str, options: DiscoveryOptions, known: Collection[FoundFile]
        ) -> Discovery:
            self.walked += 1
            return discover(root, options, known)

        monkeypatch.setattr(Catalogue, "open", opening)
        monkeypatch.setattr("asterism.indexing.plan.discover", walking)

    def taken(self) -> tuple[int, int, int]:
        """Openings for reading, openings for writing, walks; counting begins anew."""
        found = (self.opened, self.written, self.walked)
        self.opened = self.written = self.walked = 0
        return found


def shop(root: Path) -> Path:
    """Files that are older than the coarsest clock of a file system."""
    make(root, shop=SHOP, till=TILL)
    for file in root.iterdir():
        os.utime(file, (1_700_000_000, 1_700_000_000))
    return root


def indexed(
    places: DataDirectories, root: Path, settings: Settings = BY_NAME
) -> tuple[Engine, Registered]:
    engine = Engine(places, lambda _root: settings)
    registered = engine.register(root)
    engine.index(registered)
    return engine, registered


ASKED = SearchRequest(text="symbol = total")

QUERIES: dict[str, Callable[[Engine, Registered], object]] = {
    "search": lambda engine, registered: engine.search(registered, ASKED),
    "ranked": lambda engine, registered: engine.search(registered, SearchRequest(text="prices")),
    "context": lambda engine, registered: engine.context(registered, ASKED),
    "similar": lambda engine, registered: engine.similar(
        registered, SearchRequest(), Path(registered.repository.root, "shop.py")
    ),
    "symbols": lambda engine, registered: engine.symbols(registered, SymbolQuery("total")),
    "relations": lambda engine, registered: engine.relations(
        registered, RelationsRequest(name="total", relation=Relation.callers)
    ),
    "refresh": lambda engine, registered: engine.refresh(registered),
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_opens_once_and_walks_once(
    places: DataDirectories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(snapshots, "RACY_NS", -(10**15))
    engine, registered = indexed(places, shop(tmp_path / "shop"))
    counts = Counts(monkeypatch)
    for walks in (1, 1, 0):
        # From the third query on a process knows that nothing has changed.
        QUERIES[query](engine, registered)
        assert counts.taken() == (1, 0, walks)
    (tmp_path / "shop" / "gift.py").write_text(GIFT)
    QUERIES[query](engine, registered)
    assert counts.taken() == (2, 1, 1)
    engine.close()


def test_a_context_query_that_asks_a_compiler_walks_once(
    places: DataDirectories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, registered = indexed(places, shop(tmp_path / "shop"), CHECKED)
    witness = Witness()
    meet(engine, registered, witness)
    counts = Counts(monkeypatch)
    engine.context(registered, ASKED)
    assert counts.taken() == (1, 0, 1)
    assert [file.path for file in witness.told] == ["shop.py", "till.py"]


class Witness:
    """A compiler that crashes when it is asked, after something else has happened."""

    condition = ServerCondition.resting
    pid = None

    def __init__(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        self._meanwhile = meanwhile
        self.told: Sequence[FoundFile] = ()

    def warm_up(self, files: Sequence[FoundFile]) -> None:
        """Nothing takes time here."""

    def connections(
        self, targets: Sequence[SymbolTarget], files: Sequence[FoundFile]
    ) -> tuple[Connections, ...]:
        self.told = files
        self._meanwhile()
        raise ServerDied("It crashed.")

    def close(self) -> None:
        """There is no process."""


def meet(engine: Engine, registered: Registered, witness: Any) -> None:
    engine.connector(registered)._witnesses["python"] = witness


def shown(reply: ContextReply) -> tuple[object, ...]:
    """Everything in a reply but the time that it took."""
    return (
        [(part.text, part.priority) for part in reply.assembly.parts],
        reply.results,
        reply.account,
        reply.notes,
        replace(reply.search, seconds=0.0),
    )


def test_a_commit_between_search_and_connections_changes_nothing(
    places: DataDirectories, tmp_path: Path
) -> None:
    root = shop(tmp_path / "shop")
    engine, registered = indexed(places, root, CHECKED)
    meet(engine, registered, Witness())
    before = shown(engine.context(registered, ASKED))

    def commit() -> None:
        (root / "gift.py").write_text(GIFT)
        (root / "shop.py").write_text(EDITED)
        other = Engine(places, lambda _root: CHECKED)
        assert other.index(registered).added == 1

    meet(engine, registered, Witness(commit))
    during = engine.context(registered, ASKED)
    assert shown(during) == before
    assert "receipt" in during.assembly.parts[0].text
    meet(engine, registered, Witness())
    after = engine.context(registered, ASKED)
    assert "voucher" in after.assembly.parts[0].text
    assert "LIMIT" in after.assembly.parts[1].text
    engine.close()


def opening_of(
    places: DataDirectories, registered: Registered, settings: Settings = BY_NAME
) -> SnapshotRequest:
    return SnapshotRequest(registered, settings, places, Unchanged())


def test_a_table_that_was_replaced_is_read_from_a_new_snapshot(
    places: DataDirectories, tmp_path: Path
) -> None:
    engine, registered = indexed(places, shop(tmp_path / "shop"))
    directory, attempts = registered.project.directory, []

    def read(snapshot: QuerySnapshot) -> list[str]:
        attempts.append(snapshot.version)
        if len(attempts) == 1:
            engine.index(registered, force=True)
        rows = Warm().snapshot(directory, snapshot.catalogue).scan()
        return sorted(row.name for row in rows if row.name == "total")

    assert answered(opening_of(places, registered), read) == ["total"]
    assert len(attempts) == 2


def test_damage_is_reported_after_one_attempt(places: DataDirectories, tmp_path: Path) -> None:
    _, registered = indexed(places, shop(tmp_path / "shop"))
    attempts = []

    def read(snapshot: QuerySnapshot) -> None:
        attempts.append(snapshot)
        raise IndexCorrupt("It is damaged.")

    with pytest.raises(IndexCorrupt, match="It is damaged"):
        answered(opening_of(places, registered), read)
    assert len(attempts) == 1


def test_an_index_that_is_behind_lists_the_files_on_disk(
    places: DataDirectories, tmp_path: Path
) -> None:
    root = shop(tmp_path / "shop")
    _, registered = indexed(places, root)
    (root / "gift.py").write_text(GIFT)
    hasty = replace(BY_NAME, index=IndexSettings(sync_seconds=0.0))
    for settings, behind in ((hasty, 1), (BY_NAME, 0)):
        with query_snapshot(opening_of(places, registered, settings)) as snapshot:
            assert snapshot.freshness.behind == behind
            paths = [file.path for file in snapshot.listing]
            assert paths == ["gift.py", "shop.py", "till.py"]
            indexed_now = snapshot.catalogue.files("shop")
            assert ("gift.py" in indexed_now) is not bool(behind)


def test_a_repository_that_was_never_indexed(places: DataDirectories, tmp_path: Path) -> None:
    engine, registered = indexed(places, shop(tmp_path / "shop"))
    second = engine.register(make(tmp_path / "second", two=SHOP), project=registered.project.id)
    with engine.snapshot(second) as snapshot:
        assert not snapshot.is_known
        assert "is not indexed yet" in snapshot.freshness.message
        with pytest.raises(IndexMissing, match="is not indexed yet"):
            snapshot.check_known()


def test_what_is_skipped_is_recorded_where_no_file_changed(
    places: DataDirectories, tmp_path: Path
) -> None:
    root = shop(tmp_path / "shop")
    engine, registered = indexed(places, root)
    (root / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    with engine.snapshot(registered) as snapshot:
        assert [entry.path for entry in snapshot.catalogue.skipped("shop")] == ["logo.png"]
