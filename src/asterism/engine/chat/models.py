"""Which model answers a question, by its settings or by the words of whoever asks."""

from typing import cast, get_args

from asterism.config.options import llm_options
from asterism.config.settings import Settings
from asterism.models.llm.options import LlmOptions, Provider
from asterism.types.errors import ProviderMissing, UsageError

PROVIDERS: tuple[str, ...] = get_args(Provider)


def options_for(settings: Settings, model: str = "", provider: str = "") -> LlmOptions:
    """The model that is meant: a name, `PROVIDER/NAME`, a provider by itself, or the settings'.

    A name by itself is one of the provider that the settings name; where they name none, of a
    server that speaks OpenAI's protocol.
    """
    who, name = provider.strip(), model.strip()
    first, slash, rest = name.partition("/")
    if not who and first in PROVIDERS and (slash or first in ("extractive", "sampling")):
        who, name = first, rest
    if who and who not in PROVIDERS:
        raise UsageError(f"There is no provider {who[:40]!r}; there are {', '.join(PROVIDERS)}.")
    if not who and name and settings.model.provider == "extractive":
        who = "openai"
    found = llm_options(settings, cast("Provider", who) if who else None, name)
    if found.provider in ("openai", "anthropic") and not found.model:
        raise ProviderMissing(
            f"No model of {found.provider} is named; set model.name, or name one with the question."
        )
    return found
