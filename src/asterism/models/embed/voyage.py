"""The models of Voyage AI."""

from collections.abc import Callable, Sequence

from asterism.models.embed.http import ERRAND, HttpEmbedder, Role
from asterism.models.embed.options import (
    DEFAULT_URLS,
    EmbedOptions,
    at_vendor,
    identity_of,
    key_variables,
    known_model,
)
from asterism.models.http.service import BatchLimits, Service
from asterism.types.errors import ProviderRefused

# A request may hold 1,000 texts of 120,000 tokens together. Code has more tokens than its length
# suggests, so a third of the room stays free; a batch that is refused all the same is halved.
LIMITS = BatchLimits(texts=1000, tokens=80_000)


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
        limits=LIMITS._replace(texts=min(options.batch_size or LIMITS.texts, LIMITS.texts)),
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
