"""How much of a question a text says: which of its words occur, in whatever form."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from asterism.search.ranking.paths import path_words
from asterism.search.ranking.variants import stem_of
from asterism.types.search import Question

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
