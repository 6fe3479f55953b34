"""The order of an answer: the best of each file and of each symbol's family before the others."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from asterism.search.ranking.options import RankOptions
from asterism.search.recall import FileKey
from asterism.store.chunk_table import ChunkKey
from asterism.types.index import Chunk
from asterism.types.search import Signal


class Standing(NamedTuple):
    """A chunk with what speaks for it."""

    chunk: Chunk
    file: FileKey
    odds: float
    """In logarithms; of the chunk within its file, and in an order of the chunk altogether."""
    priors: tuple[Signal, ...] = ()
    is_named: bool = False
    """Whether it defines a name of the question, or its file is named."""


def in_order(
    standing: Sequence[Standing], odds_of: Callable[[FileKey], float], options: RankOptions
) -> list[Standing]:
    """Each file's best chunk has the file's odds, the others less, by how they compare with it."""
    by_file: defaultdict[FileKey, list[Standing]] = defaultdict(list)
    for place in standing:
        by_file[place.file].append(place)
    ordered = [
        placed
        for file, places in by_file.items()
        for placed in _within_file(places, odds_of(file), options)
    ]
    return sorted(ordered, key=_order)


def represented(
    ordered: list[Standing], sentences: Sequence[Sequence[ChunkKey]], options: RankOptions
) -> list[Standing]:
    """The same with the best hit of each sentence among the first; how far it rose is a prior."""
    if not sentences or "sentence" in options.off:
        return ordered
    best: set[int] = set()
    for nearest in map(set, sentences):
        places = (n for n, (chunk, *_) in enumerate(ordered) if _key(chunk) in nearest)
        best.update(islice(places, 1))
    others = [number for number in range(len(ordered)) if number not in best]
    places_left = max(options.sentence_within - len(best), 0)
    if places_left >= len(others) or max(best, default=0) < options.sentence_within:
        return ordered
    # The best hits of sentences rise to the odds of the first hit that no longer fits.
    at = others[places_left]
    risen = [_risen(ordered[n], ordered[at].odds) for n in sorted(best) if n > at]
    return [*ordered[:at], *risen, *(ordered[n] for n in others[places_left:])]


def _risen(place: Standing, odds: float) -> Standing:
    rise = Signal("prior:sentence", math.exp(odds - place.odds))
    return place._replace(odds=odds, priors=(*place.priors, rise))


def _key(chunk: Chunk) -> ChunkKey:
    return ChunkKey(chunk.repo, chunk.id)


def _within_file(places: list[Standing], odds: float, options: RankOptions) -> list[Standing]:
    if len(places) == 1:
        return [places[0]._replace(odds=odds)]
    places.sort(key=_order)
    best = places[0].odds
    met: set[str] = set()
    keeps = 1.0
    placed: list[Standing] = []
    for place in places:
        if placed:
            keeps *= options.same_file_named if place.is_named else options.same_file
        signals = _company(keeps, family(place.chunk) in met, options)
        less = sum([math.log(signal.value) for signal in signals])
        placed.append(
            place._replace(odds=odds + place.odds - best + less, priors=(*place.priors, *signals))
        )
        met |= _relatives(place.chunk)
    return placed


def _company(keeps: float, has_relatives: bool, options: RankOptions) -> list[Signal]:
    """What a chunk loses by the chunks of its file, and of its family, that stand before it."""
    signals: list[Signal] = []
    if keeps < 1 and "same_file" not in options.off:
        signals.append(Signal("prior:same_file", keeps))
    if has_relatives and "same_family" not in options.off:
        signals.append(Signal("prior:same_family", options.same_family))
    return signals


def family(chunk: Chunk) -> str:
    """A chunk by its symbol: the parts of a split body are one."""
    return chunk.id.partition("-")[0]


def _relatives(chunk: Chunk) -> set[str]:
    """The symbol itself, the symbol that contains it, and the symbols that it contains."""
    around = [chunk.parent_chunk_id] if chunk.parent_chunk_id else []
    return {
        identifier.partition("-")[0] for identifier in (chunk.id, *around, *chunk.child_chunk_ids)
    }


def _order(place: Standing) -> tuple[float, str, str, int, str]:
    chunk = place.chunk
    return (-place.odds, chunk.repo, chunk.relative_path, chunk.start_line, chunk.id)
