"""The built-in model: a vector for each token, pooled; no network, no key, no waiting."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from asterism.backends.embed.options import STATIC_IDENTITY
from asterism.backends.embed.protocol import Matrix
from asterism.backends.embed.vectors import halved, unit
from asterism.backends.embed.word_tokens import TOKENS_AT_MOST, TextTokens, Tokenise, WordTokens
from asterism.domain.index import ModelIdentity

# Texts pooled at once: enough for numpy to be busy, and some 5 MB of work.
BLOCK = 1024

# Ids below are those of padding and of words that nobody knows.
FIRST_KNOWN = 2


class StaticEmbedder:
    """The model `asterism-static-1`, loaded with the first text."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._model: StaticModel | None = None

    @property
    def identity(self) -> ModelIdentity:
        """Provider, model and dimensions."""
        return STATIC_IDENTITY

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """A vector for each text; zeros for a text without any known word."""
        with _lock:
            model = self._model = self._model or _shared()
        vectors = np.empty((len(texts), STATIC_IDENTITY.dimensions), dtype=np.float32)
        for start in range(0, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            vectors[start : start + len(block)] = model.encode(block)
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """The model reads questions as it reads code."""
        return self.embed_documents(texts)

    def close(self) -> None:
        """Let go of the model; others in this process may still use it."""
        self._model = None


_lock = Lock()


@cache
def _shared() -> "StaticModel":
    """The one model of this process: the tokenizer takes 45 ms to read, and learns words by use."""
    return StaticModel()


class StaticModel:
    """The model's files: the tokenizer, and a row of whole numbers for each token."""

    def __init__(self) -> None:
        """The rows stay on disk until they are used."""
        folder = files("asterism.backends.embed").joinpath("data", STATIC_IDENTITY.model)
        with as_file(folder.joinpath("embeddings.int8.npy")) as path:
            self._rows: NDArray[np.int8] = np.asarray(np.load(path, mmap_mode="r"))
        with as_file(folder.joinpath("tokenizer.json")) as path:
            self._tokens = WordTokens(_tokenizer(path))

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A vector for each of at most `BLOCK` texts."""
        return halved(unit(pooled(self._tokens(texts), self._rows, len(texts))))


def _tokenizer(path: Path) -> Tokenise:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(TOKENS_AT_MOST)

    def tokenise(texts: Sequence[str]) -> list[list[int]]:
        encodings = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    return tokenise


def pooled(tokens: TextTokens, rows: NDArray[np.int8], count: int) -> Matrix:
    """For each text the sum of its tokens' rows, each weighted by the root of its frequency.

    The sums are made step by step, for all texts at once: first the first different token of each,
    then the second. So a text's sum is the same, bit for bit, whatever other texts stand beside it,
    which matrix products and `reduceat` do not promise.
    """
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
    known = tokens.ids >= FIRST_KNOWN
    keys = tokens.texts[known] * np.int32(vocabulary) + tokens.ids[known]
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    weights = np.sqrt(np.diff(first, append=len(keys)), dtype=np.float32)
    texts, ids = np.divmod(keys[first], np.int32(vocabulary))
    return ids, weights, np.searchsorted(texts, np.arange(count + 1))
