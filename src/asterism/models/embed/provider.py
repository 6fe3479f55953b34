"""The protocol of an embedding provider, and the form of its vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from asterism.models.embed.options import EmbedOptions, identity_of
from asterism.types.index import ModelIdentity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Matrix: TypeAlias = "NDArray[np.float32]"
"""A unit vector per row."""


class Embedder(Protocol):
    """Turns texts into unit vectors; equal texts give equal vectors.

    Vectors are rounded to half precision before they are returned, so that one that was kept in
    a cache is the same, bit for bit, as one made anew.
    """

    @property
    def identity(self) -> ModelIdentity:
        """Provider, model and dimensions, known without a request."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """A vector for each text to be found; blank texts get zeros and are never sent."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """A vector for each text to search with."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


def make_embedder(options: EmbedOptions) -> Embedder:
    """The embedder that the options mean; nothing is loaded or sent before its first text."""
    identity_of(options)
    match options.provider:
        case "local":
            from asterism.models.embed.static import StaticEmbedder

            return StaticEmbedder(options)
        case "encoder":
            from asterism.models.embed.encoder import EncoderEmbedder

            return EncoderEmbedder(options)
        case "minilm":
            from asterism.models.embed.vendors import MiniLmEmbedder

            return MiniLmEmbedder()
        case "voyage":
            from asterism.models.embed.vendors import voyage_embedder

            return voyage_embedder(options)
        case "openai":
            from asterism.models.embed.vendors import openai_embedder

            return openai_embedder(options)


def halved(vectors: Matrix) -> Matrix:
    """Rounded to half precision, which is what the cache and the store keep."""
    import numpy as np

    return vectors.astype(np.float16).astype(np.float32)


def unit(vectors: NDArray[np.float32]) -> Matrix:
    """Rows of length one; a row of zeros stays as it is."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    scaled: Matrix = vectors / lengths
    return scaled
