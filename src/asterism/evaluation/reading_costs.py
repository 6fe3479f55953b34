"""How many tokens a found place costs to read, counted the same way for every tool."""

from itertools import accumulate
from pathlib import Path

from asterism.analysis.source.text import decode, read
from asterism.evaluation.labels import Found
from asterism.types.errors import InputError

# Where no tokenizer is configured, four characters count as a token.
CHARS_PER_TOKEN = 4

# A place whose lines nobody can read must not look cheap.
UNREADABLE_TOKENS = 2_000


def token_count(characters: int) -> int:
    """Tokens of so many characters, rounded up."""
    return -(-characters // CHARS_PER_TOKEN)


class ReadingCosts:
    """The sizes of places below a directory; each file is read once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._sums: dict[str, list[int] | None] = {}

    def __call__(self, place: Found) -> int:
        """What the tool says it costs, else what its lines in the file cost."""
        if place.tokens is not None:
            return place.tokens
        if place.path not in self._sums:
            self._sums[place.path] = self._read(place.path)
        sums = self._sums[place.path]
        if sums is None:
            return UNREADABLE_TOKENS
        last = len(sums) - 1
        first = 0 if place.start_line is None else min(max(place.start_line - 1, 0), last)
        end = last if place.end_line is None else min(max(place.end_line, first), last)
        return token_count(sums[end] - sums[first])

    def _read(self, path: str) -> list[int] | None:
        """How many characters stand before each line, and in all."""
        try:
            text = decode(read(str(self._directory / path))).decode("utf-8", "replace")
        except InputError:
            return None
        return list(accumulate(map(len, text.splitlines(keepends=True)), initial=0))
