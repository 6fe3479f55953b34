"""Encoder vectors for queries: used when every chunk that is searched has one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from asterism.engine.metrics import measured_call
from asterism.engine.status import made_for
from asterism.indexing.index import Cache
from asterism.indexing.lock import upgrader
from asterism.indexing.upgrade import halves, rows_of_halves
from asterism.models.embed.encoder import EncoderEmbedder
from asterism.models.embed.options import EmbedOptions
from asterism.models.embed.provider import Matrix
from asterism.store.chunk_table import LIMITS, ChunkSnapshot, MemoryLimits
from asterism.store.encoder_vectors import EncoderStore, MadeFor, remove_encoder_vectors
from asterism.store.exact_search import EncoderSnapshot
from asterism.types.errors import IndexCorrupt, StoreError
from asterism.types.processes import process_exists

if TYPE_CHECKING:
    from numpy.typing import NDArray

FILL_TEXTS = 64
"""A query embeds up to so many missing texts itself, as after an edit: 0.2 s on two cores, once.
Otherwise the command line would have no encoder vectors after each edit."""
FILL_SECONDS = 0.5
"""Its time limit for that; the vectors that were made by then are kept for the next query."""
LOOKED_UP_TEXTS = 2_000
"""So many are looked up in the user's cache, as after a change of branch and back: 10 ms."""
_MOST_FRESH = 0.25
"""With a larger share of new texts the whole file is read instead of single vectors."""
_PROJECTS_KEPT = 4
_COPIED_ROWS = 4_096

Vectors = dict[bytes, bytes]


class _Aligned(NamedTuple):
    """The encoder vectors of one version of a project's chunks."""

    inner: ChunkSnapshot
    made_for: MadeFor
    matrix: Matrix
    places: Mapping[bytes, int]
    """Of each text that has a vector, a row with it."""
    lacking: frozenset[str]
    """Repositories of which not every chunk has one."""
    snapshot: EncoderSnapshot


class _Short(NamedTuple):
    """What was too little: nothing is looked at again before there is enough more."""

    chunks: ChunkSnapshot
    made_for: MadeFor
    repos: frozenset[str]
    needed: int
    """Different texts of all that was asked about."""
    there: int
    """Texts that had vectors, of whatever repository."""
    made_then: bool
    """Whether an upgrade was running then."""

    def holds(self, asked: EncoderQuery, there: int, made_now: bool) -> bool:
        """Whether vectors are still missing; texts of a running upgrade are not looked up."""
        same = (asked.chunks, asked.made_for, asked.repos) == (
            self.chunks,
            self.made_for,
            self.repos,
        )
        rest = 0 if made_now else LOOKED_UP_TEXTS
        unchanged = (there, made_now) == (self.there, self.made_then)
        return same and (unchanged or there + rest < self.needed)


class EncoderVectors:
    """Keeps the complete encoder vectors of a few projects in memory.

    Several threads may ask, as long as no two of them ask about the same project at a time.
    """

    def __init__(self, limits: MemoryLimits = LIMITS) -> None:
        self._limits = limits
        self._lock = Lock()
        self._kept: dict[Path, _Aligned] = {}
        self._short: dict[Path, _Short] = {}

    def over(self, directory: Path, asked: EncoderQuery) -> EncoderSnapshot | None:
        """The chunks compared by encoder vectors; None if vectors are missing."""
        kept = self._kept.get(directory)
        if kept is not None and kept.made_for != asked.made_for:
            kept = None
        if kept is None or kept.inner is not asked.chunks or kept.lacking & asked.repos:
            made = self._aligned(directory, asked, kept)
            if made is None:
                return None
            with self._lock:
                self._kept.pop(directory, None)
                self._kept[directory] = kept = made
                while len(self._kept) > _PROJECTS_KEPT:
                    del self._kept[next(iter(self._kept))]
        return kept.snapshot

    def _aligned(
        self, directory: Path, asked: EncoderQuery, before: _Aligned | None
    ) -> _Aligned | None:
        rows = asked.chunks.rows()
        if len(rows.keys) > self._limits.exact_rows(asked.made_for.model.dimensions):
            return None
        # Damage, a newer format, a lock: nothing of it is a reason not to answer.
        with suppress(StoreError):
            looked = self._look(directory, asked, {} if before is None else before.places)
            if looked is None:
                return None
            found, count, made_now = looked
            self._short.pop(directory, None)
            most = 0 if made_now else FILL_TEXTS
            if len(found.missing) <= LOOKED_UP_TEXTS and asked.fill(directory, found, most):
                return _align(asked, found.vectors, before)
            short = _Short(asked.chunks, asked.made_for, asked.repos, found.needed, count, made_now)
            with self._lock:
                self._short[directory] = short
                while len(self._short) > _PROJECTS_KEPT:
                    del self._short[next(iter(self._short))]
        return None

    def _look(
        self, directory: Path, asked: EncoderQuery, known: Mapping[bytes, int]
    ) -> tuple[_Found, int, bool] | None:
        """The stored vectors, the number of texts that have one, and whether an upgrade is running.

        None if there is no store, or it is as incomplete as it was at the last look.
        """
        try:
            store = EncoderStore.existing(directory, asked.made_for)
            if store is None:
                return None
            with store:
                count, short, maker = store.count(), self._short.get(directory), store.making().pid
                made_now = maker != 0 and process_exists(maker)
                if short is not None and short.holds(asked, count, made_now):
                    return None
                return _found(store, asked, known), count, made_now
        except IndexCorrupt:
            # The next upgrade begins anew; it would not notice the damage otherwise.
            with upgrader(directory):
                remove_encoder_vectors(directory)
            raise


