"""The small repositories whose ranks are golden, and a searcher over them.

python -m tests.evaluation.ranked_repositories      # write the golden ranks anew
"""

import shutil
import sys
import tempfile
from pathlib import Path

from asterism.config.model_sections import RerankSettings
from asterism.config.sections import WorkSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.evaluation.adapters import EngineSearcher
from asterism.store.registry import Registered
from asterism.types.search import Hit
from tests.evaluation.golden_ranks import write_ranks

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "ranks"

# Each with the directory it is copied from.
REPOSITORIES = {"harbor": ROOT / "examples" / "harbor", "languages": ROOT / "tests" / "fixtures"}

# Fixtures' expectations repeat every name of the code beside them.
_LEFT_OUT = shutil.ignore_patterns("*.expected.json", "README.md")


def copied(name: str, below: Path) -> Path:
    """A copy of a repository, so that its own place and git say nothing."""
    source = REPOSITORIES[name]
    left_out = _LEFT_OUT if name == "languages" else None
    return Path(shutil.copytree(source, below / name, ignore=left_out))


def searcher(places: Path, jobs: int = 1) -> EngineSearcher:
    """Search with default settings, but without a reranker, whose time is limited."""
    settings = Settings(work=WorkSettings(jobs=jobs), rerank=RerankSettings(provider="none"))
    engine = Engine(DataDirectories(places / "data", places / "cache"), lambda _root: settings)

    def search(registered: Registered, query: str, limit: int) -> list[Hit]:
        reply = engine.search(registered, SearchRequest(text=query, limit=limit))
        return [kept.hit for kept in reply.selection.kept]

    return EngineSearcher(engine, search)


def main() -> int:
    """Write the ranks of every repository as they are now."""
    for name in REPOSITORIES:
        with tempfile.TemporaryDirectory() as scratch:
            base = Path(scratch)
            write_ranks(GOLDEN / f"{name}.txt", searcher(base), copied(name, base))
    return 0


if __name__ == "__main__":
    sys.exit(main())
