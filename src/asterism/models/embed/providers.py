"""From options to the embedder they mean; a vendor's module is imported when it is chosen."""

from asterism.models.embed.options import EmbedOptions, identity_of
from asterism.models.embed.provider import Embedder


def make_embedder(options: EmbedOptions) -> Embedder:
    """The embedder that the options mean; nothing is loaded or sent before its first text."""
    identity_of(options)
    match options.provider:
        case "local":
            from asterism.models.embed.static import StaticEmbedder

            return StaticEmbedder(options)
        case "encoder":
            from asterism.models.embed.encoder import EncoderEmbedder

            return EncoderEmbedder(options)
        case "minilm":
            from asterism.models.embed.minilm import MiniLmEmbedder

            return MiniLmEmbedder()
        case "voyage":
            from asterism.models.embed.voyage import voyage_embedder

            return voyage_embedder(options)
        case "openai":
            from asterism.models.embed.openai import openai_embedder

            return openai_embedder(options)
