"""The order of an answer: the best of each file and of each symbol's family before the others."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from asterism.domain.chunk import Chunk
from asterism.domain.search import Signal
from asterism.retrieval.options import RankOptions
from asterism.retrieval.recall import FileKey


class Standing(NamedTuple):
    """A chunk with what speaks for it."""

    chunk: Chunk
    file: FileKey
    odds: float
    """In logarithms; of the chunk within its file, and in an order of the chunk altogether."""
    priors: tuple[Signal, ...] = ()


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


def _within_file(places: list[Standing], odds: float, options: RankOptions) -> list[Standing]:
    places.sort(key=_order)
    best = places[0].odds
    families: Counter[str] = Counter()
    placed: list[Standing] = []
    for number, place in enumerate(places):
        signals = [*_company(number, families[family(place.chunk)], options)]
        less = sum(math.log(signal.value) for signal in signals)
        placed.append(
            place._replace(odds=odds + place.odds - best + less, priors=(*place.priors, *signals))
        )
        for name in _relatives(place.chunk):
            families[name] += 1
    return placed


def _company(before: int, relatives: int, options: RankOptions) -> list[Signal]:
    """What a chunk loses by the chunks of its file, and of its family, that stand before it."""
    signals: list[Signal] = []
    if before and "same_file" not in options.off:
        signals.append(Signal("prior:same_file", options.same_file**before))
    if relatives and "same_family" not in options.off:
        signals.append(Signal("prior:same_family", options.same_family))
    return signals


def family(chunk: Chunk) -> str:
    """A chunk by its symbol: the parts of a split body are one."""
    return chunk.id.partition("-")[0]


def _relatives(chunk: Chunk) -> set[str]:
    """The symbol itself, what it stands in, and what stands in it."""
    around = [chunk.parent_chunk_id] if chunk.parent_chunk_id else []
    return {
        identifier.partition("-")[0] for identifier in (chunk.id, *around, *chunk.child_chunk_ids)
    }


def _order(place: Standing) -> tuple[float, str, str, int, str]:
    chunk = place.chunk
    return (-place.odds, chunk.repo, chunk.relative_path, chunk.start_line, chunk.id)
