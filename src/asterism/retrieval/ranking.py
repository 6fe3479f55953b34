"""The recipe: pools in, hits out, the likeliest first, each with a probability and its reasons."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from asterism.backends.store.chunk_table import ChunkKey
from asterism.domain.chunk import Chunk
from asterism.domain.search import Hit, Question, Signal
from asterism.retrieval.calibration import probabilities
from asterism.retrieval.coverage import asked_stems, rarity, said_by_chunk, said_by_path, share
from asterism.retrieval.fusion import (
    Evidence,
    Strengths,
    files_of,
    gather,
    log_odds,
    strengths_of,
)
from asterism.retrieval.options import RankOptions
from asterism.retrieval.order import Standing, in_order
from asterism.retrieval.priors import PLAIN, Company, chunk_priors, file_priors
from asterism.retrieval.reasons import Reasons
from asterism.retrieval.recall import FileKey, Pools

Fetch: TypeAlias = Callable[[Sequence[ChunkKey]], Sequence[Chunk]]
"""Reads chunks by their keys; those that are gone are missing from the answer."""


class Case(NamedTuple):
    """What is known about the candidates before any of them is read."""

    question: Question
    pools: Pools
    strengths: Strengths
    files: Mapping[ChunkKey, FileKey]
    evidence: dict[FileKey, Evidence]
    priors: Mapping[FileKey, list[Signal]]
    options: RankOptions

    def odds(self, file: FileKey) -> float:
        """A file's log-odds by the evidence there is."""
        weighed = log_odds(self.evidence[file], self.options.weights)
        return weighed + _logarithm(self.priors[file])


def rank(question: Question, pools: Pools, fetch: Fetch, options: RankOptions) -> list[Hit]:
    """Order the candidates: what speaks for their files, then for them, then what is known anyway.

    All of them are returned, some hundred; the order does not depend on how many are wanted.
    """
    case = open_case(question, pools, options)
    strength = {key: _strength(case, key) for key in case.files}
    chunks = fetch(_candidates(case, strength))
    said = _read(case, chunks)
    standing = [_standing(case, chunk, strength, said) for chunk in chunks]
    ordered = in_order(standing, case.odds, options)
    reasons = Reasons(pools)
    scores = probabilities([place.odds for place in ordered], pools, options)
    return [
        Hit(
            place.chunk,
            score,
            reasons.distance(place.chunk),
            reasons.why(place.chunk, (*case.priors[place.file], *place.priors)),
        )
        for place, score in zip(ordered, scores, strict=True)
    ]


def open_case(question: Question, pools: Pools, options: RankOptions) -> Case:
    """Put together what the channels say of each file."""
    files = files_of(pools)
    evidence = gather(question, pools, files, options)
    company = Company(evidence)
    priors = {file: file_priors(file, company, question, options) for file in evidence}
    return Case(question, pools, strengths_of(pools), files, evidence, priors, options)


def _strength(case: Case, key: ChunkKey) -> float:
    """What the channels say of a chunk, to be compared within its file."""
    weights, strengths = case.options.chunk, case.strengths
    definition = case.pools.definitions.get(key)
    kinds = case.options.definition_kinds
    return (
        weights.least
        + weights.text * strengths.text.get(key, 0.0)
        + weights.vector * strengths.vector.get(key, 0.0)
        + weights.name * strengths.name.get(key, 0.0)
        + (weights.definition * kinds.get(definition.kind, 1.0) if definition else 0.0)
    )


def _candidates(case: Case, strength: Mapping[ChunkKey, float]) -> list[ChunkKey]:
    """The chunks worth reading: the best of each file, more of the better files."""
    by_file: defaultdict[FileKey, list[ChunkKey]] = defaultdict(list)
    for key, file in case.files.items():
        by_file[file].append(key)
    step = math.log(case.options.next_in_file)
    placed: list[tuple[float, ChunkKey]] = []
    for file, keys in by_file.items():
        keys.sort(key=lambda key: (-strength[key], key))
        best = case.odds(file) - math.log(strength[keys[0]])
        placed += [
            (-(best + math.log(strength[key]) + number * step), key)
            for number, key in enumerate(keys)
        ]
    return [key for _, key in sorted(placed)[: case.options.candidates]]


def _read(case: Case, chunks: Iterable[Chunk]) -> dict[ChunkKey, float]:
    """Read the candidates and add to the evidence; how much of the question each chunk says."""
    stems = asked_stems(case.question)
    said: dict[ChunkKey, frozenset[str]] = {}
    together: defaultdict[FileKey, frozenset[str]] = defaultdict(frozenset)
    plain: set[ChunkKey] = set()
    for chunk in chunks:
        key = ChunkKey(chunk.repo, chunk.id)
        said[key] = said_by_chunk(chunk, stems)
        together[case.files[key]] |= said[key]
        if chunk.node_kind in PLAIN:
            plain.add(key)
    for file in together:
        together[file] |= said_by_path(file.path, stems)
        # What the lists said of the file counts again, by the kinds of its chunks.
        case.evidence[file] |= {"text": 0.0, "vector": 0.0, "said_at_once": 0.0}
    worth = rarity(stems, together.values())
    shares = {key: share(words, worth) for key, words in said.items()}
    for file, words in together.items():
        case.evidence[file]["said"] = share(words, worth)
    for key, own in shares.items():
        found = case.evidence[case.files[key]]
        keeps = case.options.priors.comment if key in plain else 1.0
        found["text"] = max(found["text"], keeps * case.strengths.text.get(key, 0.0))
        found["vector"] = max(found["vector"], keeps * case.strengths.vector.get(key, 0.0))
        found["said_at_once"] = max(found["said_at_once"], own)
    return shares


def _standing(
    case: Case, chunk: Chunk, strength: Mapping[ChunkKey, float], said: Mapping[ChunkKey, float]
) -> Standing:
    key = ChunkKey(chunk.repo, chunk.id)
    priors = chunk_priors(chunk, case.options)
    own = math.log(strength[key]) + math.log(case.options.chunk.unsaid + said[key])
    return Standing(chunk, case.files[key], own + _logarithm(priors), tuple(priors))


def _logarithm(priors: Iterable[Signal]) -> float:
    return sum(math.log(prior.value) for prior in priors)
