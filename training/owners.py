"""Whose answer a text is: the symbol and the file of each example."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from training.prepare import Examples
from training.queries import KINDS, OF_FILES

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
