"""An engine with places of its own, and small repositories for it."""

from pathlib import Path

import pytest

from asterism.config.model_sections import EmbeddingSettings
from asterism.config.sections import StructureSettings, WatchSettings, WorkSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories

# Language servers that are installed on the machine would answer otherwise.
NO_SERVERS = StructureSettings(cpp="off", go="off", rust="off", java="off")

SETTINGS = Settings(
    embedding=EmbeddingSettings(),
    watch=WatchSettings(debounce_ms=20),
    work=WorkSettings(jobs=1),
    structure=NO_SERVERS,
)


@pytest.fixture
def places(tmp_path: Path) -> DataDirectories:
    return DataDirectories(tmp_path / "data", tmp_path / "cache")


@pytest.fixture
def engine(places: DataDirectories) -> Engine:
    return Engine(places, lambda _root: SETTINGS)


def make(root: Path, **files: str) -> Path:
    """A directory with these Python files."""
    root.mkdir(parents=True)
    for name, text in files.items():
        (root / f"{name}.py").write_text(text)
    return root
