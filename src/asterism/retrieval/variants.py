"""Forms of a word: what plain English and code have in common when they name one thing."""

from functools import lru_cache

# Shorter stems are shared by words that have nothing to do with each other.
SHORTEST_STEM = 3
# The longest that fits is taken off, so `serialization`, `serializer` and `serialize` meet.
_ENDINGS = (
    *("izations", "ization", "izers", "izer", "izing", "ized", "izes", "ize"),
    *("ations", "ation", "ators", "ator", "ings", "ing", "ions", "ion"),
    *("ers", "ors", "ies", "er", "or", "ed", "es", "s", "e", "y"),
)


@lru_cache(maxsize=50_000)
def stem_of(word: str) -> str:
    """What the forms of a word have in common, roughly; only plain words have forms."""
    if word.isascii() and word.isalpha():
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
                return word[: -len(ending)]
    return word
