"""Wrong answers that look right: the nearest texts of the same repository."""

from typing import TYPE_CHECKING

import numpy as np

from training.owners import Owners
from training.prepare import Examples

if TYPE_CHECKING:
    import torch

KEPT = 16
LOOKED_AT = 64
# A text so like the right answer is one, too.
TOO_ALIKE = 0.93
QUERIES_AT_ONCE = 4_096


def nearest(
    made: Examples, owners: Owners, queries: "torch.Tensor", texts: "torch.Tensor"
) -> "torch.Tensor":
    """For each example the numbers of its wrong answers, best first; -1 where there are too few."""
    import torch

    device = queries.device
    found = torch.full((len(made.queries), KEPT), -1, dtype=torch.int32, device=device)
    edges = np.flatnonzero(np.r_[True, np.diff(made.sources) != 0, True])
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        here = texts[first:last]
        looked = min(LOOKED_AT, last - first)
        for start in range(first, last, QUERIES_AT_ONCE):
            end = min(last, start + QUERIES_AT_ONCE)
            alike = queries[start:end] @ here.T
            own = texts[start:end] @ here.T
            right = owners.also_right(
                torch.arange(start, end, device=device), torch.arange(first, last, device=device)
            )
            alike.masked_fill_(right | (own > TOO_ALIKE), -9.0)
            best = alike.topk(looked, dim=1)
            order = best.values.argsort(dim=1, descending=True, stable=True)[:, :KEPT]
            chosen = best.indices.gather(1, order).to(torch.int32) + first
            chosen[best.values.gather(1, order) < -1] = -1
            found[start:end, : chosen.shape[1]] = chosen
    return found
