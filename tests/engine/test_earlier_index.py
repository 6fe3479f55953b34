"""An index that the version before made still answers, and says that it should be built again.

`earlier/index.tar.xz` has a small repository and the data directory that revision da5f0e7 wrote for
it. A change of the version that files are read with needs no new one.
"""

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.store.registry import Registered
from asterism.types.index import Staleness, SymbolQuery

STORED = Path(__file__).parent / "earlier" / "index.tar.xz"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with tarfile.open(STORED) as archive:
        archive.extractall(tmp_path, filter="data")
    made = Engine(DataDirectories(tmp_path / "data", tmp_path / "cache"), lambda _root: Settings())
    yield made
    made.close()


@pytest.fixture
def shop(engine: Engine, tmp_path: Path) -> Registered:
    (known,) = engine.registry.repositories()
    return engine.registry.move(known, tmp_path / "shop")


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("how is a customer charged", "place_order"),
        ("valid", "valid"),
        ('"the token has expired"', "place_order"),
        ("symbol=Basket.put", "Basket.put"),
    ],
)
def test_an_earlier_index_answers(engine: Engine, shop: Registered, query: str, first: str) -> None:
    request = SearchRequest(text=query)
    found = engine.search(shop, request)
    assert found.selection.kept[0].hit.chunk.qualified_name == first
    assert "reindex needed" in found.state.message
    reply = engine.context(shop, request)
    assert first in {place.chunk.qualified_name for place in reply.results}


def test_an_earlier_index_is_brought_up_to_date(engine: Engine, shop: Registered) -> None:
    verdict = engine.status(shop).verdict
    assert verdict.staleness is Staleness.options
    assert "reindex needed" in verdict.message
    assert engine.symbols(shop, SymbolQuery("place_order")).total > 0
    report = engine.index(shop)
    assert (report.files, report.parsed) == (3, 3)
    assert engine.status(shop).verdict.staleness is Staleness.equal
