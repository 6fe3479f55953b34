"""From options to the embedder they mean; a vendor's module is imported when it is chosen."""

from asterism.backends.embed.options import EmbedOptions, identity_of
from asterism.backends.embed.protocol import Embedder


def make_embedder(options: EmbedOptions) -> Embedder:
    """The embedder that the options mean; nothing is loaded or sent before its first text."""
    identity_of(options)
    match options.provider:
        case "local":
            from asterism.backends.embed.static import StaticEmbedder

            return StaticEmbedder(options)
        case "encoder":
            from asterism.backends.embed.encoder import EncoderEmbedder

            return EncoderEmbedder(options)
        case "minilm":
            from asterism.backends.embed.minilm import MiniLmEmbedder

            return MiniLmEmbedder()
        case "voyage":
            from asterism.backends.embed.voyage import voyage_embedder

            return voyage_embedder(options)
        case "openai":
            from asterism.backends.embed.openai_compatible import openai_embedder

            return openai_embedder(options)
