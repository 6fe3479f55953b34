"""Learns words that stand for one another: `python -m training.examples.synonyms PAIRS... --out FILE`.

A line of PAIRS has `repo`, the `title` and `body` of a commit, and as `gold` the functions that it
changed: path, qualified name, first and last line, code. Where the functions lack a word of the
message, the words that they have instead are counted. Two words are synonyms if enough commits of
enough repositories have them so, more often than by chance, and the static model finds them alike.
Nothing is chosen by hand. A line of FILE is a word and its synonyms.
"""

import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from asterism.analysis.terms import terms_of
from asterism.models.embed.options import EmbedOptions
from asterism.models.embed.provider import make_embedder
from asterism.search.query.text import STOP_WORDS
from asterism.search.ranking.opposites import direction_of
from asterism.search.ranking.words import stem_of
from training.inputs import present

MESSAGE_CHARS = 400
CODE_CHARS = 3_000
SHORTEST, LONGEST = 3, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SynonymOptions:
    """From where on two words are synonyms."""

    commits: int = 4
    repositories: int = 4
    lift: float = 1.5
    """How much more often than in any function the word is in those of such messages."""
    deviations: float = 2.5
    """How far that is above chance, in standard deviations."""
    cosine: float = 0.35
    """Between the words' vectors of the static model; at 0.3 words of one field come in."""


class Commit(NamedTuple):
    """The stems of a message, and of the functions that the commit changed."""

    repo: str
    said: frozenset[str]
    code: frozenset[str]


class Pair(NamedTuple):
    """A word of messages, and a word of functions that lack it."""

    said: str
    found: str


def commit_of(row: Mapping[str, Any], forms: Counter[str]) -> Commit:
    """The words of a line; `forms` counts them as they are written."""
    paragraph = row["body"].split("\n\n")[0][:MESSAGE_CHARS]
    said = _words(f"{row['title']} {paragraph}")
    code = set[str]().union(
        *(_words(f"{name} {text[:CODE_CHARS]}") for _, name, _, _, text in row["gold"][:3])
    )
    forms.update(said | code)
    return Commit(row["repo"], frozenset(map(stem_of, said)), frozenset(map(stem_of, code)))


def _words(text: str) -> set[str]:
    return {
        term
        for term in terms_of(text)
        if term.isascii() and term.isalpha() and SHORTEST <= len(term) <= LONGEST
    } - STOP_WORDS


def frequent_pairs(commits: Sequence[Commit], options: SynonymOptions) -> list[Pair]:
    """The pairs of stems that enough commits have, more often than by chance."""
    usual = Counter(stem for commit in commits for stem in commit.code)
    missing = Counter(stem for commit in commits for stem in commit.said - commit.code)
    counts: Counter[Pair] = Counter()
    repos: defaultdict[Pair, set[str]] = defaultdict(set)
    for commit in commits:
        for said in commit.said - commit.code:
            for found in commit.code:
                pair = Pair(said, found)
                counts[pair] += 1
                repos[pair].add(commit.repo)

    def is_frequent(pair: Pair) -> bool:
        count, share = counts[pair], usual[pair.found] / len(commits)
        expected = missing[pair.said] * share
        spread = math.sqrt(expected * (1 - share)) or math.inf
        return (
            count >= max(options.commits, options.lift * expected)
            and len(repos[pair]) >= options.repositories
            and (count - expected) / spread >= options.deviations
        )

    return sorted(filter(is_frequent, counts))


def are_others(one: str, other: str) -> bool:
    """Whether words are neither forms of one word, nor each other's negation or opposite."""
    direction = direction_of([one])
    return (
        one[:4] != other[:4]
        and not one.endswith(other)
        and not other.endswith(one)
        and not direction_of([other]).said & direction.opposites
    )


def synonyms(rows: Iterable[Mapping[str, Any]], options: SynonymOptions) -> dict[str, list[str]]:
    """Each word with its synonyms, in both directions."""
    forms: Counter[str] = Counter()
    commits = [commit_of(row, forms) for row in rows]
    spelt: dict[str, str] = {}
    for word, _count in sorted(forms.items(), key=lambda entry: (-entry[1], entry[0])):
        spelt.setdefault(stem_of(word), word)
    pairs = [
        (spelt[pair.said], spelt[pair.found])
        for pair in frequent_pairs(commits, options)
        if are_others(spelt[pair.said], spelt[pair.found])
    ]
    words = sorted({word for pair in pairs for word in pair})
    vectors = dict(zip(words, make_embedder(EmbedOptions()).embed_queries(words), strict=True))
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        if float(vectors[one] @ vectors[other]) >= options.cosine:
            found[one].add(other)
            found[other].add(one)
    return {word: sorted(others) for word, others in sorted(found.items())}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the pairs and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="+", type=present)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    rows = [json.loads(line) for path in given.pairs for line in path.open(encoding="utf-8")]
    found = synonyms(rows, SynonymOptions())
    text = "".join(f"{word} {' '.join(others)}\n" for word, others in found.items())
    given.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
