"""A fake reranker for tests: it counts words in common, and what it was asked."""

import re
from collections.abc import Sequence

from asterism.types.errors import ProviderDown

_WORD = re.compile(r"[^\W_]+")


class WordOverlapReranker:
    """A document's score is the share of the question's words that it says.

    It keeps the promises of `Reranker` and needs no network. With `fail_after` it fails like a
    service that went away.
    """

    def __init__(self, fail_after: int | None = None) -> None:
        """After `fail_after` calls, `ProviderDown` is raised instead of an answer."""
        self.fail_after = fail_after
        self.queries: list[str] = []
        """The question of each call that was answered."""
        self.documents: list[str] = []
        """Every text it was given, in order, blank ones aside."""
        self.closed = False

    @property
    def calls(self) -> int:
        """How many calls were answered."""
        return len(self.queries)

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        """The share of the question's words in each document; 0 for blank ones."""
        if self.fail_after is not None and self.calls >= self.fail_after:
            raise ProviderDown(f"The fake fails after {self.fail_after} calls, as it was told to.")
        self.queries.append(query)
        self.documents += [document for document in documents if document.strip()]
        asked = words(query)
        return [len(asked & words(document)) / max(len(asked), 1) for document in documents]

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


def words(text: str) -> frozenset[str]:
    """The different words of a text, in lower case."""
    return frozenset(word.lower() for word in _WORD.findall(text))
