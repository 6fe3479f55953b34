"""What a chat gives to its model."""

from dataclasses import dataclass

from asterism.config.described import described, whole
from asterism.config.setting import Kind


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What a vector search inside a chat gives to the model."""

    distance_cutoff: float = described(
        Kind.decimal,
        1.4,
        "The distance that a hit of a vector search inside a chat may have; 0 is identical.",
        minimum=0,
        older_variable="CODEINFO_RETRIEVAL_DISTANCE_CUTOFF",
    )
    cutoff_disabled: bool = described(
        Kind.boolean,
        False,
        "Whether hits of any distance are given to the chat.",
        older_variable="CODEINFO_RETRIEVAL_CUTOFF_DISABLED",
    )
    fallback_chunks: int = whole(
        2,
        "How many of the nearest hits are given to the chat when none is near enough.",
        minimum=0,
        older_variable="CODEINFO_RETRIEVAL_FALLBACK_CHUNKS",
    )
    max_chars: int = whole(
        40_000,
        "The characters of all texts that one search gives to the chat; over 100,000 never.",
        minimum=0,
        older_variable="CODEINFO_TOOL_MAX_CHARS",
    )
    chunk_max_chars: int = whole(
        5_000,
        "The characters of one such text; a longer one is cut and marked.",
        minimum=1,
        older_variable="CODEINFO_TOOL_CHUNK_MAX_CHARS",
    )
