"""The texts of a repository's files."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from asterism.analysis.source.text import decode, read
from asterism.types.errors import InputError


def texts_of(root: Path, files: Iterable[str]) -> Iterator[str]:
    """The text of each file that can still be read."""
    for path in files:
        try:
            yield decode(read(str(root / path))).decode("utf-8", "replace")
        except InputError:
            continue
