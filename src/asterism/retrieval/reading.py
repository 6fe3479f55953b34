"""What the candidates' own text says to a question: evidence that needs them read."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from asterism.backends.store.chunk_table import ChunkKey
from asterism.domain.chunk import Chunk
from asterism.domain.search import Intent, Question
from asterism.retrieval.coverage import (
    READ_CHARACTERS,
    asked_stems,
    rarity,
    said_by,
    said_by_path,
    share,
)
from asterism.retrieval.fusion import Evidence, Strengths, is_one_word
from asterism.retrieval.options import RankOptions
from asterism.retrieval.priors import HOLDERS, PLAIN, speaks_for_file
from asterism.retrieval.recall import FileKey, Pools

# As many words say what is asked; who gives more of them quotes, and means the place that has them.
USUAL_WORDS = 6
# A piece of text with so many words does not stand in two places by accident.
SENTENCE = 5
# So much longer than usual counts, and no more.
LONGEST = 3
# A candidate with so many lines is as long as it can count.
LONG_LINES = 100

# Pages that repeat what was once wished, word by word.
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
    excess: float
    """How much longer the question is than usual: 1 is twice as long."""
    unsaid: float
    """Which share of the question's words nobody says."""


def read(
    question: Question, chunks: Sequence[Chunk], files: Mapping[ChunkKey, FileKey]
) -> list[Candidate]:
    """Look for the question's words in each chunk, and in its signature."""
    stems = asked_stems(question)
    phrases = _phrases(question)
    wants_pages = Intent.documentation in question.intents or bool(question.phrases)
    found: list[Candidate] = []
    for chunk in chunks:
        key = ChunkKey(chunk.repo, chunk.id)
        text = chunk.full_source.lower()
        said = said_by(f"{chunk.qualified_name}\n{text[:READ_CHARACTERS]}", stems)
        signature = said_by(chunk.signature, said) if said else _NONE
        sought = phrases if wants_pages or not _CHANGES.search(chunk.relative_path) else ()
        quotes = max([value for phrase, value in sought if phrase in text], default=0.0)
        found.append(Candidate(chunk, key, files[key], said, signature, quotes))
    return found


def _phrases(question: Question) -> list[tuple[str, float]]:
    """What to look for as it stands, and what it is worth to find it."""
    phrases = [(phrase.lower(), 1.0) for phrase in question.phrases]
    words = len(question.text.split())
    if words > 1 and not question.phrases:
        phrases.append((question.text.strip().lower(), min(words / SENTENCE, 1.0)))
    return phrases


def weigh(
    question: Question,
    candidates: Sequence[Candidate],
    evidence: Mapping[FileKey, Evidence],
    pools: Pools,
) -> Text:
    """Add what was read to the evidence of the candidates' files."""
    stems = asked_stems(question)
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
        own["said"] = worth_of(words)
        own["signature"] = worth_of(signatures[file])
        importing = pools.importers.get(file)
        if importing and not pools.vector:
            own["imported_by_hits"] = math.log1p(len(paths.intersection(importing)))
    shares = [worth_of(candidate.said) for candidate in candidates]
    known_words = frozenset[str]().union(*together.values())
    unsaid = len(stems - known_words) / len(stems) if stems else 0.0
    return Text(candidates, shares, min(len(stems) / USUAL_WORDS - 1, LONGEST), unsaid)


def weigh_chunks(
    text: Text,
    evidence: Mapping[FileKey, Evidence],
    strengths: Strengths,
    options: RankOptions,
) -> None:
    """Let each file have the best of its chunks, where a poor kind of chunk counts for less."""
    best = {candidate.file: [0.0, 0.0, 0.0, 0.0] for candidate in text.candidates}
    for (chunk, key, file, _, _, quotes), said in zip(text.candidates, text.shares, strict=True):
        keeps = options.priors.comment if chunk.node_kind in PLAIN else 1.0
        found = 1.0 if speaks_for_file(chunk) else keeps
        own = best[file]
        own[0] = max(own[0], found * strengths.text.get(key, 0.0))
        own[1] = max(own[1], found * strengths.vector.get(key, 0.0))
        own[2] = max(own[2], said)
        own[3] = max(own[3], keeps * _length(chunk))
        if chunk.is_exported:
            evidence[file]["offers"] = 1.0
        if quotes:
            evidence[file]["phrase"] = max(evidence[file].get("phrase", 0.0), quotes)
    for file, (words, meaning, said, length) in best.items():
        whole = evidence[file]
        whole["text"], whole["vector"], whole["said_at_once"] = words, meaning, said
        whole["length"] = length
        if text.excess > 0:
            whole["said_at_length"] = text.excess * said


def _length(chunk: Chunk) -> float:
    """How long a chunk is: 0 for one line, 1 for a hundred."""
    lines = chunk.end_line - chunk.start_line + 1
    return min(math.log(max(lines, 1)) / math.log(LONG_LINES), 1.0)
