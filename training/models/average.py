"""Averages the weights of encoders that were trained from one start.

    python -m training.models.average FOLDER... --out FOLDER

Encoders that were trained from the same start with other seeds differ by chance; what they agree
on is left. It costs nothing when the result is used.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from training.inputs import present
from training.models.encoder import save
from training.models.transformer import keeping_words, loaded


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the weights, their shape and the tokenizer."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=present, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    read = [loaded(folder)[:2] for folder in options.folders]
    if any(shape.keeps_words for _module, shape in read):
        read = [one if one[1].keeps_words else keeping_words(*one) for one in read]
    if len({shape for _module, shape in read}) > 1:
        parser.error("these encoders are of different shapes; give encoders of one start")
    parts = [module.state_dict() for module, _shape in read]
    module, shape = read[0]
    module.load_state_dict(
        {name: torch.stack([part[name] for part in parts]).mean(0) for name in parts[0]}
    )
    options.out.mkdir(parents=True, exist_ok=True)
    save(options.out, module, shape)
    shutil.copy(options.folders[0] / "tokenizer.json", options.out / "tokenizer.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
