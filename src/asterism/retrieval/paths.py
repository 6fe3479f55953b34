"""What a file's path says to a question: words of its name and its folder, and whose file it is."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from posixpath import basename, dirname, splitext
from typing import NamedTuple

from asterism.analysis.terms import terms_of
from asterism.retrieval.variants import stem_of

# Words that begin alike are taken for forms of one word from this length on: `auth`, `author…`
# is a price worth paying, `in` and `integer` is not.
SHORTEST_PREFIX = 3
# What a form of a word is worth beside the word itself.
FORM = 0.9


class PathWords(NamedTuple):
    """The words of a path that are compared with a question."""

    stem: tuple[str, ...]
    """Of the file's name without extension; an index or main file speaks for its folder."""
    folder: tuple[str, ...]
    joined: str
    """The stem without separators, in lower case, as names of symbols are compared with it."""


@lru_cache(maxsize=20_000)
def path_words(path: str) -> PathWords:
    """The words of a path."""
    name = splitext(basename(path))[0]
    joined = "".join(char for char in name.lower() if char.isalnum())
    return PathWords(_parts(name), _parts(basename(dirname(path))), joined)


def _parts(name: str) -> tuple[str, ...]:
    """The words of a name, without the whole where it has several."""
    words: list[str] = []
    for piece in name.replace("-", " ").replace(".", " ").replace("+", " ").split():
        terms = terms_of(piece)
        words += terms[1:] or terms
    return tuple(dict.fromkeys(words))


@lru_cache(maxsize=100_000)
def alike(one: str, other: str) -> float:
    """1 for equal words, a little less for forms of one word, else 0."""
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=len)
    if len(short) >= SHORTEST_PREFIX and long.startswith(short):
        return FORM
    return FORM if stem_of(one) == stem_of(other) and len(stem_of(one)) >= SHORTEST_PREFIX else 0.0


def share_named(words: Collection[str], asked: Collection[str]) -> float:
    """How much of a file's name the question says."""
    if not words:
        return 0.0
    return sum(max((alike(word, term) for term in asked), default=0.0) for word in words) / len(
        words
    )


def share_asked(asked: Mapping[str, float], words: Sequence[str]) -> float:
    """How much of the question a name says, each asked word by its weight."""
    total = sum(asked.values())
    if not total or not words:
        return 0.0
    return (
        sum(weight * max(alike(term, word) for word in words) for term, weight in asked.items())
        / total
    )
