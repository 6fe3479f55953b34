"""The recipe for queries in words: recall, features, scores and order of symbols."""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from asterism.search.ranking.opposites import OPPOSITE, direction_of, is_opposite
from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.priors import Company, chunk_priors, file_priors
from asterism.search.ranking.recipe import Case, Fetch, Reasons, grounds_of, probabilities, study
from asterism.search.ranking.rerank import ChunkScorer
from asterism.search.ranking.symbol_weights import Calibration, SymbolFeatures, reasons, weighed
from asterism.search.ranking.symbols import (
    SymbolCase,
    content_terms,
    read_symbols,
    shares_of,
    standardised,
    worth_reading,
)
from asterism.search.recall import FileKey, Pools
from asterism.search.symbol_recall import SymbolPools
from asterism.store.chunk_table import ChunkKey
from asterism.types.index import Chunk
from asterism.types.search import Hit, Question, Signal


class Scored(NamedTuple):
    """A symbol with its score and what makes it up."""

    chunk: Chunk
    score: float
    """In log-odds against the other candidates."""
    features: SymbolFeatures
    signals: tuple[Signal, ...] = ()


def ranks_symbols(question: Question) -> bool:
    """Whether a query is in words, so that its symbols are ranked one by one.

    Names, quoted texts, pieces of code and stack traces are found by what they name.
    """
    if question.parts is not None:
        return True
    words = question.text.split()
    return (
        len(words) > 1
        and not question.is_code
        and not question.phrases
        and not question.lines
        and question.used is None
        and not (len(words) <= len(question.identifiers) + len(question.paths))
    )


class EncoderScores(NamedTuple):
    """What the encoder said of the best symbols; empty without one."""

    scores: Mapping[ChunkKey, float] = MappingProxyType({})
    name: str = ""


class SymbolRecall(NamedTuple):
    """What was found for a query in words."""

    pools: Pools
    symbols: SymbolPools
    fetch: Fetch


def rank_symbols(
    question: Question,
    found: SymbolRecall,
    options: RankOptions,
    scorer: ChunkScorer | None = None,
    *,
    spread: bool = True,
) -> list[Hit]:
    """The symbols in order, each with a probability and its reasons.

    `spread` lets further symbols of a file come later still, for lists of places.
    """
    pools, symbols, fetch = found
    case, text, _ = study(question, pools, fetch, options)
    weights = options.symbols.short if question.parts is None else options.symbols.long
    scored = _scored(case, symbols, fetch, weights)
    read = read_by(scorer, question, scored, options)
    scored = with_encoder(scored, read, weights)
    scored = _without_opposites(question, symbols, scored)
    if question.parts is None:
        numbers = options.symbols
        less = numbers.further_in_file if spread else numbers.further_in_reply
        scored = _spread(scored, less)
    grounds = grounds_of(pools, text.unsaid, read.scores)
    curve = _curve(pools, read, options)
    scores = probabilities([one.score for one in scored], grounds, curve)
    why = Reasons(pools)
    return [
        Hit(
            one.chunk,
            score,
            why.distance(one.chunk),
            (*why.why(one.chunk, _priors(case, one.chunk)), *one.signals),
        )
        for one, score in zip(scored, scores, strict=True)
    ]


def _priors(case: Case, chunk: Chunk) -> list[Signal]:
    """What is known of the file and the kind of chunk, whatever the query; features repeat it."""
    file = FileKey(chunk.repo, chunk.relative_path)
    own = chunk_priors(chunk, case.question, case.options)
    return [*case.priors.get(file, ()), *own]


def _curve(pools: Pools, read: EncoderScores, options: RankOptions) -> Calibration:
    curves = options.symbols
    if not pools.vector:
        return curves.by_words
    return curves.calibration if read.scores else curves.unread


def _scored(
    case: Case, symbols: SymbolPools, fetch: Fetch, weights: SymbolFeatures
) -> list[Scored]:
    """The candidates that were read, best first."""
    question, options = case.question, case.options.symbols
    files = {**case.files, **symbols.files()}
    known = _known(case, symbols, files)
    most = options.read if question.parts is None else options.read_long
    chunks = fetch(worth_reading(known, weights, most))
    features = read_symbols(known, chunks)
    scored = [
        Scored(chunk, weighed(one, weights), one)
        for chunk, one in zip(chunks, features, strict=True)
    ]
    return sorted(scored, key=_order)


