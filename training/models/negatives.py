"""Which texts answer an example, and hard negatives: near texts of its repository that do not."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from training.examples.prepare import Examples
from training.examples.queries import KINDS, OF_FILES

if TYPE_CHECKING:
    import torch


class Owners(NamedTuple):
    """The symbol and the file of each example, and whether all of the file answers it."""

    symbols: "torch.Tensor"
    files: "torch.Tensor"
    of_files: "torch.Tensor"

    @classmethod
    def of(cls, made: Examples, device: "str | torch.device") -> "Owners":
        """Of all examples."""
        import torch

        about_files = np.isin(made.kinds, [KINDS.index(kind) for kind in OF_FILES])
        symbols = np.unique(made.names, return_inverse=True)[1]
        found = (torch.from_numpy(some).to(device) for some in (symbols, made.files, about_files))
        return cls(*found)

    def also_right(self, asking: "torch.Tensor", answers: "torch.Tensor") -> "torch.Tensor":
        """Which answers are right for which questions.

        Those of the same symbol and, where a question is about all of a file, of the same file.
        """
        same = self.symbols[asking][:, None] == self.symbols[answers][None]
        within = self.files[asking][:, None] == self.files[answers][None]
        return same | (within & self.of_files[asking][:, None])


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
