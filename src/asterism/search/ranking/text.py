"""What the candidates' own text says to a question: evidence that needs them read."""

import heapq
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from asterism.search.ranking.evidence import Evidence, Strengths, is_one_word
from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.priors import FUNCTIONS, HOLDERS, PLAIN, PROPERTY, speaks_for_file
from asterism.search.ranking.words import (
    READ_CHARACTERS,
    asked_stems,
    rarity,
    said_by,
    said_by_path,
    share,
    wordiness,
)
from asterism.search.recall import FileKey, Pools
from asterism.store.chunk_table import ChunkKey
from asterism.types.deadlines import check_deadline
from asterism.types.index import Chunk
from asterism.types.search import Intent, Question

# As many words say what is asked; who gives more of them quotes, and means the place that has them.
USUAL_WORDS = 6
# A piece of text with so many words is not found in two places by accident.
SENTENCE = 5
# So much longer than usual counts, and no more.
LONGEST = 3
# A candidate with so many lines is as long as it can count.
LONG_LINES = 100
# What the length of anything else counts beside that of a function.
LENGTH_OF_OTHERS = 0.3

# Words in a row by which a message is recognised, and the share of it that they have to be.
SHORTEST_RUN = 3
QUOTED_SHARE = 0.4
_WORD = re.compile(r"[^\W\d_]{2,}")

# Pages that repeat earlier change requests word by word.
_CHANGES = re.compile(
    r"(?:^|/)(?:changes|changelogs?|history|news|release[-_ ]?notes|releases)"
    r"(?:$|(?:/[^/]+)?\.(?:md|rst|txt|adoc|markdown)$)",
    re.IGNORECASE,
)

Words = frozenset[str]
_NONE: Words = frozenset()


class Candidate(NamedTuple):
    """A chunk that was read, with the words of the question that it says."""

    chunk: Chunk
    key: ChunkKey
    file: FileKey
    said: Words
    signature: Words
    quotes: float
    """1 if it contains what the question has in quotation marks, or all of the question as it is;
    less for a short question, which may stand anywhere."""


class Text(NamedTuple):
    """What reading found: the candidates, and how much of the question each says."""

    candidates: Sequence[Candidate]
    shares: Sequence[float]
    wordiness: float
    """How much more what is said counts, as the question says more than usual."""
    excess: float
    """How much longer the question is than usual: 1 is twice as long."""
    unsaid: float
    """The share of the query's words that no candidate has."""


def read(
    question: Question, chunks: Sequence[Chunk], files: Mapping[ChunkKey, FileKey]
) -> list[Candidate]:
    """Look for the question's words in each chunk, and in its signature."""
    stems = asked_stems(question)
    phrases = _phrases(question)
    wants_pages = Intent.documentation in question.intents or bool(question.phrases)
    found: list[Candidate] = []
    for chunk in chunks:
        check_deadline()
        key = ChunkKey(chunk.repo, chunk.id)
        text = chunk.full_source.lower()
        said = said_by(f"{chunk.qualified_name}\n{text[:READ_CHARACTERS]}", stems)
        signature = said_by(chunk.signature, said) if said else _NONE
        sought = phrases if wants_pages or not _CHANGES.search(chunk.relative_path) else ()
        quotes = max([value for phrase, value in sought if phrase in text], default=0.0)
        found.append(Candidate(chunk, key, files[key], said, signature, quotes))
    return found


def _phrases(question: Question) -> list[tuple[str, float]]:
    """The phrases to look for literally, each with its weight."""
    phrases = [(phrase.lower(), 1.0) for phrase in question.phrases]
    words = len(question.text.split())
    if words > 1 and not question.phrases:
        phrases.append((question.text.strip().lower(), min(words / SENTENCE, 1.0)))
    return phrases


