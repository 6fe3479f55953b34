"""What a process that answers many questions keeps between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from asterism.engine.metrics import MeasuredEmbedder, MeasuredReranker, record_look_up
from asterism.engine.rerank import LocalRerankModel, local_rerank_model
from asterism.engine.stores import check_by_chance, checked
from asterism.indexing.index import Cache
from asterism.models.embed.options import EmbedOptions, identity_of
from asterism.models.embed.provider import Embedder, make_embedder
from asterism.models.rerank.options import Reranker, RerankOptions
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkSnapshot, Recent, Vector
from asterism.store.lance.snapshot import LanceSnapshot
from asterism.store.lance.table import LanceTable, Mark, version_mark
from asterism.types.index import Stamp

if TYPE_CHECKING:
    from asterism.engine.encoder_vectors import EncoderVectors

TABLES_KEPT = 4
"""Projects whose chunks stay in memory, each within the limits of `store/resident`."""
VECTORS_KEPT = 100
"""Recent questions whose vectors are remembered, of all models and projects together."""


class _Table(NamedTuple):
    mark: Mark | None
    """Tells a table from one that was built anew in its place, with the same version numbers."""
    snapshot: LanceSnapshot
    seen: frozenset[tuple[str, Stamp]]
    """Stamps that the catalogue does not know, under which files were found well."""


class Warm:
    """Open tables and loaded models, by what they were opened with.

    Several threads may ask, as long as no two of them ask about the same project at a time.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._tables: dict[Path, _Table] = {}
        self._vectors: Recent[list[Vector]] = Recent(VECTORS_KEPT)
        self._embedders: dict[EmbedOptions, Embedder] = {}
        self._rerankers: dict[RerankOptions, Reranker | None] = {}
        self._rerank_models: dict[RerankOptions, LocalRerankModel] = {}
        self._second: EncoderVectors | None = None
        self._said: set[str] = set()

    def snapshot(self, directory: Path, catalogue: Catalogue) -> ChunkSnapshot:
        """A project's chunks as its catalogue names them; they stay in memory as far as read.

        Their files are looked at each time: what was damaged since must not change an answer.
        """
        version, name = catalogue.chunks_version(), catalogue.table.name
        mark = version_mark(directory, version, name)
        with self._lock:
            table = self._tables.pop(directory, None)
        seen = table.seen if table is not None else frozenset()
        looked = checked(directory, catalogue, seen)
        seen = seen.union((file.name, file.stamp) for file in looked.restamped)
        if table is None or mark is None or table.mark != mark:
            if table is None:
                check_by_chance(directory, catalogue)
            before = None if table is None else table.snapshot
            opened = LanceTable.open(directory, name=name).snapshot(version, before)
            table = _Table(mark, opened, seen)
        elif table.seen != seen:
            table = table._replace(seen=seen)
        with self._lock:
            self._tables[directory] = table
            while len(self._tables) > TABLES_KEPT:
                del self._tables[next(iter(self._tables))]
        return table.snapshot

    def vectors(self, options: EmbedOptions, texts: Sequence[str], version: int) -> list[Vector]:
        """The vectors of a question's texts; those of recent questions are remembered.

        A sync that changed anything made another version, so nothing from before it is used.
        """
        asked = (identity_of(options), version, tuple(texts))
        missed = []

        def find() -> list[Vector]:
            missed.append(asked)
            return [*self.embedder(options).embed_queries(texts)]

        vectors = self._vectors.get(asked, find)
        record_look_up("question_vectors", not missed)
        return vectors

    def embedder(self, options: EmbedOptions) -> Embedder:
        """The model for questions, loaded once."""
        with self._lock:
            if options not in self._embedders:
                self._embedders[options] = MeasuredEmbedder(make_embedder(options))
            return self._embedders[options]

    def reranker(self, options: RerankOptions) -> Reranker | None:
        """The reranker that the options name, None without one; its connections stay open."""
        from asterism.models.rerank.provider import make_reranker

        with self._lock:
            if options not in self._rerankers:
                made = make_reranker(options)
                self._rerankers[options] = made and MeasuredReranker(made, options.provider)
            return self._rerankers[options]

    def rerank_model(self, options: RerankOptions, cache: Callable[[], Cache]) -> LocalRerankModel:
        """The model of our own that the options name, loaded with the first question."""
        with self._lock:
            if options not in self._rerank_models:
                self._rerank_models[options] = local_rerank_model(options, cache)
            return self._rerank_models[options]

    def second(self) -> EncoderVectors:
        """The encoder vectors that are kept in memory."""
        from asterism.engine.encoder_vectors import EncoderVectors

        with self._lock:
            self._second = self._second or EncoderVectors()
            return self._second

    def once(self, sentence: str) -> tuple[str, ...]:
        """Returns the sentence the first time, then nothing."""
        with self._lock:
            if sentence in self._said:
                return ()
            self._said.add(sentence)
            return (sentence,)

    def close(self) -> None:
        """Close connections; the next query opens them again."""
        for model in (*self._embedders.values(), *self._rerankers.values()):
            if model is not None:
                model.close()