class _Found(NamedTuple):
    """The stored vectors of a version's texts, and the texts of the query without one."""

    vectors: Vectors
    missing: Mapping[bytes, int]
    """The place of a row of each."""
    needed: int
    """Different texts of those asked about."""


class EncoderQuery(NamedTuple):
    """The chunks whose encoder vectors a query needs."""

    chunks: ChunkSnapshot
    repos: frozenset[str]
    options: EmbedOptions
    made_for: MadeFor
    cache: Callable[[], Cache]

    def fill(self, directory: Path, found: _Found, most: int) -> bool:
        """Get missing vectors from the cache or, up to `most`, the model; False if some remain."""
        if not found.missing:
            return True
        model, recipe = self.made_for
        kept = self.cache()
        try:
            cached = kept.get(model, recipe, list(found.missing))
            left = {key: at for key, at in found.missing.items() if key not in cached}
            fresh = {key: halves(vector) for key, vector in cached.items()}
            if len(left) <= most:
                made = self._embedded(left)
                kept.put(model, recipe, made)
                fresh |= {key: halves(vector) for key, vector in made.items()}
        finally:
            kept.close()
        found.vectors.update(fresh)
        # Kept for the next query; if that fails, this query uses them all the same.
        with suppress(StoreError):
            store = EncoderStore.existing(directory, self.made_for, writable=True)
            if store is not None:
                with store:
                    store.put(fresh)
        return len(fresh) == len(found.missing)

    def _embedded(self, wanted: Mapping[bytes, int]) -> dict[bytes, Matrix]:
        if not wanted:
            return {}
        texts = self.chunks.texts(list(wanted.values()))
        with measured_call("embedding", "encoder", len(texts)):
            vectors, done = EncoderEmbedder(self.options).embed_within(texts, FILL_SECONDS)
        rows = zip(wanted, vectors, done, strict=True)
        return {key: vector for key, vector, is_done in rows if is_done}


def asking(
    chunks: ChunkSnapshot, repos: Collection[str], options: EmbedOptions, cache: Callable[[], Cache]
) -> EncoderQuery:
    """What a question about these repositories needs; nothing is loaded but a description."""
    return EncoderQuery(chunks, frozenset(repos), options, made_for(options), cache)


def _found(store: EncoderStore, asked: EncoderQuery, known: Mapping[bytes, int]) -> _Found:
    """Vectors that are not known already; none where far too many of those asked for are missing.

    For repositories outside the query, missing vectors do not count.
    """
    rows = asked.chunks.rows()
    needed = {
        text_hash: at
        for at, (key, text_hash) in enumerate(zip(rows.keys, rows.text_hashes, strict=True))
        if key.repo in asked.repos
    }
    there = store.hashes()
    missing = {key: at for key, at in needed.items() if key not in there and key not in known}
    vectors: Vectors = {}
    if len(missing) <= LOOKED_UP_TEXTS:
        wanted = there.intersection(rows.text_hashes).difference(known)
        if len(wanted) <= _MOST_FRESH * len(there):
            vectors = store.get(list(wanted))
        else:
            for some in store.everything():
                vectors.update((key, vector) for key, vector in some if key in wanted)
    return _Found(vectors, missing, len(needed))


def _align(asked: EncoderQuery, fresh: Vectors, before: _Aligned | None) -> _Aligned:
    """The vectors in the order of the chunks' rows, reused or new; zeros if missing.

    Vectors are compared in full precision, which takes half a millisecond for ten thousand rows
    where half precision takes ten.
    """
    import numpy as np

    rows = asked.chunks.rows()
    dimensions = asked.made_for.model.dimensions
    made = rows_of_halves(fresh.values(), dimensions)
    number = {key: at for at, key in enumerate(fresh)}
    old = before.places if before is not None else {}
    matrix = np.zeros((len(rows.keys), dimensions), dtype=np.float32)
    new_at, new_from, old_at, old_from = _sources(rows.text_hashes, number, old)
    _copy(made, new_from, matrix, new_at)
    if before is not None:
        _copy(before.matrix, old_from, matrix, old_at)
    places: dict[bytes, int] = {}
    lacking = set()
    for at, (key, text_hash) in enumerate(zip(rows.keys, rows.text_hashes, strict=True)):
        if text_hash in number or text_hash in old:
            places[text_hash] = at
        else:
            lacking.add(key.repo)
    snapshot = EncoderSnapshot(asked.chunks, matrix)
    return _Aligned(asked.chunks, asked.made_for, matrix, places, frozenset(lacking), snapshot)


def _copy(source: NDArray[Any], rows: Sequence[int], into: Matrix, places: Sequence[int]) -> None:
    """Put rows into their places, a few at a time: all at once they would be there three times."""
    for start in range(0, len(rows), _COPIED_ROWS):
        some = slice(start, start + _COPIED_ROWS)
        into[places[some]] = source[rows[some]]


def _sources(
    hashes: Sequence[bytes], new: Mapping[bytes, int], old: Mapping[bytes, int]
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Which rows come from which new vectors, and which from which old rows."""
    new_at, new_from, old_at, old_from = [], [], [], []
    for at, text_hash in enumerate(hashes):
        if (number := new.get(text_hash)) is not None:
            new_at.append(at)
            new_from.append(number)
        elif (place := old.get(text_hash)) is not None:
            old_at.append(at)
            old_from.append(place)
    return new_at, new_from, old_at, old_from
