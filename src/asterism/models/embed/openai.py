"""Models behind OpenAI's protocol: OpenAI, LM Studio, Ollama, vLLM and many others."""

from collections.abc import Callable, Sequence

from asterism.models.embed.http import ERRAND, HttpEmbedder, Role
from asterism.models.embed.options import (
    DEFAULT_URLS,
    EmbedOptions,
    identity_of,
    key_variables,
    known_model,
)
from asterism.models.http.service import BatchLimits, Service

# OpenAI takes 2,048 texts of 300,000 tokens together. Servers on one's own machine work on a
# request until it is done, so smaller ones keep well within the time limit.
LIMITS = BatchLimits(texts=128, tokens=60_000)
TEXTS_AT_MOST = 2048


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
        limits=LIMITS._replace(texts=min(options.batch_size or LIMITS.texts, TEXTS_AT_MOST)),
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
