"""Who answers questions, and what a chat gives to its model."""

from dataclasses import dataclass
from typing import get_args

from asterism.config.described import described, whole
from asterism.config.setting import Kind, Voice, Zero
from asterism.models.llm.options import Provider


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which language model answers."""

    provider: Provider = described(  # noqa: RUF009 - a text like the others
        Kind.text,
        "extractive",
        "Who answers: nobody but the code itself (an answer put together from the best hits, "
        "offline), any server that speaks OpenAI's protocol (OpenAI, LM Studio, Ollama, vLLM), "
        "Anthropic (it needs the extra `anthropic`), or the model of the MCP client that asks. All "
        "but the first send questions and code to a model.",
        choices=get_args(Provider),
        voice=Voice.trusted,
    )
    name: str = described(
        Kind.text,
        "",
        "The model's name, as its server spells it.",
        voice=Voice.trusted,
    )
    url: str = described(
        Kind.address,
        "",
        "Where the model's server is, for servers of one's own and proxies; nothing means the "
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
        Kind.decimal,
        120.0,
        "How long the model may stay silent before the request is tried again.",
        minimum=0.1,
        maximum=3600,
        voice=Voice.only_lower,
    )
    total_seconds: float = described(
        Kind.decimal,
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
        Kind.decimal,
        1.4,
        "The distance that a hit of a vector search inside a chat may have; 0 is identical. "
        "Distances differ by embedding model, and the default is the built-in one's: unless this "
        "is set, a model whose folder names another (1.28 for the encoder) is read by that.",
        minimum=0,
        older_variable="CODEINFO_RETRIEVAL_DISTANCE_CUTOFF",
        voice=Voice.only_lower,
    )
    cutoff_disabled: bool = described(
        Kind.boolean,
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
        "How often the model may judge the hits of a search and search again in other words, "
        "before it answers; each time costs a request.",
        minimum=0,
        maximum=10,
        voice=Voice.only_lower,
    )
