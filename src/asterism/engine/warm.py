"""What a process that answers many questions keeps between them."""

from pathlib import Path

from asterism.backends.embed.options import EmbedOptions
from asterism.backends.embed.protocol import Embedder
from asterism.backends.embed.providers import make_embedder
from asterism.backends.store.chunk_table import ChunkSnapshot
from asterism.backends.store.lance_table import LanceTable
from asterism.domain.errors import StoreError


class Warm:
    """Open tables and loaded models, by what they were opened with."""

    def __init__(self) -> None:
        self._tables: dict[Path, LanceTable] = {}
        self._embedders: dict[EmbedOptions, Embedder] = {}

    def snapshot(self, directory: Path, version: int) -> ChunkSnapshot:
        """A version of a project's chunks; the newest one stays in memory as far as it was read."""
        if directory not in self._tables:
            self._tables[directory] = LanceTable.open(directory)
        try:
            return self._tables[directory].snapshot(version)
        except StoreError:
            # It may have been built anew in the meantime.
            self._tables[directory] = LanceTable.open(directory)
            return self._tables[directory].snapshot(version)

    def embedder(self, options: EmbedOptions) -> Embedder:
        """The model for questions, loaded once."""
        if options not in self._embedders:
            self._embedders[options] = make_embedder(options)
        return self._embedders[options]
