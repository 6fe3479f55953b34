"""The example repository with its index, and all tools over an engine of its own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.config.sections import IndexSettings, WatchSettings, WorkSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox

ROOT = Path(__file__).resolve().parents[2]
# However slow the machine is, a question sees the files as they are.
SETTINGS = Settings(
    index=IndexSettings(sync_seconds=600),
    work=WorkSettings(jobs=1),
    # What servers do by themselves has tests of its own.
    watch=WatchSettings(servers=False),
)


def make_engine(base: Path) -> Engine:
    return Engine(DataDirectories(base / "data", base / "cache"), lambda _root: SETTINGS)


def copy_of_harbor(base: Path) -> Path:
    """The example outside of this project's own checkout."""
    return Path(shutil.copytree(ROOT / "examples" / "harbor", base / "harbor"))


@pytest.fixture(scope="session")
def indexed_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the example, its index, and nothing else; no test writes here."""
    base = tmp_path_factory.mktemp("indexed")
    engine = make_engine(base)
    engine.index(engine.register(copy_of_harbor(base)))
    engine.close()
    return base


@pytest.fixture
def engine(indexed_base: Path) -> Iterator[Engine]:
    made = make_engine(indexed_base)
    yield made
    made.close()


@pytest.fixture
def harbor(indexed_base: Path) -> Path:
    return indexed_base / "harbor"


@pytest.fixture
def toolbox(engine: Engine, harbor: Path) -> Toolbox:
    """All tools, for a server that was started in the example."""
    return Toolbox(engine, Standpoint(harbor))
