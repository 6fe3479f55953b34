"""What the parts of a chat need to know of the settings; only chats pay for importing it."""

import re
from pathlib import Path

from asterism.chat.ports import TurnOptions
from asterism.chat.vector_search import VectorOptions
from asterism.config.environment import model_key, records_password
from asterism.config.model_sections import ChatSettings
from asterism.config.settings import Settings
from asterism.disclosure.places import MaskingReport
from asterism.models.llm.options import LlmOptions, Provider
from asterism.records.options import RecordsOptions
from asterism.search.ranking.rerank import RerankingOptions
from asterism.types.errors import SettingError


def reranking_options(settings: Settings) -> RerankingOptions:
    """How many hits are reranked, and the weight of the reranker."""
    return RerankingOptions(top=settings.rerank.top, weight=settings.rerank.weight)


_WITH_PASSWORD = re.compile(r"//[^/@\s]*:[^/@\s]+@|[?&](?:password|passwd|sslpassword)=")


def records_options(settings: Settings, data: Path) -> RecordsOptions:
    """The database, with the password that the environment has for it."""
    url = settings.records.url
    if _WITH_PASSWORD.search(url):
        raise SettingError(
            "records.url holds a password, which does not belong there; take it out, and set the "
            "environment variable ASTERISM_RECORDS_PASSWORD instead."
        )
    return RecordsOptions(data, url, records_password() if url else "")


def llm_options(
    settings: Settings, provider: Provider | None = None, model: str = ""
) -> LlmOptions:
    """Which model answers, with the key that the environment has for it.

    A call may name another provider; the address of the settings belongs to theirs.
    """
    chosen = settings.model
    who = provider or chosen.provider
    own = who == chosen.provider
    url = chosen.url if own else ""
    return LlmOptions(
        provider=who,
        model=model or (chosen.name if own else ""),
        url=url,
        api_key=model_key(who, url),
        timeout_seconds=chosen.timeout_seconds,
        total_seconds=chosen.total_seconds,
        attempts=chosen.attempts,
        window=chosen.window,
    )


def vector_options(settings: Settings, usual_cutoff: float | None = None) -> VectorOptions:
    """What a search inside a chat gives to the model.

    Distances of two embedding models have nothing in common. So the cutoff that is usual for the
    one that was compared counts, unless the user chose another than the default.
    """
    chosen = settings.chat
    cutoff = chosen.distance_cutoff
    if usual_cutoff is not None and cutoff == ChatSettings().distance_cutoff:
        cutoff = usual_cutoff
    return VectorOptions(
        distance_cutoff=cutoff,
        cutoff_disabled=chosen.cutoff_disabled,
        fallback_chunks=chosen.fallback_chunks,
        max_chars=chosen.max_chars,
        chunk_max_chars=chosen.chunk_max_chars,
    )


def turn_options(settings: Settings) -> TurnOptions:
    """How a turn goes about its answer."""
    return TurnOptions(
        max_turns=settings.chat.max_turns,
        max_output_tokens=settings.model.max_output_tokens,
        retries=settings.chat.retries,
        tool_chars=settings.chat.max_chars,
        masking_report=MaskingReport(settings.masking.report),
    )
