"""The lines of a file around a hit."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from asterism.analysis.source.text import decode, read
from asterism.store.chunk_table import ChunkKey
from asterism.types.chunk import Chunk
from asterism.types.deadlines import check_deadline
from asterism.types.errors import InputError

MOST_LINES = 10
"""More is better read in the file itself."""


class Surroundings(NamedTuple):
    """What stands directly above and below, line by line."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def surroundings(chunks: Iterable[Chunk], count: int) -> Mapping[ChunkKey, Surroundings]:
    """So many lines around each chunk; none where the file is not what was indexed."""
    files: dict[str, list[str]] = {}
    found: dict[ChunkKey, Surroundings] = {}
    for chunk in chunks:
        check_deadline()
        if chunk.file_path not in files:
            files[chunk.file_path] = _lines(chunk.file_path)
        lines = files[chunk.file_path]
        first, last = chunk.start_line - 1, chunk.end_line
        # A file that changed since has other lines or none.
        if lines[first:last] == chunk.full_source.split("\n"):
            before, after = lines[max(0, first - count) : first], lines[last : last + count]
            found[ChunkKey(chunk.repo, chunk.id)] = Surroundings(tuple(before), tuple(after))
    return found


def _lines(path: str) -> list[str]:
    try:
        text = decode(read(path)).decode("utf-8", "replace")
    except InputError:
        return []
    return text.removesuffix("\n").split("\n")
