"""The protocol of a reranker."""

from collections.abc import Sequence
from typing import Protocol


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
