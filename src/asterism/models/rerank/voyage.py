"""The rerankers of Voyage AI."""

from collections.abc import Callable, Mapping, Sequence

from asterism.models.http.service import BatchLimits, Service
from asterism.models.rerank.http import ERRAND, Context, HttpReranker
from asterism.models.rerank.options import (
    DEFAULT_URLS,
    RerankOptions,
    at_vendor,
    key_variables,
    model_of,
)
from asterism.types.errors import ProviderRefused

# A request may hold 1,000 documents and 600,000 tokens, the question counted with each document.
# Code has more tokens than its length suggests, so a third of the room stays free; a request that
# is refused all the same, as the oldest models may do, is halved.
LIMITS = BatchLimits(texts=1000, tokens=400_000)

# A server answers several people at once; nobody should wait for another's question.
CONNECTIONS = 8

# Models that are not named here are taken to be newer than these.
NEWEST = Context(query=8_000, together=32_000)
CONTEXTS: Mapping[str, Context] = {
    "rerank-2.5": NEWEST,
    "rerank-2.5-lite": NEWEST,
    "rerank-2": Context(query=4_000, together=16_000),
    "rerank-2-lite": Context(query=2_000, together=8_000),
    "rerank-1": Context(query=2_000, together=8_000),
    "rerank-lite-1": Context(query=1_000, together=4_000),
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
        # Lengths are known in characters only; what is still over in tokens may be cut, for a
        # text's beginning is enough to judge it by.
        return {"model": model, "query": query, "documents": documents, "truncation": True}

    return HttpReranker(service, CONTEXTS.get(model, NEWEST), body, sleep)
