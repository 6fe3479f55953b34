"""The product's own search under evaluation, with settings that name a model."""

import re
from collections.abc import Mapping
from pathlib import Path

from asterism.config.load import load
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.evaluation.adapters import EngineSearcher, word_search
from asterism.evaluation.datasets import Dataset
from asterism.evaluation.run import SearchOptions, run_dataset
from asterism.evaluation.runs import Run
from asterism.store.registry import Registered
from asterism.types.search import Hit, Mode
from training.evaluation.figures import Scored
from training.evaluation.scoring import AT_MOST

WORDS = "words by BM25"


def run(
    dataset: Dataset,
    repos_dir: Path,
    name: str,
    settings: Mapping[str, object],
    kept: Path,
    mode: Mode = Mode.hybrid,
) -> tuple[Run, list[str]]:
    """Index and ask with these settings; what searches had to say about their answers besides.

    Each name has its indexes, all of them share the vectors that were made before.
    """
    notes: dict[str, None] = {}

    def settings_for(root: str) -> Settings:
        return load(Path(root), settings).settings

    engine = Engine(DataDirectories(kept / re.sub(r"\W+", "-", name), kept / "cache"), settings_for)

    def search(registered: Registered, query: str, limit: int) -> list[Hit]:
        reply = engine.search(registered, SearchRequest(text=query, limit=limit, mode=mode))
        notes.update(dict.fromkeys(reply.notes))
        return [one.hit for one in reply.selection.kept]

    def words(registered: Registered, query: str, limit: int) -> list[Hit]:
        return word_search(registered, query, limit)

    searcher = EngineSearcher(engine, words if name == WORDS else search, name)
    try:
        done = run_dataset(
            dataset,
            lambda checkout: repos_dir / checkout.name,
            searcher,
            SearchOptions(limit=AT_MOST),
        )
    finally:
        engine.close()
    return done, list(notes)


def scored(done: Run, dataset: Dataset) -> list[Scored]:
    """What a run is worth, question by question."""
    return [
        Scored(
            result.id,
            result.repo,
            dataset.checkouts[result.repo].language or result.language,
            result.category,
            result.measures.ndcg,
            result.measures.file_ndcg,
        )
        for result in done.results
        if result.is_answerable
    ]