def _known(case: Case, symbols: SymbolPools, files: Mapping[ChunkKey, FileKey]) -> SymbolCase:
    floor = case.options.symbols.file_floor
    odds = {file: case.odds(file) for file in case.evidence}
    best = max(odds.values(), default=0.0)
    company = Company({*files.values()})
    kinds: dict[FileKey, frozenset[str]] = {}

    def kinds_of(file: FileKey) -> frozenset[str]:
        if file not in kinds:
            priors = file_priors(file, company, case.question, case.options)
            names = {prior.name.removeprefix("prior:") for prior in priors}
            kinds[file] = frozenset({"example" if name == "generated" else name for name in names})
        return kinds[file]

    return SymbolCase(
        case.question,
        symbols.said,
        shares_of(symbols.channels),
        symbols.cosines(files.keys()),
        files,
        {file: max(value - best, floor) for file, value in odds.items()},
        kinds_of,
        case.pools.lines,
    )


def read_by(
    scorer: ChunkScorer | None, question: Question, scored: Sequence[Scored], options: RankOptions
) -> EncoderScores:
    """The encoder's scores of the best symbols."""
    if scorer is None or not scored:
        return EncoderScores()
    most = scorer.options.top if question.parts is None else options.symbols.scored
    best = [one.chunk for one in scored[:most]]
    return EncoderScores(scorer.scores(question, best), scorer.options.name)


def with_encoder(
    scored: Sequence[Scored], read: EncoderScores, weights: SymbolFeatures
) -> list[Scored]:
    """The symbols in order again; those that the encoder did not read have its lowest score."""
    raw = read.scores
    if not raw:
        return [*_explained(scored, weights)]
    said = standardised(raw)
    least = min(said.values())
    for one in scored:
        one.features.encoder = said.get(_key(one.chunk), least)
    again = [one._replace(score=weighed(one.features, weights)) for one in scored]
    ranks = sorted(raw, key=lambda key: (-raw[key], key))
    signals = {key: Signal(read.name, raw[key], rank) for rank, key in enumerate(ranks, 1)}
    return sorted(_explained(again, weights, signals), key=_order)


def _explained(
    scored: Sequence[Scored],
    weights: SymbolFeatures,
    signals: Mapping[ChunkKey, Signal] = MappingProxyType({}),
) -> list[Scored]:
    def why(one: Scored) -> tuple[Signal, ...]:
        own = signals.get(_key(one.chunk))
        return (*(() if own is None else (own,)), *reasons(one.features, weights))

    return [one._replace(signals=why(one)) for one in scored]


def _without_opposites(
    question: Question, symbols: SymbolPools, scored: Sequence[Scored]
) -> list[Scored]:
    """The same with symbols later that are named for the opposite of an action of the query.

    The first word of a change request or of an issue's title is an action of the author.
    """
    title = symbols.said.title
    if question.parts is not None or question.is_change_request:
        title = title.partition(" ")[2]
    direction = direction_of(content_terms(title))
    if not direction.opposites:
        return [*scored]
    signal = Signal("prior:opposite", OPPOSITE)
    found = [
        one._replace(score=one.score + OPPOSITE, signals=(*one.signals, signal))
        if is_opposite(one.chunk, direction)
        else one
        for one in scored
    ]
    return sorted(found, key=_order)


def _spread(scored: Sequence[Scored], less: float) -> list[Scored]:
    """The same with each further symbol of a file later, by how many of it are before."""
    before: Counter[tuple[str, str]] = Counter()
    found: list[Scored] = []
    for one in scored:
        file = (one.chunk.repo, one.chunk.relative_path)
        fall = less * before[file]
        before[file] += 1
        if fall:
            signal = Signal("prior:same_file", -fall)
            one = one._replace(score=one.score - fall, signals=(*one.signals, signal))
        found.append(one)
    return sorted(found, key=_order)


def _key(chunk: Chunk) -> ChunkKey:
    return ChunkKey(chunk.repo, chunk.id)


def _order(one: Scored) -> tuple[float, str, str, int, str]:
    chunk = one.chunk
    return (-one.score, chunk.repo, chunk.relative_path, chunk.start_line, chunk.id)
