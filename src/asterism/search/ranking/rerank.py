"""The best candidates judged once more by a model that reads them, as evidence like any other."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from asterism.search.ranking.options import JudgeOptions
from asterism.search.ranking.order import Standing
from asterism.search.recall import FileKey
from asterism.store.chunk_table import ChunkKey
from asterism.types.chunk import Chunk
from asterism.types.search import Question, Signal


class Judge(Protocol):
    """Says of chunks how well they answer a question; higher is better, on any scale."""

    @property
    def options(self) -> JudgeOptions:
        """What its judgement counts."""
        ...

    def judge(self, question: Question, chunks: Sequence[Chunk]) -> Mapping[ChunkKey, float]:
        """A score for each; those that there was no time for are missing."""
        ...


class Judgement(NamedTuple):
    """What a judge adds to the log-odds of files, and of chunks within their files."""

    files: Mapping[FileKey, float] = {}
    chunks: Mapping[ChunkKey, float] = {}
    signals: Mapping[ChunkKey, Signal] = {}

    def place(self, place: Standing) -> Standing:
        """A candidate with what the judge says of it within its file."""
        more = self.chunks.get(_key(place.chunk), 0.0)
        return place._replace(odds=place.odds + more) if more else place


def judged(question: Question, ordered: Sequence[Standing], judge: Judge) -> Judgement:
    """Ask the judge about the best candidates.

    Its scores count by where they lie between the lowest and the highest that it gave, less the
    mean: whoever was not judged keeps what the ranking said, as if the judge found it middling. It
    is not asked where the ranking is sure without it.
    """
    options = judge.options
    best = ordered[: options.top]
    if is_sure(best, options.sure):
        return Judgement()
    scores = judge.judge(question, [place.chunk for place in best])
    if len(scores) < 2 or min(scores.values()) == max(scores.values()):
        return Judgement()
    low, high = min(scores.values()), max(scores.values())
    values = {key: (score - low) / (high - low) for key, score in scores.items()}
    mean = sum(values.values()) / len(values)
    by_file: defaultdict[FileKey, list[float]] = defaultdict(list)
    for place in best:
        if _key(place.chunk) in values:
            by_file[place.file].append(values[_key(place.chunk)])
    most = max(map(sum, by_file.values())) or 1.0
    usual = options.best * mean + options.whole * mean / most
    ranks = sorted(scores, key=lambda key: -scores[key])
    return Judgement(
        {file: _worth(sorted(own), most, options) - usual for file, own in by_file.items()},
        {key: options.chunk * (value - mean) for key, value in values.items()},
        {key: Signal(options.name, scores[key], rank) for rank, key in enumerate(ranks, 1)},
    )


def is_sure(ordered: Sequence[Standing], ahead: float) -> bool:
    """Whether the first file is so far ahead of the next, or the only one."""
    others = (place.odds for place in ordered if place.file != ordered[0].file)
    return bool(ordered) and ordered[0].odds - next(others, -math.inf) > ahead


def _worth(values: list[float], most: float, options: JudgeOptions) -> float:
    """What the judged chunks of a file, worst first, are worth to it."""
    second = values[-2] if len(values) > 1 else 0.0
    return options.best * values[-1] + options.second * second + options.whole * sum(values) / most


def _key(chunk: Chunk) -> ChunkKey:
    return ChunkKey(chunk.repo, chunk.id)
