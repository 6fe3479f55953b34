"""An embedder that tests teach: each text gets the vector it was told."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from asterism.types.errors import ProviderDown
from asterism.types.index import ModelIdentity


class Taught:
    """Vectors by text; unknown texts are like nothing. With `down` it fails as a service does."""

    def __init__(self, vectors: Mapping[str, Sequence[float]], *, down: bool = False) -> None:
        self._vectors = {text: np.array(vector) for text, vector in vectors.items()}
        self._size = max((len(vector) for vector in vectors.values()), default=1)
        self.down = down
        self.batches: list[list[str]] = []
        """What `embed_documents` was given, call by call."""

    @property
    def identity(self) -> ModelIdentity:
        """A model without measurements."""
        return ModelIdentity("taught", "by-hand", self._size)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors that were taught."""
        self.batches.append(list(texts))
        return self.embed_queries(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors that were taught."""
        if self.down:
            raise ProviderDown("The model is not there. Start it.")
        rows = np.zeros((len(texts), self._size), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            vector = self._vectors.get(text)
            if vector is not None:
                row[: len(vector)] = vector / np.linalg.norm(vector)
        return rows

    def close(self) -> None:
        """Nothing is open."""


class Measured(Taught):
    """The same under the name of the built-in model, whose curve is known."""

    @property
    def identity(self) -> ModelIdentity:
        """The built-in model's."""
        return ModelIdentity("local", "asterism-static-2", self._size)


def near(axis: int, cosine: float, size: int = 8) -> list[float]:
    """A vector with a cosine to one axis; the rest lies on the last axis."""
    vector = [0.0] * size
    vector[axis] = cosine
    vector[-1] = (1.0 - cosine**2) ** 0.5
    return vector
