"""What a file's path says to a question: words of its name and its folder, and whose file it is."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from posixpath import basename, dirname, splitext
from typing import NamedTuple

from asterism.analysis.terms import terms_of
from asterism.search.ranking.variants import is_short_for, stem_of

# Words that begin alike are taken for forms of one word from this length on: `auth`, `author…`
# is a price worth paying, `in` and `integer` is not.
SHORTEST_PREFIX = 3
# Shorter words of a question stand in too many paths by accident.
SHORTEST_ASKED = 3
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


@lru_cache(maxsize=20_000)
def alike(one: str, other: str) -> float:
    """1 for equal words, a little less for forms and abbreviations of one word, else 0."""
    if one == other:
        return 1.0
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(short) >= SHORTEST_PREFIX and long.startswith(short):
        return FORM
    if stem_of(one) == stem_of(other) and len(stem_of(one)) >= SHORTEST_PREFIX:
        return FORM
    return FORM if is_short_for(short, long) else 0.0


def names_file(named: str, path: str) -> bool:
    """Whether a path of a question, perhaps one of another machine, is that of a file."""
    named = f"/{named.lstrip('./')}"
    return f"/{path}".endswith(named) or named.endswith(f"/{path}")


class AskedWords:
    """The words of a question, to be compared with those of many paths; each word once."""

    def __init__(self, terms: Iterable[str]) -> None:
        """Of all terms those that are long enough."""
        self._terms = [term for term in dict.fromkeys(terms) if len(term) >= SHORTEST_ASKED]
        self._known: dict[str, float] = {}

    def like(self, word: str) -> float:
        """How much a word is like any of the question's."""
        found = self._known.get(word)
        if found is None:
            found = max([alike(term, word) for term in self._terms], default=0.0)
            self._known[word] = found
        return found

    def share_named(self, words: Sequence[str]) -> float:
        """How much of a name the question says."""
        if not words:
            return 0.0
        return sum([self.like(word) for word in words]) / len(words)
