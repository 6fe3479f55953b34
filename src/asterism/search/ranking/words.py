"""How much of a question a text says: which of its words occur, in whatever form."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from posixpath import basename, dirname, splitext
from typing import NamedTuple

from asterism.analysis.terms import terms_of
from asterism.types.search import Question

# Shorter stems are shared by words that have nothing to do with each other.
SHORTEST_STEM = 3
# The longest that fits is taken off, so `serialization`, `serializer` and `serialize` meet.
_ENDINGS = (
    *("izations", "ization", "izers", "izer", "izing", "ized", "izes", "ize"),
    *("ations", "ation", "ators", "ator", "ings", "ing", "ions", "ion"),
    *("ers", "ors", "ies", "er", "or", "ed", "es", "s", "e", "y"),
)
# What programmers write for short; a word that begins with its abbreviation needs no line here.
_SHORT = """
    addr address, arg argument, attr attribute, buf buffer, cert certificate,
    cfg configuration config, cmd command, col column, conn connection, ctx context, db database,
    deps dependency, dest destination, dst destination, dir directory folder, elem element,
    env environment, err error, expr expression, ext extension, fmt format formatter, fn function,
    func function, hdr header, i18n internationalization translation, id identifier, idx index,
    img image, impl implementation, io input output, l10n localization, len length, lib library,
    mgr manager, msg message, num number, obj object, op operation operator, opt option,
    param parameter, pkg package, pos position, prev previous, prop property, recv receive,
    ref reference, repo repository, req request, res response resource result, resp response,
    seq sequence, spec specification, src source, stats statistics, stmt statement, str string,
    svc service, sys system, tbl table, tmp temporary, tok token, tx transaction, txn transaction,
    util utility helper, val value, var variable, ws websocket
"""


@lru_cache(maxsize=50_000)
def stem_of(word: str) -> str:
    """What the forms of a word have in common, roughly; only plain words have forms."""
    if word.isascii() and word.isalpha():
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
                return word[: -len(ending)]
    return word


_PAIRS = frozenset(
    (short, stem_of(word))
    for entry in _SHORT.split(",")
    for short, *words in [entry.split()]
    for word in words
)


def is_short_for(short: str, word: str) -> bool:
    """Whether the one is what programmers write for the other, in the plural as well."""
    return (short, stem_of(word)) in _PAIRS or (short.removesuffix("s"), stem_of(word)) in _PAIRS


# Words that begin alike are taken for forms of one word from this length on: `auth`, `author…`
# is a price worth paying, `in` and `integer` is not.
SHORTEST_PREFIX = 3
# Shorter words of a query occur in too many paths by accident.
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


# A longer text says everything somewhere; what it is about stands at its beginning.
READ_CHARACTERS = 3_000
# Shorter stems are found inside unrelated words.
SHORTEST = 3
# Words that tell: who gives two names something, who gives ten describes it; five are usual.
FEWEST, USUAL, MOST = 2, 5, 10


def asked_stems(question: Question) -> frozenset[str]:
    """The stems of a question's words; of identifiers the parts, which `terms` has as well."""
    stems = {stem_of(term) for term in question.terms if len(term) >= SHORTEST}
    return frozenset(stem for stem in stems if len(stem) >= SHORTEST)


def wordiness(question: Question) -> float:
    """How much more than usual a question says: −0.3 for two words or less, 0.5 for ten or more.

    What files are called and where they stand counts less by that share, what is said counts more.
    Fitted, it would be twice as much, so that names and places count nothing for ten words.
    """
    words = min(max(len(asked_stems(question)), FEWEST), MOST)
    return (words - USUAL) / MOST


def said_by(text: str, stems: Collection[str]) -> frozenset[str]:
    """The stems that a text contains."""
    lowered = text.lower()
    return frozenset([stem for stem in stems if stem in lowered])


def said_by_path(path: str, stems: Collection[str]) -> frozenset[str]:
    """The stems that a path contains."""
    words = path_words(path)
    return said_by(" ".join((*words.stem, *words.folder)), stems)


def rarity(stems: Collection[str], said: Collection[Collection[str]]) -> dict[str, float]:
    """What each stem is worth: little if most of the candidates say it; together 1."""
    holders = Counter(stem for some in said for stem in some)
    worth = {stem: math.log1p(len(said) / (holders[stem] + 0.5)) for stem in stems}
    total = sum(worth.values()) or 1.0
    return {stem: value / total for stem, value in worth.items()}


def share(said: Iterable[str], worth: Mapping[str, float]) -> float:
    """How much of the question is said, each word by its worth."""
    return sum([worth[stem] for stem in said])
