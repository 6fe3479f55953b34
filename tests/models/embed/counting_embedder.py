"""A fake embedder for tests: vectors out of a hash, and a count of what was asked."""

import hashlib
from collections.abc import Sequence

from asterism.models.embed.provider import Matrix, halved, unit
from asterism.types.errors import ProviderDown
from asterism.types.index import ModelIdentity


class CountingEmbedder:
    """Equal texts get equal vectors, different texts nearly always different ones.

    It keeps the promises of `Embedder`, needs no files and no network, and remembers every text
    it was given. With `fail_after` it fails like a service that went away.
    """

    def __init__(
        self, dimensions: int = 8, model: str = "fake", fail_after: int | None = None
    ) -> None:
        """After `fail_after` texts in all, `ProviderDown` is raised instead of an answer."""
        self._identity = ModelIdentity("fake", model, dimensions)
        self.fail_after = fail_after
        self.calls = 0
        self.documents: list[str] = []
        """Every text given to `embed_documents`, in order, blank ones aside."""
        self.queries: list[str] = []
        self.closed = False

    @property
    def identity(self) -> ModelIdentity:
        """The provider is `fake`."""
        return self._identity

    @property
    def texts(self) -> int:
        """How many texts were embedded."""
        return len(self.documents) + len(self.queries)

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """A vector for each text; blank texts get zeros and are not counted."""
        return self._embed(texts, self.documents)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """The vector a document of the same text has."""
        return self._embed(texts, self.queries)

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    def _embed(self, texts: Sequence[str], seen: list[str]) -> Matrix:
        import numpy as np

        filled = [text for text in texts if text.strip()]
        if self.fail_after is not None and self.texts + len(filled) > self.fail_after:
            raise ProviderDown(f"The fake fails after {self.fail_after} texts, as it was told to.")
        self.calls += 1
        seen.extend(filled)
        dimensions = self._identity.dimensions
        rows = [hashed(text, dimensions) if text.strip() else [0] * dimensions for text in texts]
        return halved(unit(np.array(rows, dtype=np.float32).reshape(-1, dimensions)))


def hashed(text: str, dimensions: int) -> list[int]:
    """Whole numbers that depend on the text alone, never all zero."""
    digest = hashlib.shake_128(text.encode("utf-8", "replace")).digest(2 * dimensions)
    return [
        int.from_bytes(digest[place : place + 2], "big", signed=True) or 1
        for place in range(0, len(digest), 2)
    ]
