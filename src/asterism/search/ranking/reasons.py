"""Why a hit is a hit: the channels that found it, with rank and raw score."""

from collections.abc import Iterable, Mapping

from asterism.search.recall import Pools
from asterism.store.chunk_table import ChunkKey
from asterism.types.chunk import Chunk
from asterism.types.search import Signal


class Reasons:
    """The pools, turned round: from a chunk to its places in them."""

    def __init__(self, pools: Pools, judged: Mapping[ChunkKey, Signal] | None = None) -> None:
        """Look through every list once."""
        self._judged = judged or {}
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
        if key in self._judged:
            channels.append(self._judged[key])
        return (*channels, *priors)
