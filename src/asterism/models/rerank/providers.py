"""From options to the reranker they mean; a vendor's module is imported when it is chosen."""

from asterism.models.rerank.options import RerankOptions, check_provider
from asterism.models.rerank.provider import Reranker


def make_reranker(options: RerankOptions) -> Reranker | None:
    """The reranker that the options mean, or none; nothing is sent before its first question."""
    check_provider(options)
    match options.provider:
        case "auto" | "none" | "encoder":
            # An encoder compares vectors, and whoever searches has its embedder.
            return None
        case "local":
            from asterism.models.rerank.local import LocalReranker

            return LocalReranker(options)
        case "voyage":
            from asterism.models.rerank.voyage import voyage_reranker

            return voyage_reranker(options)
