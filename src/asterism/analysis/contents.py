"""One file from disk to outline and chunks."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.source.text import decode, is_binary, read
from asterism.analysis.syntax.outlines import outline, text_of
from asterism.disclosure.tokens import find_tokens, line_of
from asterism.types.errors import InputError, NotText
from asterism.types.files import Discovery, display_path
from asterism.types.index import Chunk
from asterism.types.outline import Outline


class TokenPlace(NamedTuple):
    """A token by its place and kind; what it is stays in the file."""

    path: str
    line: int
    kind: str
    proven: bool
    """Whether it holds a checksum that is right."""


def token_places(found: Discovery) -> Iterator[TokenPlace]:
    """Every token in the files that were found, file by file; a file that is gone has none."""
    for file in found.files:
        try:
            text = decode(read(f"{found.root}/{file.path}")).decode("utf-8", "replace")
        except InputError:
            continue
        for token in find_tokens(text):
            yield TokenPlace(file.path, line_of(text, token), token.kind, token.proven)


class FileContents(NamedTuple):
    """A file's decoded text and what was read in it."""

    source: bytes
    outline: Outline
    chunks: list[Chunk]


def read_outline(path: str, relative_path: str) -> Outline:
    """The outline of a file; a binary file is an error that says so."""
    return outline(relative_path, text_of(relative_path, _text(path)))


def read_chunks(
    path: str, relative_path: str, repo: str, options: ChunkOptions | None = None
) -> FileContents:
    """The decoded text, outline and chunks of a file; a binary file is an error that says so."""
    data = _text(path)
    source = text_of(relative_path, data)
    found = outline(relative_path, source)
    digest = hashlib.sha256(data).hexdigest()
    place = FileOrigin(repo, path, relative_path, digest, Path(path).stat().st_mtime)
    return FileContents(source, found, chunk_file(found, source, place, options))


def _text(path: str) -> bytes:
    data = read(path)
    if is_binary(data):
        raise NotText(f"{display_path(path)} is a binary file; outlines and chunks need text.")
    return data
