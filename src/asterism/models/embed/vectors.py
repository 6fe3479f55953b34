"""Unit length and half precision, for the vectors of every provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.models.embed.provider import Matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def unit(vectors: NDArray[np.float32]) -> Matrix:
    """Rows of length one; a row of zeros stays as it is."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    scaled: Matrix = vectors / lengths
    return scaled


def halved(vectors: Matrix) -> Matrix:
    """Rounded to half precision, which is what the cache and the store keep."""
    import numpy as np

    return vectors.astype(np.float16).astype(np.float32)
