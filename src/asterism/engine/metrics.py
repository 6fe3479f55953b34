"""What the engine counts and logs: queries in flight, calls of models, searches and syncs."""

from __future__ import annotations

import logging
import math
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Condition, Event
from typing import TYPE_CHECKING

from asterism import __version__
from asterism.indexing.report import SyncReport
from asterism.models.embed.provider import Embedder, Matrix
from asterism.models.rerank.options import Reranker
from asterism.telemetry.events import LOGGER, log_event
from asterism.telemetry.meters import (
    BUILD,
    CACHES,
    PROVIDER_FAILURES,
    PROVIDER_TEXTS,
    PROVIDERS,
    SYNC_CHUNKS,
    SYNC_FILES,
    SYNC_VECTORS,
)
from asterism.telemetry.operations import MeasuredOperation, ReplySize, record_reply
from asterism.types.deadlines import limited_to
from asterism.types.errors import ProviderError
from asterism.types.index import ModelIdentity
from asterism.types.search import Account

if TYPE_CHECKING:
    # Most commands load no search.
    from asterism.engine.search import SearchReply


LOOK_SECONDS = 1.0
"""How often someone who waits looks whether he is to stop."""


class QueryCounter:
    """Counts in-flight queries so that background work can yield."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0

    @contextmanager
    def answering(self, seconds: float = math.inf) -> Iterator[None]:
        """Counts one query, with a deadline in `seconds`."""
        with self._changed:
            self._running += 1
        try:
            with limited_to(seconds):
                yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def wait_for_none(self, stop: Event) -> None:
        """Return when no query is in flight, or when told to stop."""
        with self._changed:
            while self._running and not stop.is_set():
                self._changed.wait(LOOK_SECONDS)


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
        """Close connections."""
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
        """Close connections."""
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


SEARCH = "search"
"""The surface whose replies are what the selector chose, before any server wraps them."""

# The version that the counts belong to.
BUILD.set(__version__, platform.python_version(), value=1)

_FILES = ("added", "changed", "removed", "touched", "parsed", "reread")
_VECTORS = ("embedded", "cached", "reused")


def record_search(reply: SearchReply, done: MeasuredOperation) -> None:
    """Count what a search gave out, and add it to its line in the log."""
    account, question = reply.selection.account, reply.search.question
    record_account(SEARCH, account)
    done.note(
        # The query text is logged at debug level only.
        query=question.text if LOGGER.isEnabledFor(logging.DEBUG) else None,
        query_chars=len(question.text),
        found=reply.total.matches,
        returned=account.returned_count,
        truncated=account.truncated,
        reason=account.truncation_info.reason,
        files_behind=reply.state.behind or None,
        index_state=reply.state.message or None,
        notes=reply.notes or None,
    )


def record_account(surface: str, account: Account) -> None:
    """Count a selection that a surface returned."""
    info = account.truncation_info
    record_reply(
        ReplySize(
            surface=surface,
            utilisation=account.utilisation,
            reason=None if info.reason is None else info.reason.value,
            chars=info.estimated_chars,
            limit_chars=info.limit_chars,
            original_count=info.original_count,
            returned_count=info.returned_count,
            dropped=account.dropped._asdict(),
        )
    )


def record_sync(report: SyncReport, done: MeasuredOperation) -> None:
    """Count what a sync did, and add it to its line in the log."""
    counts = {what: getattr(report, what) for what in (*_FILES, *_VECTORS)}
    for what in _FILES:
        SYNC_FILES.add(what, amount=counts[what])
    for source in _VECTORS:
        SYNC_VECTORS.add(source, amount=counts[source])
    SYNC_CHUNKS.add(amount=report.chunks_written)
    if not report.did_something:
        # A server that is asked often would fill its log with nothing.
        done.level = min(done.level, logging.DEBUG)
    done.note(
        files=report.files,
        **{what: count for what, count in counts.items() if count},
        chunks_written=report.chunks_written,
        unread=len(report.unread) or None,
        warnings=report.warnings or None,
        cancelled=report.cancelled or None,
    )


def record_look_up(cache: str, hit: bool) -> None:
    """Count a look into a cache."""
    CACHES.add(cache, "hit" if hit else "miss")
