"""Texts in portions that a provider takes in one request."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

# What all providers say of English; code has more tokens for its length, so that limits in
# tokens are kept with room to spare.
CHARACTERS_PER_TOKEN = 4


class BatchLimits(NamedTuple):
    """The most that fits into a request."""

    texts: int
    tokens: int


def batches(texts: Sequence[str], limits: BatchLimits) -> Iterator[list[int]]:
    """Positions of texts that go together, in order; blank texts are left out.

    A text that is over the limit alone goes alone: only the provider knows how long it really is.
    """
    batch: list[int] = []
    room = limits.tokens
    for position, text in enumerate(texts):
        if not text.strip():
            continue
        tokens = len(text) // CHARACTERS_PER_TOKEN + 1
        if batch and (len(batch) >= limits.texts or tokens > room):
            yield batch
            batch, room = [], limits.tokens
        batch.append(position)
        room -= tokens
    if batch:
        yield batch
