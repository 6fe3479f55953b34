"""The protocol of a reranker."""

from collections.abc import Sequence
from typing import Protocol

from asterism.models.rerank.options import RerankOptions, check_provider


class Reranker(Protocol):
    """Reads a question and a text together, and says how well the text answers it."""

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        """A score from 0 to 1 for each document, in their order.

        Blank documents get 0 and are never sent; what is longer than the model reads is trimmed.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


def make_reranker(options: RerankOptions) -> Reranker | None:
    """The reranker that the options mean, or none; nothing is sent before its first question."""
    check_provider(options)
    match options.provider:
        case "auto" | "none" | "encoder":
            # An encoder compares vectors, and whoever searches has its embedder.
            return None
        case "local":
            from asterism.models.rerank.local import LocalReranker

            return LocalReranker(options)
        case "voyage":
            from asterism.models.rerank.voyage import voyage_reranker

            return voyage_reranker(options)