def lacks_quotes(question: Question, chunks: Iterable[Chunk]) -> bool:
    """Whether the query quotes sentences, of which no chunk has as much as two fifths in a row.

    A message in code has gaps for names and numbers; three words are the least.
    """
    quoted = [_words(phrase) for phrase in question.phrases]
    runs = {
        f" {' '.join(words[at : at + size])} "
        for words in quoted
        if len(words) >= SHORTEST_RUN
        for size in [max(SHORTEST_RUN, math.ceil(QUOTED_SHARE * len(words)))]
        for at in range(len(words) - size + 1)
    }
    texts = (f" {' '.join(_words(chunk.full_source))} " for chunk in chunks)
    return bool(runs) and not any(run in text for text in texts for run in runs)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def weigh(
    question: Question,
    candidates: Sequence[Candidate],
    evidence: Mapping[FileKey, Evidence],
    pools: Pools,
) -> Text:
    """Add what was read to the evidence of the candidates' files."""
    stems = asked_stems(question)
    more = wordiness(question)
    together: defaultdict[FileKey, Words] = defaultdict(frozenset)
    signatures: defaultdict[FileKey, Words] = defaultdict(frozenset)
    names_one = is_one_word(question)
    for candidate in candidates:
        together[candidate.file] |= candidate.said
        signatures[candidate.file] |= candidate.signature
        if candidate.chunk.node_kind in HOLDERS and not names_one:
            evidence[candidate.file]["type_found"] = 1.0
    for file in together:
        together[file] |= said_by_path(file.path, stems)
    worth = rarity(stems, together.values())
    known: dict[Words, float] = {}

    def worth_of(words: Words) -> float:
        if words not in known:
            known[words] = share(words, worth)
        return known[words]

    paths = {file.path for file in together}
    for file, words in together.items():
        own = evidence[file]
        own["said"] = (1.0 + more) * worth_of(words)
        own["signature"] = worth_of(signatures[file])
        importing = pools.importers.get(file)
        if importing and not pools.vector:
            own["imported_by_hits"] = math.log1p(len(paths.intersection(importing)))
    shares = [worth_of(candidate.said) for candidate in candidates]
    known_words = frozenset[str]().union(*together.values())
    unsaid = len(stems - known_words) / len(stems) if stems else 0.0
    return Text(candidates, shares, more, min(len(stems) / USUAL_WORDS - 1, LONGEST), unsaid)


def weigh_chunks(
    text: Text, evidence: Mapping[FileKey, Evidence], strengths: Strengths, options: RankOptions
) -> None:
    """Let each file have the best of its chunks, where a poor kind of chunk counts for less."""
    best = {candidate.file: _Best() for candidate in text.candidates}
    for (chunk, key, file, _, _, quotes), said in zip(text.candidates, text.shares, strict=True):
        keeps = options.priors.comment if chunk.node_kind in PLAIN else 1.0
        found = 1.0 if speaks_for_file(chunk) else keeps
        own = best[file]
        own.text = max(own.text, found * strengths.text.get(key, 0.0))
        own.vectors.append(found * strengths.vector.get(key, 0.0))
        own.said = max(own.said, said)
        own.length = max(own.length, keeps * _length(chunk))
        own.properties += chunk.node_kind == PROPERTY
        if chunk.is_exported:
            evidence[file]["offers"] = 1.0
        if quotes:
            evidence[file]["phrase"] = max(evidence[file].get("phrase", 0.0), quotes)
    for file, own in best.items():
        whole = evidence[file]
        whole["text"], whole["length"] = own.text, own.length
        whole["vector"], *further = heapq.nlargest(2, own.vectors)
        whole["vector_second"] = further[0] if further else 0.0
        whole["properties"] = own.properties / len(own.vectors)
        whole["said_at_once"] = (1.0 + text.wordiness) * own.said
        if text.excess > 0:
            whole["said_at_length"] = text.excess * own.said


@dataclass(slots=True)
class _Best:
    """What the candidates of a file have at most."""

    text: float = 0.0
    vectors: list[float] = field(default_factory=list)
    said: float = 0.0
    length: float = 0.0
    properties: int = 0


def _length(chunk: Chunk) -> float:
    """How long a chunk is: 0 for one line, 1 for a function of a hundred."""
    lines = chunk.end_line - chunk.start_line + 1
    counts = 1.0 if chunk.node_kind in FUNCTIONS else LENGTH_OF_OTHERS
    return counts * min(math.log(max(lines, 1)) / math.log(LONG_LINES), 1.0)
