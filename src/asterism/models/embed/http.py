"""Embeddings from a service: batches, several on their way at once, patience with failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from asterism.models.embed.provider import Matrix, halved, unit
from asterism.models.http.service import (
    FOR_DOCUMENTS,
    FOR_QUERIES,
    BatchTooLarge,
    Errand,
    HttpAnswer,
    Patience,
    RetryingClient,
    Service,
    ServiceName,
    TooLong,
    batches,
    content_of,
)
from asterism.types.errors import BadVectors, Cancelled, TextTooLong
from asterism.types.index import ModelIdentity

if TYPE_CHECKING:
    pass


def vectors_of(answer: HttpAnswer, count: int, dimensions: int, service: ServiceName) -> Matrix:
    """The unit vectors of an answer, in the order of the request's texts."""
    content = content_of(answer, service)
    return _checked(_ordered(content, count, service), dimensions, service)


def _ordered(content: Any, count: int, service: ServiceName) -> Sequence[Any]:
    """The embeddings by their index: a service may answer in any order."""
    try:
        data = enumerate(content["data"])
        rows = [(row.get("index", place), row["embedding"]) for place, row in data]
        ordered = dict(rows)
    except (TypeError, KeyError, AttributeError) as error:
        raise BadVectors(f"{service} answered without embeddings; check embedding.url.") from error
    if len(rows) != count or ordered.keys() != set(range(count)):
        raise BadVectors(
            f"{service.name} gave {len(rows)} vectors for {count} texts. If it happens again, use "
            "another model or a smaller embedding.batch_size."
        )
    return [ordered[place] for place in range(count)]


def _checked(rows: Sequence[Any], dimensions: int, service: ServiceName) -> Matrix:
    import numpy as np

    sizes = {len(row) if isinstance(row, list) else 0 for row in rows}
    if sizes != {dimensions}:
        found = ", ".join(map(str, sorted(sizes)))
        raise BadVectors(
            f"{service.name} gave vectors of {found} dimensions where {dimensions} were expected. "
            "Set embedding.dimensions to the size of the model's vectors."
        )
    try:
        vectors = np.array(rows, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise BadVectors(f"{service.name} gave vectors with parts that are no numbers.") from error
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise BadVectors(
            f"{service.name} gave vectors that are zero or not finite; the model does not work as "
            "it should. Load it again, or set another embedding.model."
        )
    return halved(unit(vectors))


Role: TypeAlias = Literal["document", "query"]

ERRAND = Errand("vectors", "embedding", "embedding.model and embedding.dimensions")

Body: TypeAlias = Callable[[Sequence[str], Role], dict[str, object]]
"""A request's content, in the words of the vendor."""


class _Task(NamedTuple):
    """What all requests of one call have in common."""

    texts: Sequence[str]
    role: Role
    patience: Patience
    stop: Event
    """Set when the result is no longer wanted."""


class HttpEmbedder:
    """An embedding model of a service, called over HTTP."""

    def __init__(
        self,
        identity: ModelIdentity,
        service: Service,
        body: Body,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """Nothing is sent before the first text; `sleep` waits between two attempts."""
        self._identity = identity
        self._service = service
        self._shown = service.shown
        self._body = body
        self._client = RetryingClient(service, "embeddings", sleep)

    def __repr__(self) -> str:
        """Without the key."""
        return f"HttpEmbedder({self._identity}, {self._shown.url})"

    @property
    def identity(self) -> ModelIdentity:
        """Provider, model and dimensions."""
        return self._identity

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """A vector for each text; blank texts get zeros and are never sent."""
        return self._embed(_Task(texts, "document", FOR_DOCUMENTS, Event()))

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """A vector for each question; given up sooner than documents."""
        return self._embed(_Task(texts, "query", FOR_QUERIES, Event()))

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _embed(self, task: _Task) -> Matrix:
        import numpy as np

        vectors = np.zeros((len(task.texts), self._identity.dimensions), dtype=np.float32)
        portions = list(batches(task.texts, self._service.limits))
        if len(portions) == 1:
            vectors[portions[0]] = self._portion(task, portions[0])
        elif portions:
            for positions, rows in zip(portions, self._several(task, portions), strict=True):
                vectors[positions] = rows
        return vectors

    def _several(self, task: _Task, portions: Sequence[list[int]]) -> list[Matrix]:
        """Each portion's vectors in order; the first failure of any ends the others."""

        def stop_others(ended: Future[Matrix]) -> None:
            if ended.cancelled() or ended.exception():
                task.stop.set()

        workers = min(self._service.concurrency, len(portions))
        with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="embed") as pool:
            # The lines that a thread logs belong to the request it works for.
            futures = [
                pool.submit(copy_context().run, self._portion, task, positions)
                for positions in portions
            ]
            for future in futures:
                future.add_done_callback(stop_others)
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                task.stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
        failures = [future.exception() for future in futures if not future.cancelled()]
        for failure in failures:
            # Those that were stopped are not the reason.
            if failure is not None and not isinstance(failure, Cancelled):
                raise failure
        return [future.result() for future in futures]

    def _portion(self, task: _Task, positions: list[int]) -> Matrix:
        """One portion's vectors, asked for in halves where the service finds it too large."""
        import numpy as np

        try:
            return self._patiently(task, [task.texts[position] for position in positions])
        except TooLong as error:
            raise _too_long(task.texts, positions, error.position) from None
        except BatchTooLarge:
            if len(positions) == 1:
                raise _too_long(task.texts, positions, 0) from None
        middle = len(positions) // 2
        halves = (positions[:middle], positions[middle:])
        return np.concatenate([self._portion(task, half) for half in halves])

    def _patiently(self, task: _Task, texts: Sequence[str]) -> Matrix:
        """The vectors, as soon as one of several attempts succeeds."""

        def read(answer: HttpAnswer) -> Matrix:
            return vectors_of(answer, len(texts), self._identity.dimensions, self._shown)

        return self._client.ask(self._body(texts, task.role), read, task.patience, task.stop)


def _too_long(texts: Sequence[str], positions: Sequence[int], place: int | None) -> TextTooLong:
    """Names the text that the service named, or else the longest; never what it says."""
    if place is not None and place < len(positions):
        position = positions[place]
    else:
        position = max(positions, key=lambda position: len(texts[position]))
    return TextTooLong(
        f"Text {position + 1} of {len(texts)} ({len(texts[position]):,} characters) is longer than "
        "the model reads. Set a smaller chunks.max_tokens, or a model with a larger context."
    )
