"""Models whose calls are counted and timed, around whatever model is used."""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from asterism.models.embed.provider import Embedder, Matrix
from asterism.models.rerank.provider import Reranker
from asterism.telemetry.events import log_event
from asterism.telemetry.meters import PROVIDER_FAILURES, PROVIDER_TEXTS, PROVIDERS
from asterism.types.errors import ProviderError
from asterism.types.index import ModelIdentity


class MeasuredEmbedder:
    """An embedder that counts."""

    def __init__(self, inner: Embedder) -> None:
        """Around another one."""
        self._inner = inner

    @property
    def identity(self) -> ModelIdentity:
        """That of the model."""
        return self._inner.identity

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """A vector for each text."""
        with measured_call("embedding", self.identity.provider, len(texts)):
            return self._inner.embed_documents(texts)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """A vector for each question."""
        with measured_call("embedding", self.identity.provider, len(texts)):
            return self._inner.embed_queries(texts)

    def close(self) -> None:
        """Let go of connections."""
        self._inner.close()


class MeasuredReranker:
    """A reranker that counts."""

    def __init__(self, inner: Reranker, provider: str) -> None:
        """Around another one."""
        self._inner = inner
        self._provider = provider

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        """A score for each document."""
        with measured_call("rerank", self._provider, len(documents)):
            return self._inner.rerank(query, documents)

    def close(self) -> None:
        """Let go of connections."""
        self._inner.close()


@contextmanager
def measured_call(kind: str, provider: str, texts: int) -> Iterator[None]:
    """Count and time what is done with a model, and how it failed."""
    began = time.perf_counter()
    failure: ProviderError | None = None
    try:
        yield
    except ProviderError as error:
        failure = error
        PROVIDER_FAILURES.add(kind, provider, type(error).__name__)
        raise
    finally:
        seconds = time.perf_counter() - began
        PROVIDERS.observe(kind, provider, "ok" if failure is None else "error", value=seconds)
        PROVIDER_TEXTS.add(kind, provider, amount=texts)
        log_event(
            "provider",
            logging.DEBUG if failure is None else logging.WARNING,
            kind=kind,
            provider=provider,
            texts=texts,
            seconds=seconds,
            error=None if failure is None else type(failure).__name__,
            message=None if failure is None else str(failure),
        )
