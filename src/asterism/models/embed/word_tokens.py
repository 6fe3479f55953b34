"""Token ids of texts for the built-in model, each word tokenised only once.

The tokenizer splits camelCase, normalises (NFKC), folds case, cuts words at everything that is
neither letter nor digit, and cuts words into pieces. No step looks across an ASCII character that
is neither letter nor digit: none of them joins with a neighbour into a letter or a digit. So what
stands between two of them can be tokenised alone and remembered, and code repeats its words: the
26,638 chunks of one repository hold 1.1 million words, 14,508 of them different.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What the model was trained with; later tokens do not count.
TOKENS_AT_MOST = 512

# Words remembered, and their size in all: some 40 MB, and more than a large repository has.
WORDS_AT_MOST = 200_000
WORD_BYTES_AT_MOST = 8_000_000

# Texts that stand for tokens as they are. Their ids are no part of a vector, but they count among
# the first tokens, like a word that is too long to be known.
SPECIAL = ("[PAD]", "[UNK]")
UNKNOWN_WORD = f" {'x' * 41} "

# Every ASCII byte that is no letter or digit becomes a blank; bytes of other characters stay.
_BLANKED = bytes(code if code >= 0x80 or chr(code).isalnum() else ord(" ") for code in range(0x100))

Ids: TypeAlias = "NDArray[np.int32]"

Tokenise: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[int]]]
"""From texts to their first token ids."""


class TextTokens(NamedTuple):
    """The tokens of several texts, one after the other."""

    texts: Ids
    """The position of each token's text."""
    ids: Ids


class WordTokens:
    """Tokenises texts word by word and remembers the words."""

    def __init__(self, tokenise: Tokenise) -> None:
        """The real tokenizer is asked once for each different word."""
        self._tokenise = tokenise
        self._lock = Lock()
        self._forget()

    def __call__(self, texts: Sequence[str]) -> TextTokens:
        """The first tokens of each text, in order."""
        import numpy as np

        words = [words_of(text) for text in texts]
        with self._lock:
            if len(self._numbers) > WORDS_AT_MOST or self._numbers.size > WORD_BYTES_AT_MOST:
                self._forget()
            number_of = map(self._numbers.__getitem__, chain.from_iterable(words))
            numbers = np.fromiter(number_of, dtype=np.intp)
            self._learn()
            starts, ids = self._starts, self._ids
        return _expand(words, numbers, starts, ids)

    def _forget(self) -> None:
        import numpy as np

        self._numbers = _Numbers()
        self._starts = np.zeros(1, dtype=np.intp)
        self._ids: Ids = np.zeros(0, dtype=np.int32)

    def _learn(self) -> None:
        """Tokenise the words that were met for the first time."""
        import numpy as np

        fresh = self._numbers.fresh
        if not fresh:
            return
        ids = self._tokenise([word.decode() for word in fresh])
        ends = np.cumsum(np.fromiter(map(len, ids), dtype=np.intp, count=len(ids)))
        flat = np.fromiter(chain.from_iterable(ids), dtype=np.int32)
        self._starts = np.concatenate((self._starts, self._starts[-1] + ends))
        self._ids = np.concatenate((self._ids, flat))
        fresh.clear()


class _Numbers(dict[bytes, int]):
    """Words, numbered as they come."""

    def __init__(self) -> None:
        super().__init__()
        self.fresh: list[bytes] = []
        self.size = 0

    def __missing__(self, word: bytes) -> int:
        self[word] = number = len(self)
        self.fresh.append(word)
        self.size += len(word)
        return number


def words_of(text: str) -> list[bytes]:
    """What stands between the blanks and ASCII signs of a text, as far as it can count."""
    for special in SPECIAL:
        if special in text:
            text = text.replace(special, UNKNOWN_WORD)
    # A lone half of a surrogate pair has no UTF-8; it is no letter either way.
    blanked = text.encode("utf-8", "replace").translate(_BLANKED)
    if not text.isascii():
        return blanked.split()
    # An ASCII word has at least one token, so that later words cannot count.
    return blanked.split(None, TOKENS_AT_MOST)[:TOKENS_AT_MOST]


def _expand(
    words: Sequence[Sequence[bytes]], numbers: NDArray[np.intp], starts: NDArray[np.intp], ids: Ids
) -> TextTokens:
    """Each word's tokens in its place, as far as they are among the first of their text."""
    import numpy as np

    sizes = (starts[1:] - starts[:-1])[numbers]
    ends = np.concatenate((np.zeros(1, dtype=np.intp), np.cumsum(sizes)))
    places = np.arange(ends[-1])
    tokens = ids[places + np.repeat(starts[numbers] - ends[:-1], sizes)]

    text_ends = ends[np.fromiter(_running(words), dtype=np.intp, count=len(words) + 1)]
    text_sizes = np.diff(text_ends)
    texts = np.repeat(np.arange(len(words), dtype=np.int32), text_sizes)
    first = places - np.repeat(text_ends[:-1], text_sizes) < TOKENS_AT_MOST
    return TextTokens(texts[first], tokens[first])


def _running(words: Sequence[Sequence[bytes]]) -> Iterator[int]:
    total = 0
    yield total
    for some in words:
        total += len(some)
        yield total
