"""The recipe: pools in, hits out, the likeliest first, each with a probability and its reasons."""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from asterism.search.ranking.evidence import (
    Evidence,
    Strengths,
    by_name,
    files_of,
    gather,
    log_odds,
    strengths_of,
)
from asterism.search.ranking.options import OF_VECTORS, RankOptions, ScorerOptions
from asterism.search.ranking.order import Standing, in_order, represented
from asterism.search.ranking.priors import Company, chunk_priors, file_priors
from asterism.search.ranking.rerank import ChunkScorer, RerankEvidence, rerank_evidence
from asterism.search.ranking.symbol_weights import AnswerCurve, Calibration
from asterism.search.ranking.text import Text, lacks_quotes, read, weigh, weigh_chunks
from asterism.search.recall import FileKey, Pools
from asterism.store.chunk_table import ChunkKey
from asterism.types.deadlines import check_deadline
from asterism.types.index import Chunk
from asterism.types.search import Hit, Question, Signal

NOT_QUOTED = 0.1
"""Of a score, where a message that the query quotes is in none of the best chunks. Asked of another
repository, readers' quoted messages had scores of 0.18 to 0.76, and code was shown for each."""
READ = 40
"""Chunks that are looked at for the message."""


class Reasons:
    """The pools, turned round: from a chunk to its places in them."""

    def __init__(self, pools: Pools, signals: Mapping[ChunkKey, Signal] | None = None) -> None:
        """Look through every list once."""
        self._signals = signals or {}
        self._definitions = pools.definitions
        self._lines = pools.lines
        self._sentences = {
            key: number for number, keys in enumerate(pools.sentences, 1) for key in keys[:1]
        }
        self._places = {
            name: {match.key: (rank, match.score) for rank, match in enumerate(matches, 1)}
            for name, matches in (
                ("text", pools.text),
                ("vector", pools.vector),
                ("name", pools.name),
                ("path", pools.path),
            )
        }

    def distance(self, chunk: Chunk) -> float | None:
        """How far the chunk is from the question, if its vector was among the nearest."""
        place = self._places["vector"].get(ChunkKey(chunk.repo, chunk.id))
        return place[1] if place else None

    def why(self, chunk: Chunk, priors: Iterable[Signal]) -> tuple[Signal, ...]:
        """Channels first, then whether it defines a name that was asked for, then the priors."""
        key = ChunkKey(chunk.repo, chunk.id)
        channels = [
            Signal(name, places[key][1], places[key][0])
            for name, places in self._places.items()
            if key in places
        ]
        if key in self._definitions:
            exact = self._definitions[key].is_exact
            channels.append(Signal("definition" if exact else "spelling", 1.0))
        if key in self._lines:
            channels.append(Signal("line", float(self._lines[key].line)))
        if key in self._sentences:
            channels.append(Signal("sentence", float(self._sentences[key])))
        if key in self._signals:
            channels.append(self._signals[key])
        return (*channels, *priors)


class Grounds(NamedTuple):
    """What there is for the question at all, whichever hit is best: odds only compare hits."""

    cosine: float = 0.0
    """Of the nearest chunk."""
    unsaid: float = 0.0
    """Which share of the question's words no candidate says."""
    near: float = 0.0
    """The mean cosine of the nearest chunks: a question about other code has no near ones."""
    read: float = 0.0
    """The mean score of those that the encoder read."""


def grounds_of(
    pools: Pools, unsaid: float, read: Mapping[ChunkKey, float] | None = None
) -> Grounds:
    """The grounds that the nearest chunks, the candidates' texts and the encoder give."""
    cosines = [1.0 - match.score / 2.0 for match in pools.vector]
    return Grounds(max(cosines, default=0.0), unsaid, _mean(cosines), _mean((read or {}).values()))


