"""Models behind OpenAI's protocol: OpenAI, LM Studio, Ollama, vLLM and many others."""

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
# suggests, so a third of the room stays free; a batch that is refused all the same is halved.
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
