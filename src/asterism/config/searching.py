"""What the parts of a search need to know of the settings; only searches pay for importing it."""

from asterism.config.environment import rerank_key
from asterism.config.settings import Settings
from asterism.models.rerank.options import RerankOptions
from asterism.search.ranking.reranking import RerankingOptions


def rerank_options(settings: Settings) -> RerankOptions:
    """Which model judges the best hits, with the key that the environment has for it."""
    chosen = settings.rerank
    return RerankOptions(
        provider=chosen.provider,
        model=chosen.model,
        url=chosen.url,
        api_key=rerank_key(chosen.provider, chosen.url),
        timeout_seconds=chosen.timeout_seconds,
    )


def reranking_options(settings: Settings) -> RerankingOptions:
    """How many hits the reranker judges, and what that counts."""
    return RerankingOptions(top=settings.rerank.top, weight=settings.rerank.weight)
