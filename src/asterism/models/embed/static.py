"""The built-in model: a vector for each token, pooled; no network, no key, no waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from asterism.models.embed.encoder import READ_AS
from asterism.models.embed.options import EmbedOptions, identity_of, static_folder
from asterism.models.embed.provider import Matrix, halved, unit
from asterism.models.weights.folder import (
    ModelFolder,
    check,
    check_file,
    described,
    read_folder,
    unusable,
)
from asterism.types.index import ModelIdentity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# What the model was trained with; later tokens do not count.
TOKENS_AT_MOST = 512

# Words remembered, and their size in all: some 40 MB, and more than a large repository has.
WORDS_AT_MOST = 200_000
WORD_BYTES_AT_MOST = 8_000_000

# Texts that are tokens as they are. Their ids are no part of a vector, but they count among
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
    """Words, numbered in order of appearance."""

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


# Texts pooled at once: enough for numpy to be busy, and some 5 MB of work.
BLOCK = 1024

# Ids below are those of padding and of unknown words.
FIRST_KNOWN = 2

# Models that stay loaded; a process uses one, tests and comparisons a few.
MODELS_KEPT = 4

# Whole numbers are added up the same everywhere; the description keeps five places.
PROBE_TOLERANCE = 1e-3


class StaticEmbedder:
    """The model `asterism-static-2`, or one from a folder, loaded with the first text."""

    def __init__(self, options: EmbedOptions = EmbedOptions()) -> None:  # noqa: B008 - immutable
        """Nothing is read yet, except the description of a user's folder."""
        self._identity = identity_of(options)
        self._folder = static_folder(options)
        self._model: StaticModel | None = None

    @property
    def identity(self) -> ModelIdentity:
        """Provider, model and dimensions."""
        return self._identity

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """A vector for each text; zeros for a text without any known word."""
        model = self._loaded()
        return self._embed(model, list(map(model.read_as, texts)))

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """The model reads questions as they are."""
        return self._embed(self._loaded(), texts)

    def _loaded(self) -> StaticModel:
        with _lock:
            self._model = self._model or _shared(*described(self._folder))
            return self._model

    def _embed(self, model: StaticModel, texts: Sequence[str]) -> Matrix:
        import numpy as np

        vectors = np.empty((len(texts), self._identity.dimensions), dtype=np.float32)
        for start in range(0, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            vectors[start : start + len(block)] = model.encode(block)
        return vectors

    def close(self) -> None:
        """Let go of the model; others in this process may still use it."""
        self._model = None


_lock = Lock()


@lru_cache(maxsize=MODELS_KEPT)
def _shared(path: Path, changed_ns: int) -> StaticModel:
    """One model for all: the tokenizer takes 45 ms to read, and learns words by use."""
    return StaticModel(read_folder(path, "static"))


class StaticModel:
    """The model's files: the tokenizer, and a row of whole numbers for each token."""

    def __init__(self, folder: ModelFolder) -> None:
        """The rows stay on disk until they are used.

        To hash them takes 16 ms, more than a search. A table of another length, kind or origin is
        found without: by its size, its shape and the probe. `asterism doctor` reads every byte.
        """
        check(folder, by_size=True)
        self.read_as = READ_AS[folder.reads]
        self._rows = _rows(folder)
        self._tokens = WordTokens(_tokenizer(folder, len(self._rows)))
        self._check_probe(folder)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A vector for each of at most `BLOCK` texts."""
        return halved(unit(pooled(self._tokens(texts), self._rows, len(texts))))

    def _check_probe(self, folder: ModelFolder) -> None:
        import numpy as np

        for [text], expected in zip(*folder.probe, strict=True):
            answer = self.encode([text])[0][: len(expected)]
            if not np.allclose(answer, expected, rtol=0, atol=PROBE_TOLERANCE):
                raise unusable(folder.path, "its vectors are not those it should make")


def _rows(folder: ModelFolder) -> NDArray[np.int8]:
    import numpy as np

    try:
        rows = np.asarray(np.load(folder.path / folder.weights, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        raise unusable(folder.path, f"{folder.weights} cannot be read") from error
    if rows.ndim != 2 or rows.shape[1] != folder.dimensions or rows.dtype != np.int8:
        raise unusable(folder.path, f"{folder.weights} is no table of its size")
    return rows


def _tokenizer(folder: ModelFolder, rows: int) -> Tokenise:
    from tokenizers import Tokenizer

    check_file(folder, folder.tokenizer)
    tokenizer = Tokenizer.from_file(str(folder.path / folder.tokenizer))
    if tokenizer.get_vocab_size() > rows:
        raise unusable(folder.path, f"{folder.weights} has too few rows for {folder.tokenizer}")
    tokenizer.enable_truncation(TOKENS_AT_MOST)

    def tokenise(texts: Sequence[str]) -> list[list[int]]:
        encodings = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    return tokenise


def pooled(tokens: TextTokens, rows: NDArray[np.int8], count: int) -> Matrix:
    """For each text the sum of its tokens' rows, each weighted by the root of its frequency.

    The sums are made step by step, for all texts at once: first the first different token of each,
    then the second. So a text's sum is the same, bit for bit, whatever else is in the batch,
    which matrix products and `reduceat` do not promise.
    """
    import numpy as np

    ids, weights, starts = _frequencies(tokens, len(rows), count)
    sizes = np.diff(starts)
    longest_first = np.argsort(-sizes, kind="stable")
    firsts = starts[:-1][longest_first]
    steps = np.arange(sizes.max(initial=0))
    reaching = np.searchsorted(-sizes[longest_first], -steps, side="left")

    sums = np.zeros((count, rows.shape[1]), dtype=np.float32)
    for step, texts in zip(steps, reaching, strict=True):
        places = firsts[:texts] + step
        sums[:texts] += rows.take(ids[places], axis=0) * weights[places, np.newaxis]
    vectors = np.empty_like(sums)
    vectors[longest_first] = sums
    return vectors


def _frequencies(
    tokens: TextTokens, vocabulary: int, count: int
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.intp]]:
    """Each text's different tokens in rising order, their weights, and where each text begins."""
    import numpy as np

    known = tokens.ids >= FIRST_KNOWN
    keys = tokens.texts[known] * np.int32(vocabulary) + tokens.ids[known]
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    weights = np.sqrt(np.diff(first, append=len(keys)), dtype=np.float32)
    texts, ids = np.divmod(keys[first], np.int32(vocabulary))
    return ids, weights, np.searchsorted(texts, np.arange(count + 1))
