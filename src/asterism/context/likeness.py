"""How near items are to each other; what all tools of one server share does not count.

Tools of one server are often described after one pattern, so each is near to all of them and none
goes with another because of it. Between two tools of a server a cosine therefore counts by how far
it is above what the server's other tools have with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from asterism.context.scores import Numbers
from asterism.context.vectors import Prepared
from asterism.types.context import Tool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_SHARED = 0.99
"""Beyond this, differences of rounding would count as differences of meaning."""


def likeness(prepared: Prepared, pieces: Sequence[int] | slice) -> Numbers:
    """For each of some pieces how near every item is to it, by the item's nearest piece."""
    import numpy as np

    near = prepared.best(prepared.vectors[pieces] @ prepared.vectors.T)
    servers = _servers(prepared)
    pairs, total = _within(prepared, servers)
    # Two tools have no others to be compared with.
    many = pairs[servers] > 2
    same = (servers[prepared.owners[pieces]][:, None] == servers[None, :]) & many[None, :]
    if not same.any():
        return near
    others = (total[servers][None, :] - 2.0 * near) / np.maximum(pairs[servers][None, :] - 2.0, 1.0)
    shared = np.clip(others, 0.0, _MOST_SHARED)
    return np.asarray(np.where(same, (near - shared) / (1.0 - shared), near), dtype=np.float32)


def _servers(prepared: Prepared) -> NDArray[np.intp]:
    """For each item the number of its server; rules and references have number 0."""
    import numpy as np

    numbers: dict[str, int] = {}
    return np.array(
        [
            numbers.setdefault(item.server, len(numbers) + 1) if isinstance(item, Tool) else 0
            for item in prepared.items
        ],
        dtype=np.intp,
    )


def _within(prepared: Prepared, servers: NDArray[np.intp]) -> tuple[Numbers, Numbers]:
    """For each server how many ordered pairs of tools it has, and the sum of their cosines."""
    import numpy as np

    heads = prepared.vectors[prepared.starts]
    count = int(servers.max(initial=0)) + 1
    pairs, total = np.zeros(count, dtype=np.float32), np.zeros(count, dtype=np.float32)
    for server in range(1, count):
        mine = heads[servers == server]
        pairs[server] = len(mine) * (len(mine) - 1)
        together = mine.sum(axis=0)
        total[server] = together @ together - np.square(mine).sum()
    return pairs, total
