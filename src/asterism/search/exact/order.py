"""Exact matches for a reader: definitions first, then where the matches are many and to the point.

A list of every match keeps the order of the files; this order is for the first few of them.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from asterism.search.exact.search import ExactAnswer, Found, chunks_found
from asterism.search.lookup import definitions_named
from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.priors import Company, chunk_priors, file_priors
from asterism.search.recall import FileKey
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot
from asterism.types.index import Chunk, FoundSymbol
from asterism.types.search import Hit, Question, Signal

# Places whose chunks are read: some times the largest limit, so that duplicates leave enough.
READ_AT_MOST = 300


class Matches(NamedTuple):
    """What was found, and where more can be learnt about it."""

    question: Question
    answer: ExactAnswer
    catalogue: Catalogue
    snapshot: ChunkSnapshot


def most_useful(matches: Matches, options: RankOptions) -> list[Hit]:
    """The places a reader wants to see first, at most so many."""
    defined = _definitions(matches)
    files = [FileKey(found.key.repo, found.path) for found in matches.answer.found]
    company = Company(files)
    # Everything is literal here, so quotes do not say that any kind of file is as good.
    asked = replace(matches.question, phrases=(), is_code=False)
    priors = {file: file_priors(file, company, asked, options) for file in set(files)}
    first = sorted(
        zip(matches.answer.found, files, strict=True),
        key=lambda pair: (pair[0].key not in defined, -_weight(pair[0], priors[pair[1]])),
    )[:READ_AT_MOST]
    hits = [
        _hit(
            chunk,
            found,
            found.key in defined,
            [*priors[FileKey(chunk.repo, found.path)], *chunk_priors(chunk, asked, options)],
        )
        for chunk, found in chunks_found(matches.snapshot, [found for found, _ in first])
    ]
    return sorted(hits, key=_place)


def _definitions(matches: Matches) -> set[ChunkKey]:
    """The chunks that define a name which is looked for; a pattern names nothing."""
    if matches.question.pattern is not None:
        return set()
    return {
        ChunkKey(found.repo, found.row.chunk_id)
        for word in matches.answer.looked_for
        if word.isidentifier()
        for found in _named(matches.catalogue, word, matches.question)
        if found.row.chunk_id is not None
    }


def _named(catalogue: Catalogue, word: str, question: Question) -> list[FoundSymbol]:
    spelt = [name for name in question.identifiers if name.casefold() == word] or [word]
    return [found for name in spelt for found in definitions_named(catalogue, name)]


def _hit(chunk: Chunk, found: Found, defines: bool, priors: Sequence[Signal]) -> Hit:
    why = [Signal("lines", float(len(found.lines)))]
    if defines:
        why.append(Signal("definition", 1.0))
    return Hit(chunk, 1.0, why=(*why, *priors), lines=tuple(found.lines))


def _place(hit: Hit) -> tuple[bool, float]:
    """Where a hit stands; equals stay in the order of their files."""
    defines = any(signal.name == "definition" for signal in hit.why)
    priors = [signal for signal in hit.why if signal.name.startswith("prior:")]
    return not defines, -_product(priors) * _many(len(hit.lines))


def _weight(found: Found, priors: Sequence[Signal]) -> float:
    return _product(priors) * _many(len(found.lines))


def _many(lines: int) -> float:
    """Ten matches say more than one, though not ten times as much."""
    return 1.0 + math.log2(lines)


def _product(priors: Sequence[Signal]) -> float:
    return math.prod(prior.value for prior in priors)
