"""Rows that one version of the chunk table has from the version before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from asterism.store.lance.schema import CHUNK_COLUMNS, Arrow, Dataset
from asterism.store.lance_files import data_files

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_FRESH = 0.25
"""With a larger share of new rows everything is loaded anew, which is as quick."""
_MOST_PIECES = 16
"""Of how many tables the texts may be put together before they are loaded anew in one piece."""
_MOST_LEFT = 1.25
"""Rows that texts may have for each one that is still there."""
_FRAGMENT_BITS = 32

Numbers: TypeAlias = "NDArray[np.uint64]"
Places: TypeAlias = "NDArray[np.int64]"


class Texts(NamedTuple):
    """Whole rows without vectors, and in which of them each place's row is."""

    rows: Arrow
    at: Places

    def take(self, places: Places, columns: list[str]) -> Arrow:
        """The rows at these places."""
        return self.rows.select(columns).take(self.at[places])


def places_before(dataset: Dataset, numbers: Numbers, before: Dataset, known: Numbers) -> Places:
    """For each row its place in the version before, or −1.

    `numbers` and `known` are what Lance calls the rows of the two versions by. A number names a
    fragment and a row in it, and is only worth something where the fragment has the same files:
    files are never changed, and no name is used twice, not even by a table that is built anew.
    """
    import numpy as np

    shared = data_files(dataset).items() & data_files(before).items()
    fragments = np.fromiter((number for number, _ in shared), dtype=np.uint64)
    order = np.argsort(known, kind="stable")
    if not len(order):
        return np.full(len(numbers), -1, dtype=np.int64)
    nearest = np.minimum(np.searchsorted(known[order], numbers), len(order) - 1)
    same = (known[order][nearest] == numbers) & np.isin(numbers >> _FRAGMENT_BITS, fragments)
    return np.where(same, order[nearest], -1).astype(np.int64)


def texts_with(before: Texts, old: Places, fresh: Arrow, most_bytes: int) -> Texts | None:
    """The texts of the version before with those of new rows behind them; nothing is copied.

    None where too much would be kept that is needed no more.
    """
    import numpy as np
    import pyarrow as pa

    rows = pa.concat_tables([before.rows, fresh.select(list(CHUNK_COLUMNS))])
    if (
        rows.num_rows > _MOST_LEFT * len(old)
        or rows["id"].num_chunks > _MOST_PIECES
        or rows.nbytes > most_bytes
    ):
        return None
    at = before.at[np.maximum(old, 0)]
    at[old < 0] = np.arange(before.rows.num_rows, rows.num_rows)
    return Texts(rows, at)
