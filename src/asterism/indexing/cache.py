"""The protocol of an embedding cache: vectors by text hash, outside any one index."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from asterism.store.chunk_table import Vector
from asterism.types.index import ModelIdentity


class Cache(Protocol):
    """Vectors by text hash, outside any one index; it never stops a sync."""

    @property
    def warnings(self) -> list[str]:
        """What went wrong, a sentence each."""
        ...

    def get(
        self, identity: ModelIdentity, recipe: int, hashes: Sequence[bytes]
    ) -> dict[bytes, Vector]:
        """Those that are there."""
        ...

    def put(self, identity: ModelIdentity, recipe: int, vectors: Mapping[bytes, Vector]) -> None:
        """Keep these."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...
