"""Scores from a service: texts trimmed to what its model reads, in as many requests as it needs."""

import math
from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Any, NamedTuple, TypeAlias

from asterism.models.http.service import (
    CHARACTERS_PER_TOKEN,
    FOR_QUERIES,
    BatchLimits,
    BatchTooLarge,
    Errand,
    HttpAnswer,
    RetryingClient,
    Service,
    ServiceName,
    TooLong,
    batches,
    content_of,
)
from asterism.models.rerank.options import (
    DEFAULT_URLS,
    RerankOptions,
    at_vendor,
    key_variables,
    model_of,
)
from asterism.types.errors import BadScores, ProviderRefused, TextTooLong

# Scores are computed with few digits; one so little outside of 0 to 1 is rounding.
ROUNDING = 0.001


def scores_of(answer: HttpAnswer, count: int, service: ServiceName) -> list[float]:
    """The scores of an answer, in the order of the request's documents; it comes best first."""
    content = content_of(answer, service)
    try:
        rows = [(row["index"], row["relevance_score"]) for row in content["data"]]
        by_index = dict(rows)
    except (TypeError, KeyError) as error:
        raise BadScores(f"{service} answered without scores; check rerank.url.") from error
    if len(rows) != count or by_index.keys() != set(range(count)):
        raise BadScores(
            f"{service.name} gave {len(rows)} scores for {count} texts. If it happens again, set "
            "another rerank.model."
        )
    return [_checked(by_index[index], service) for index in range(count)]


def _checked(score: Any, service: ServiceName) -> float:
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise BadScores(f"{service.name} gave scores that are no numbers; check rerank.model.")
    if not -ROUNDING <= score <= 1 + ROUNDING:
        raise BadScores(
            f"{service.name} gave a score of {score:.4g}, and not one from 0 to 1; check "
            "rerank.url and rerank.model."
        )
    return min(max(float(score), 0.0), 1.0)


ERRAND = Errand("scores", "rerank", "rerank.model")

Body: TypeAlias = Callable[[str, Sequence[str]], dict[str, object]]
"""A request's content, in the words of the vendor."""


class RerankWindow(NamedTuple):
    """What a model reads at once, in tokens."""

    query: int
    together: int
    """A question and one document."""


class HttpReranker:
    """A reranking model of a service, called over HTTP."""

    def __init__(
        self,
        service: Service,
        context: RerankWindow,
        body: Body,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """Nothing is sent before the first question; `sleep` waits between two attempts."""
        self._service = service
        self._shown = service.shown
        self._context = context
        self._body = body
        self._client = RetryingClient(service, "rerank", sleep)

    def __repr__(self) -> str:
        """Without the key."""
        return f"HttpReranker({self._shown.url})"

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        """A score for each document; blank ones get 0 and are never sent."""
        scores = [0.0] * len(documents)
        asked = _trimmed(query, self._context.query)
        if not asked:
            return scores
        room = self._context.together - _tokens(asked)
        trimmed = [_trimmed(document, room) for document in documents]
        for positions in batches(trimmed, _per_request(asked, trimmed, self._service.limits)):
            portion = self._portion(asked, [trimmed[position] for position in positions])
            for position, score in zip(positions, portion, strict=True):
                scores[position] = score
        return scores

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _portion(self, query: str, documents: Sequence[str]) -> list[float]:
        """The scores of some documents, asked for in halves where that is too much at once."""

        def read(answer: HttpAnswer) -> list[float]:
            return scores_of(answer, len(documents), self._shown)

        try:
            return self._client.ask(self._body(query, documents), read, FOR_QUERIES, Event())
        except TooLong:
            raise _too_long(query, documents) from None
        except BatchTooLarge:
            if len(documents) == 1:
                raise _too_long(query, documents) from None
        middle = len(documents) // 2
        return [
            score
            for half in (documents[:middle], documents[middle:])
            for score in self._portion(query, half)
        ]


def _tokens(text: str) -> int:
    return len(text) // CHARACTERS_PER_TOKEN + 1


def _trimmed(text: str, tokens: int) -> str:
    return text.strip()[: tokens * CHARACTERS_PER_TOKEN]


def _per_request(query: str, documents: Sequence[str], limits: BatchLimits) -> BatchLimits:
    """How many documents go together: the question counts once for each of them."""
    longest = max(map(_tokens, documents), default=0)
    most = limits.tokens // (_tokens(query) + longest)
    return limits._replace(texts=max(1, min(limits.texts, most)))


def _too_long(query: str, documents: Sequence[str]) -> TextTooLong:
    """Says how much it was; never what it says."""
    longest = max(map(len, documents))
    return TextTooLong(
        f"A question of {len(query):,} characters with a text of {longest:,} is longer than the "
        "reranker reads. Ask a shorter question, or set a rerank.model with a larger context."
    )


# A request may hold 1,000 documents and 600,000 tokens, the question counted with each document.
# Code has more tokens than its length suggests, so a third of it stays unused; a request that
# is refused all the same, as the oldest models may do, is halved.
LIMITS = BatchLimits(texts=1000, tokens=400_000)

# A server answers several clients at once; none should wait for the query of another.
CONNECTIONS = 8

# Models that are not named here are taken to be newer than these.
NEWEST = RerankWindow(query=8_000, together=32_000)
CONTEXTS: Mapping[str, RerankWindow] = {
    "rerank-2.5": NEWEST,
    "rerank-2.5-lite": NEWEST,
    "rerank-2": RerankWindow(query=4_000, together=16_000),
    "rerank-2-lite": RerankWindow(query=2_000, together=8_000),
    "rerank-1": RerankWindow(query=2_000, together=8_000),
    "rerank-lite-1": RerankWindow(query=1_000, together=4_000),
}


def voyage_reranker(
    options: RerankOptions, sleep: Callable[[float], object] | None = None
) -> HttpReranker:
    """The model that the options name; `sleep` waits between two attempts."""
    model = model_of(options)
    key = options.api_key.strip()
    if not key and at_vendor(options):
        raise ProviderRefused(
            f"Voyage wants a key. Set {key_variables(options)}, or rerank.provider to none."
        )
    service = Service(
        name="Voyage",
        url=options.url or DEFAULT_URLS["voyage"],
        key_variables=key_variables(options),
        errand=ERRAND,
        limits=LIMITS,
        timeout_seconds=options.timeout_seconds,
        concurrency=CONNECTIONS,
        key=key,
    )

    def body(query: str, documents: Sequence[str]) -> dict[str, object]:
        # Lengths are known in characters only; text beyond the limit in tokens may be cut: its
        # beginning is enough to score it.
        return {"model": model, "query": query, "documents": documents, "truncation": True}

    return HttpReranker(service, CONTEXTS.get(model, NEWEST), body, sleep)
