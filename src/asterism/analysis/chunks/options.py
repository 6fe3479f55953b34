"""What shapes a chunk: limits, and the version of the embedding text's recipe."""

from dataclasses import dataclass

# Changing what `embedding.py` writes means a new number here, so that an index knows its age.
RECIPE_VERSION = 1


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """Every number that shapes content; their hash belongs to an index's identity."""

    max_tokens: int = 32_000
    """No embedding text is longer. The largest limit among the models we speak to."""
    chars_per_token: int = 4
    """How tokens are estimated where no tokenizer is at hand."""
    max_quoted: int = 8
    """Referenced symbols quoted in a preamble; more would drown the code below it."""
    max_quote_chars: int = 160
    """Length of one quoted signature."""
    max_purpose_chars: int = 400
    """Length of the purpose line: the first paragraph of a doc, unless it is an essay."""
    max_dependencies: int = 20
    """Modules named in the dependencies line."""

    @property
    def max_chars(self) -> int:
        """The limit in characters."""
        return self.max_tokens * self.chars_per_token
