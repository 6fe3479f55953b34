"""What a reranker does, which one to use, and what is known of it without a request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, get_args

from asterism.types.errors import ProviderRefused, SettingError

Provider: TypeAlias = Literal["auto", "none", "local", "encoder", "voyage"]
"""`auto` is the encoder for models with which it was measured to help, else no reranker."""

MODELS = Path(__file__).with_name("data")
"""The folders of the models that come with Asterism."""

RERANKER = "asterism-reranker-1"
"""The reranker that `local` means where none is named."""

KEY_VARIABLES: Mapping[Provider, str] = {"voyage": "VOYAGE_API_KEY"}
"""The vendors' own variables, meant for the vendors' own addresses; `config` reads them."""

KEY_VARIABLE = "ASTERISM_RERANK_API_KEY"
"""The variable with a key for whatever address the settings name."""

DEFAULT_URLS: Mapping[Provider, str] = {"voyage": "https://api.voyageai.com/v1"}

DEFAULT_MODELS: Mapping[Provider, str] = {"local": RERANKER, "voyage": "rerank-2.5"}


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """The reranker to use and how to reach it; empty leaves a value to the provider."""

    provider: Provider = "none"
    model: str = ""
    url: str = ""
    api_key: str = field(default="", repr=False)
    timeout_seconds: float = 10.0
    """Without a byte from the server; the user waits, and there is an answer without reranking."""


class Reranker(Protocol):
    """Reads a question and a text together, and says how well the text answers it."""

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        """A score from 0 to 1 for each document, in their order.

        Blank documents get 0 and are never sent; what is longer than the model reads is trimmed.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


def check_provider(options: RerankOptions) -> None:
    """Refuse a provider that does not exist."""
    if options.provider not in get_args(Provider):
        allowed = ", ".join(get_args(Provider))
        raise SettingError(f"rerank.provider is {options.provider!r}; it can be one of: {allowed}.")


def model_of(options: RerankOptions) -> str:
    """The model that the options mean."""
    return options.model or DEFAULT_MODELS.get(options.provider, "")


def reranker_folder(options: RerankOptions) -> Path:
    """The folder of the reranker that the options mean: a shipped one, or the user's."""
    model = options.model or RERANKER
    given = Path(model).expanduser()
    if not options.model and not (MODELS / model).is_dir():
        raise ProviderRefused(
            "No reranker comes with this version of Asterism. Set rerank.model to a folder with "
            "one of your own, or rerank.provider to none."
        )
    return given if given.is_absolute() else MODELS / model


def at_vendor(options: RerankOptions) -> bool:
    """Is the model asked at its vendor's own address?"""
    return options.url.rstrip("/") in ("", DEFAULT_URLS.get(options.provider))


def key_variables(options: RerankOptions) -> str:
    """Where the key for the options' address can come from, as messages say it."""
    vendor = at_vendor(options) and KEY_VARIABLES.get(options.provider)
    return f"{vendor} or {KEY_VARIABLE}" if vendor else KEY_VARIABLE