def _mean(values: Collection[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def probabilities(odds: Sequence[float], grounds: Grounds, curve: Calibration) -> list[float]:
    """A probability for each of the candidates' log-odds, best first, in the same order."""
    base = curve.offset + curve.cosine * grounds.cosine + curve.unsaid * grounds.unsaid
    ahead = odds[0] - odds[1] if len(odds) > 1 else 0.0
    first = curve.first + curve.margin * ahead
    answered = 1.0 if curve.answer is None else logistic(answer_odds(grounds, curve.answer))
    return [
        answered * logistic(base + curve.slope * value + (0.0 if number else first))
        for number, value in enumerate(odds)
    ]


def answer_odds(grounds: Grounds, curve: AnswerCurve) -> float:
    """The log-odds that the question has an answer here."""
    values = zip(grounds, (curve.cosine, curve.unsaid, curve.near, curve.read), strict=True)
    return math.fsum([curve.offset, *(value * weight for value, weight in values)])


def logistic(value: float) -> float:
    """The probability of these log-odds."""
    if value < 0:
        return math.exp(value) / (1.0 + math.exp(value))
    return 1.0 / (1.0 + math.exp(-value))


def calibration_for(
    pools: Pools, options: RankOptions, scorer: ScorerOptions | None = None
) -> Calibration:
    """The curve for the pools that were searched (words, vectors or both) and for the reranker."""
    if not pools.vector:
        return options.by_words
    curves = options if scorer is None else scorer
    return curves.calibration if pools.text else curves.by_meaning


Fetch: TypeAlias = Callable[[Sequence[ChunkKey]], Sequence[Chunk]]
"""Reads chunks by their keys; those that are gone are missing from the answer."""


class Case(NamedTuple):
    """What is known about the candidates, and what speaks for each of their files."""

    question: Question
    pools: Pools
    strengths: Strengths
    files: Mapping[ChunkKey, FileKey]
    evidence: dict[FileKey, Evidence]
    priors: Mapping[FileKey, list[Signal]]
    weights: Mapping[str, float]
    start: float
    """The log-odds that every file has, whatever speaks for it."""
    options: RankOptions

    def odds(self, file: FileKey) -> float:
        """A file's log-odds by the evidence there is."""
        known = log_odds(self.evidence[file], self.weights)
        return self.start + known + _logarithm(self.priors[file])


class Study(NamedTuple):
    """All evidence there is, before anything is weighed against anything."""

    case: Case
    text: Text
    strength: Mapping[ChunkKey, float]
    """What the channels say of each chunk, to be compared within its file."""


class Placed(NamedTuple):
    """The candidates in order, before their odds are made probabilities."""

    places: list[Standing]
    priors: Mapping[FileKey, list[Signal]]
    grounds: Grounds
    verdict: RerankEvidence


def rank(
    question: Question,
    pools: Pools,
    fetch: Fetch,
    options: RankOptions,
    scorer: ChunkScorer | None = None,
) -> list[Hit]:
    """Order the candidates: what speaks for their files, then for them, then what is known anyway.

    All of them are returned, some hundred; the order does not depend on how many are wanted. With
    a reranker, the best are reordered by its scores.
    """
    placed = place(question, pools, fetch, options, scorer)
    scores = probabilities(
        [place.odds for place in placed.places],
        placed.grounds,
        calibration_for(
            pools, options, scorer.options if scorer and placed.verdict.files else None
        ),
    )
    reasons = Reasons(pools, placed.verdict.signals)
    further: tuple[Signal, ...] = ()
    if pools.text and lacks_quotes(question, [place.chunk for place in placed.places[:READ]]):
        further = (Signal("prior:not_quoted", NOT_QUOTED),)
        scores = [NOT_QUOTED * score for score in scores]
    return [
        Hit(
            place.chunk,
            score,
            reasons.distance(place.chunk),
            reasons.why(place.chunk, (*placed.priors[place.file], *place.priors, *further)),
        )
        for place, score in zip(placed.places, scores, strict=True)
    ]


def place(
    question: Question,
    pools: Pools,
    fetch: Fetch,
    options: RankOptions,
    scorer: ChunkScorer | None = None,
) -> Placed:
    """The candidates in order, each with its log-odds."""
    case, text, strength = study(question, pools, fetch, options)
    standing = _standing(case, text, strength)
    ordered = in_order(standing, case.odds, options)
    verdict = RerankEvidence() if scorer is None else rerank_evidence(question, ordered, scorer)
    if scorer is not None and verdict.files:
        ordered = _reranked_order(case, standing, verdict, scorer.options.keeps)
    ordered = represented(ordered, pools.sentences, options)
    return Placed(ordered, case.priors, grounds_of(pools, text.unsaid), verdict)


def study(question: Question, pools: Pools, fetch: Fetch, options: RankOptions) -> Study:
    """Put the evidence together, and read the candidates that are worth it."""
    case = open_case(question, pools, options)
    strength = _strength(case)
    return Study(case, read_candidates(case, fetch(_candidates(case, strength))), strength)


def _reranked_order(
    case: Case, standing: Sequence[Standing], verdict: RerankEvidence, keeps: float
) -> list[Standing]:
    """The candidates in order, with the scores of the reranker among the evidence."""
    less = {name: keeps * case.weights[name] for name in OF_VECTORS}
    beside = case._replace(weights={**case.weights, **less})

    def odds(file: FileKey) -> float:
        return beside.odds(file) + verdict.files.get(file, 0.0)

    return in_order([verdict.place(place) for place in standing], odds, case.options)


def open_case(question: Question, pools: Pools, options: RankOptions) -> Case:
    """Put together what the channels say of each file."""
    files = files_of(pools)
    strengths = strengths_of(pools)
    evidence = gather(question, pools, files, strengths, options)
    company = Company(evidence)
    priors = {file: file_priors(file, company, question, options) for file in evidence}
    weights = by_name(options.change_weights if question.is_change_request else options.weights)
    start = options.change_start if question.is_change_request and pools.vector else 0.0
    return Case(question, pools, strengths, files, evidence, priors, weights, start, options)


def read_candidates(case: Case, chunks: Sequence[Chunk]) -> Text:
    """Read the candidates, and add what they say to the evidence."""
    candidates = read(case.question, chunks, case.files)
    text = weigh(case.question, candidates, case.evidence, case.pools)
    weigh_chunks(text, case.evidence, case.strengths, case.options)
    return text


def _strength(case: Case) -> dict[ChunkKey, float]:
    """What the channels say of each chunk, to be compared within its file."""
    weights, pools = case.options.chunk, case.pools
    found = dict.fromkeys(case.files, weights.least)
    for scores, weight in (
        (case.strengths.text, weights.text),
        (case.strengths.vector, weights.vector),
        (case.strengths.name, weights.name),
    ):
        for key, score in scores.items():
            found[key] += weight * score
    for key, definition in pools.definitions.items():
        found[key] += weights.definition * case.options.definition_kinds.get(definition.kind, 1.0)
    for key in pools.lines.keys() & found.keys():
        found[key] += weights.line
    return found


def _candidates(case: Case, strength: Mapping[ChunkKey, float]) -> list[ChunkKey]:
    """The chunks worth reading: the best of each file, more of the better files."""
    by_file: defaultdict[FileKey, list[tuple[float, ChunkKey]]] = defaultdict(list)
    for key, file in case.files.items():
        by_file[file].append((-strength[key], key))
    step = math.log(case.options.next_in_file)
    placed: list[tuple[float, ChunkKey]] = []
    for file, keys in by_file.items():
        check_deadline()
        keys.sort()
        best = case.odds(file) - math.log(-keys[0][0])
        placed += [
            (-(best + math.log(-own) + number * step), key)
            for number, (own, key) in enumerate(keys)
        ]
    return [key for _, key in sorted(placed)[: case.options.candidates]]


def _standing(case: Case, text: Text, strength: Mapping[ChunkKey, float]) -> list[Standing]:
    """Each candidate beside the others of its file."""
    weights, found = case.options.chunk, []
    for candidate, said in zip(text.candidates, text.shares, strict=True):
        priors = chunk_priors(candidate.chunk, case.question, case.options)
        listed = strength[candidate.key] + weights.phrase * candidate.quotes
        own = math.log(listed * (weights.unsaid + said)) + _logarithm(priors)
        is_named = candidate.key in case.pools.definitions or bool(
            case.evidence[candidate.file].get("named_path")
        )
        found.append(Standing(candidate.chunk, candidate.file, own, tuple(priors), is_named))
    return found


def _logarithm(priors: Iterable[Signal]) -> float:
    return sum([math.log(prior.value) for prior in priors])
