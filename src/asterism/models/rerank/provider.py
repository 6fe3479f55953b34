"""Makes the reranker of each provider, and the one that runs in this process."""

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock

from asterism.models.rerank.options import Reranker, RerankOptions, check_provider, reranker_folder
from asterism.models.weights.folder import ModelFolder, described, read_folder
from asterism.models.weights.runtime import Runtime


def make_reranker(options: RerankOptions) -> Reranker | None:
    """The reranker that the options mean, or none; nothing is sent before its first question."""
    check_provider(options)
    match options.provider:
        case "auto" | "none" | "encoder":
            # An encoder compares vectors, and the search has its embedder.
            return None
        case "local":
            return LocalReranker(options)
        case "voyage":
            from asterism.models.rerank.voyage import voyage_reranker

            return voyage_reranker(options)


# Models that stay loaded; a process uses one, tests and comparisons a few.
MODELS_KEPT = 4


class LocalReranker:
    """A model from a folder, loaded with the first question."""

    def __init__(self, options: RerankOptions) -> None:
        """Nothing is loaded yet but the description of the folder."""
        self.folder: ModelFolder = read_folder(reranker_folder(options), "reranker")
        self._lock = Lock()
        self._runtime: Runtime | None = None

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        """A score from 0 to 1 for each document; blank ones get 0."""
        scores = self.score_within(query, documents, None)
        return [0.0 if value is None else _logistic(value) for value in scores]

    def score_within(
        self, query: str, documents: Sequence[str], seconds: float | None
    ) -> list[float | None]:
        """Log-odds for as many documents as can be read in that time, the first ones first.

        Nothing for the others, and for blank ones.
        """
        found: list[float | None] = [None] * len(documents)
        filled = [place for place, document in enumerate(documents) if document.strip()]
        if not filled or not query.strip():
            return found
        runtime = self.runtime
        rows = runtime.pairs(query, [documents[place] for place in filled])
        for place, answer in zip(filled, runtime.answers(rows, seconds), strict=True):
            found[place] = None if answer is None else float(answer[0])
        return found

    def close(self) -> None:
        """Let go of the model; others in this process may still use it."""
        self._runtime = None

    @property
    def runtime(self) -> Runtime:
        """The model, loaded once."""
        with self._lock:
            self._runtime = self._runtime or _shared(*described(self.folder.path))
            return self._runtime


@lru_cache(maxsize=MODELS_KEPT)
def _shared(path: Path, changed_ns: int) -> Runtime:
    """One model for all rerankers of this process, until its description is another."""
    return Runtime(read_folder(path, "reranker"))


def _logistic(value: float) -> float:
    if value < 0:
        return math.exp(value) / (1.0 + math.exp(value))
    return 1.0 / (1.0 + math.exp(-value))
