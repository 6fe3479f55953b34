"""What a command of this folder is given to read has to be there before hours are spent on it."""

import argparse
from pathlib import Path


def present(text: str) -> Path:
    """A path of the command line that something is read from."""
    path = Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"{text} does not exist; give a path that can be read")
    return path
